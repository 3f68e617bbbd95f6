package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mockbase/mockbase"
)

// Apply stores one change of a project in one transaction, and returns when it is on disk.
func (d *DB) Apply(ctx context.Context, set mockbase.ChangeSet) error {
	lasts, err := d.ApplySoon(ctx, set)
	if err != nil {
		return err
	}
	return lasts()
}

// ApplySoon makes one change of a project, in the transaction of all changes of the moment, and does not wait for its end: lasts
// does, and returns when a loss of power cannot undo the change. Until then readers do not see it, and it may fail yet; whoever
// made it must call lasts.
func (d *DB) ApplySoon(ctx context.Context, set mockbase.ChangeSet) (lasts func() error, err error) {
	stored, err := d.definitions.changeSoon(ctx, "change project", func(ctx context.Context, tx *sql.Tx) error {
		c := change{tx: tx, writes: &d.definitions.writes, set: set, now: nanos(d.clock())}
		if set.DeleteProject {
			return c.deleteProject(ctx)
		}
		if err := c.putProject(ctx); err != nil {
			return err
		}
		if err := c.deleteMocks(ctx); err != nil {
			return err
		}
		if err := c.putMocks(ctx); err != nil {
			return err
		}
		return c.remember(ctx)
	})
	if err != nil || !set.DeleteProject {
		return stored, err
	}
	return func() error {
		if err := stored(); err != nil {
			return err
		}
		// The exchanges of a deleted project are out of reach already; those that stay behind leave with the next trimming.
		if err := d.DeleteExchanges(context.WithoutCancel(ctx), set.ProjectID); err != nil {
			d.logger.WarnContext(ctx, "traffic of a deleted project was not deleted", "project", set.ProjectID, "error", err)
		}
		return nil
	}, nil
}

// change is one change set inside its transaction.
type change struct {
	tx     *sql.Tx
	writes *statements
	set    mockbase.ChangeSet
	now    int64
}

// The statements that most changes run. They are prepared once.
const (
	nextRevision = "UPDATE projects SET revision = revision + 1 WHERE id = ? AND revision = ?"
	removeMock   = "DELETE FROM mocks WHERE id = ? AND project_id = ?"
	insertMock   = `INSERT INTO mocks (id, project_id, name, ord, version, created_at, updated_at, updated_by,
		owner, edited, origin, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	// replaceMock writes a mock in the place of its former row, if there is one.
	replaceMock = insertMock + ` ON CONFLICT (id) DO UPDATE SET name = excluded.name, ord = excluded.ord, version = excluded.version,
		created_at = excluded.created_at, updated_at = excluded.updated_at, updated_by = excluded.updated_by, owner = excluded.owner,
		edited = excluded.edited, origin = excluded.origin, document = excluded.document WHERE project_id = excluded.project_id`
	insertVersion = `INSERT OR IGNORE INTO mock_versions (mock_id, version, project_id, name, at, by, owner, edited,
		document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	removeTrash = "DELETE FROM mock_trash WHERE id = ?"
)

func changeStatements() []string {
	return []string{nextRevision, removeMock, insertMock, replaceMock, insertVersion, removeTrash, appendEntry, fence, unfence}
}

func (c change) deleteProject(ctx context.Context) error {
	return c.atRevision(ctx, "DELETE FROM projects WHERE id = ? AND revision = ?", c.set.ProjectID, c.set.IfRevision)
}

func (c change) putProject(ctx context.Context) error {
	switch {
	case c.set.IfRevision == 0:
		return c.createProject(ctx)
	case c.set.Project == nil:
		return c.atRevision(ctx, nextRevision, c.set.ProjectID, c.set.IfRevision)
	}
	row, err := projectRow(c.set.Project)
	if err != nil {
		return err
	}
	return c.atRevision(ctx, `UPDATE projects SET slug = ?, name = ?, description = ?, access = ?, config = ?, owners = ?, variables = ?, documents = ?,
		persist_traffic = ?, require_if_match = ?, recording = ?, origin = ?, version = ?, created_at = ?, updated_at = ?, revision = revision + 1
		WHERE id = ? AND revision = ?`, append(row, c.set.ProjectID, c.set.IfRevision)...)
}

func (c change) createProject(ctx context.Context) error {
	if c.set.Project == nil {
		return mockbase.Errorf(mockbase.CodeInternal, "the change creates project %s and holds none", c.set.ProjectID)
	}
	if revision, err := c.revision(ctx); err != nil || revision > 0 {
		return c.moved(revision, err)
	}
	row, err := projectRow(c.set.Project)
	if err != nil {
		return err
	}
	_, err = c.exec(ctx, `INSERT INTO projects (slug, name, description, access, config, owners, variables, documents, persist_traffic, require_if_match,
		recording, origin, version, created_at, updated_at, id, revision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`, append(row, c.set.ProjectID)...)
	if err != nil || c.set.OwnerID == "" {
		return err
	}
	_, err = c.exec(ctx, "INSERT INTO project_members (project_id, user_id, role, added_at) VALUES (?, ?, ?, ?)",
		c.set.ProjectID, c.set.OwnerID, mockbase.RoleOwner, c.now)
	if breaksReference(err) {
		return mockbase.Errorf(mockbase.CodeNotFound, "there is no user %s to own the project", c.set.OwnerID)
	}
	return err
}

// atRevision runs a statement that looks for the project at its revision, and tells why it found none.
func (c change) atRevision(ctx context.Context, statement string, args ...any) error {
	rows, err := c.exec(ctx, statement, args...)
	if err != nil || rows > 0 {
		return err
	}
	return c.moved(c.revision(ctx))
}

// exec runs a statement of the change and returns the number of rows that it changed.
func (c change) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	result, err := c.writes.exec(ctx, c.tx, statement, args...)
	if breaksUnique(err, "projects.slug") {
		return 0, &mockbase.Error{
			Code: mockbase.CodeNameTaken, Err: err,
			Message: fmt.Sprintf("there is a project with the slug %q already", c.set.Project.Slug),
		}
	}
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// revision is the stored revision of the project, 0 when there is no such project.
func (c change) revision(ctx context.Context) (int64, error) {
	var revision int64
	err := c.tx.QueryRowContext(ctx, "SELECT revision FROM projects WHERE id = ?", c.set.ProjectID).Scan(&revision)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return revision, err
}

func (c change) moved(revision int64, err error) error {
	switch {
	case err != nil:
		return err
	case revision == 0:
		return mockbase.Errorf(mockbase.CodeNotFound, "there is no project %s", c.set.ProjectID)
	}
	e := mockbase.Errorf(mockbase.CodeVersionMismatch, "the project is at revision %d, not %d", revision, c.set.IfRevision)
	e.Version = revision
	return e
}

func (c change) deleteMocks(ctx context.Context) error {
	for _, id := range c.set.Delete {
		if err := c.trash(ctx, id); err != nil {
			return err
		}
		rows, err := c.exec(ctx, removeMock, id, c.set.ProjectID)
		if err != nil {
			return err
		}
		if rows == 0 {
			return mockbase.Errorf(mockbase.CodeNotFound, "there is no mock %s", id)
		}
	}
	return nil
}

// putMocks takes all former rows away before it writes the new ones, so that mocks of one set may exchange names. One mock alone
// has nobody to exchange with.
func (c change) putMocks(ctx context.Context) error {
	if len(c.set.Put) == 1 {
		return c.writeMock(ctx, replaceMock, c.set.Put[0])
	}
	for _, m := range c.set.Put {
		if _, err := c.exec(ctx, removeMock, m.ID, c.set.ProjectID); err != nil {
			return err
		}
	}
	for _, m := range c.set.Put {
		if err := c.writeMock(ctx, insertMock, m); err != nil {
			return err
		}
	}
	return nil
}

func (c change) writeMock(ctx context.Context, statement string, m *mockbase.Mock) error {
	rows, err := c.exec(ctx, statement, m.ID, c.set.ProjectID, m.Name, m.Order, m.Version, nanos(m.CreatedAt), nanos(m.UpdatedAt),
		m.UpdatedBy, m.Owner, m.Edited, m.Origin, string(m.Document))
	if breaksUnique(err, "mocks.name") {
		return &mockbase.Error{
			Code: mockbase.CodeNameTaken, Err: err,
			Message: fmt.Sprintf("there is a mock with the name %q already", m.Name),
		}
	}
	if err == nil && rows == 0 {
		return mockbase.Errorf(mockbase.CodeInternal, "the mock %s belongs to another project", m.ID)
	}
	return err
}

// projectRow is the columns of a project in the order of both statements that write one.
func projectRow(p *mockbase.Project) ([]any, error) {
	config, err := text(p.Config.Source)
	if err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	owners, err := text(p.Owners)
	if err != nil {
		return nil, fmt.Errorf("write owners: %w", err)
	}
	notes := make(map[string]noteRecord, len(p.VariableNotes))
	for name, note := range p.VariableNotes {
		notes[name] = noteRecord(note)
	}
	variables, err := text(notes)
	if err != nil {
		return nil, fmt.Errorf("write variables: %w", err)
	}
	recording, err := text(recordingRecord{p.RawTraffic, p.RedactHeaders, retentionRecord(p.Retention), p.UpstreamAllow})
	if err != nil {
		return nil, fmt.Errorf("write recording: %w", err)
	}
	documents := make(map[string]documentRecord, len(p.DocumentNotes))
	for name, note := range p.DocumentNotes {
		documents[name] = documentRecord(note)
	}
	described, err := text(documents)
	if err != nil {
		return nil, fmt.Errorf("write documents: %w", err)
	}
	return []any{
		p.Slug, p.Name, p.Description, string(p.Access), config, owners, variables, described, p.PersistTraffic, p.RequireIfMatch, recording, p.Origin, p.Version,
		nanos(p.CreatedAt), nanos(p.UpdatedAt),
	}, nil
}

// recordingRecord is the stored form of what the server alone is told of a project: how its exchanges are recorded, and what
// it may call.
type recordingRecord struct {
	Raw           bool            `json:"raw,omitempty"`
	RedactHeaders []string        `json:"redactHeaders,omitempty"`
	Retention     retentionRecord `json:"retention,omitzero"`
	UpstreamAllow []string        `json:"upstreamAllow,omitempty"`
}

type retentionRecord struct {
	MaxCount int           `json:"maxCount,omitempty"`
	MaxBytes int64         `json:"maxBytes,omitempty"`
	MaxAge   time.Duration `json:"maxAge,omitempty"`
}

// noteRecord is the stored form of what is known of a variable.
type noteRecord struct {
	Version int64 `json:"version"`
	Secret  bool  `json:"secret,omitempty"`
}

// documentRecord is the stored form of what is known of an OpenAPI document.
type documentRecord struct {
	ID      string `json:"id"`
	Version int64  `json:"version"`
	Text    []byte `json:"text,omitempty"`
	Files   []byte `json:"files,omitempty"`
}

// text is v's JSON. Unlike json.Marshal it leaves the characters of HTML alone: documents come back as they were given.
func text(v any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}
