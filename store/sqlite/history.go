package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/mockbase/mockbase"
)

// trash keeps a mock that is about to be deleted. What came from files is kept there, and not here.
func (c change) trash(ctx context.Context, id string) error {
	_, err := c.exec(ctx, `INSERT OR REPLACE INTO mock_trash (id, project_id, name, ord, version, created_at, updated_at, updated_by, owner,
		edited, deleted_at, deleted_by, source, expires_at, document)
		SELECT id, project_id, name, ord, version, created_at, updated_at, updated_by, owner, edited, ?, ?, ?, ?, document
		FROM mocks WHERE id = ? AND project_id = ? AND origin = ''`,
		c.now, c.set.By, c.set.Source, c.now+int64(mockbase.TrashAge), id, c.set.ProjectID)
	if err != nil {
		return err
	}
	_, err = c.exec(ctx, "DELETE FROM mock_versions WHERE mock_id = ? AND NOT EXISTS (SELECT 1 FROM mock_trash WHERE id = ?)", id, id)
	return err
}

// remember keeps the versions that the change makes, and tidies what is kept.
func (c change) remember(ctx context.Context) error {
	if err := c.keepVersions(ctx); err != nil {
		return err
	}
	for _, id := range c.set.Purge {
		if err := c.purge(ctx, id); err != nil {
			return err
		}
	}
	if len(c.set.Delete) == 0 {
		return nil
	}
	return c.tidyTrash(ctx)
}

// keepVersions adds the mocks of the change to their versions. One that is put again without a new version, because its
// place changed, is known already.
func (c change) keepVersions(ctx context.Context) error {
	for _, m := range c.set.Put {
		_, err := c.exec(ctx, insertVersion, m.ID, m.Version, c.set.ProjectID, m.Name, nanos(m.UpdatedAt), m.UpdatedBy, m.Owner, m.Edited, string(m.Document))
		if err != nil {
			return err
		}
		if m.Version == 1 {
			continue
		}
		if _, err := c.exec(ctx, removeTrash, m.ID); err != nil {
			return err
		}
		if err := c.trimVersions(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// trimVersions lets go of the versions of a mock that are too many.
func (c change) trimVersions(ctx context.Context, m *mockbase.Mock) error {
	if m.Version <= mockbase.MaxMockVersions {
		return nil
	}
	_, err := c.exec(ctx, "DELETE FROM mock_versions WHERE mock_id = ? AND version <= ?", m.ID, m.Version-mockbase.MaxMockVersions)
	return err
}

// purge deletes a mock in the trash for good, with its versions.
func (c change) purge(ctx context.Context, id string) error {
	rows, err := c.exec(ctx, "DELETE FROM mock_trash WHERE id = ? AND project_id = ? AND expires_at > ?", id, c.set.ProjectID, c.now)
	if err != nil {
		return err
	}
	if rows == 0 {
		return noTrash(id)
	}
	_, err = c.exec(ctx, "DELETE FROM mock_versions WHERE mock_id = ?", id)
	return err
}

func noTrash(id string) error {
	return mockbase.Errorf(mockbase.CodeNotFound, "there is no deleted mock %s", id)
}

// tidyTrash lets go of what has lain in the trash for too long, in every project, and of what is too much in this one.
func (c change) tidyTrash(ctx context.Context) error {
	const gone = `SELECT id FROM mock_trash WHERE expires_at <= ?1 UNION ALL
		SELECT * FROM (SELECT id FROM mock_trash WHERE project_id = ?2 ORDER BY deleted_at DESC, id DESC LIMIT -1 OFFSET ?3)`
	for _, statement := range [...]string{
		"DELETE FROM mock_versions WHERE mock_id IN (" + gone + ")",
		"DELETE FROM mock_trash WHERE id IN (" + gone + ")",
	} {
		if _, err := c.exec(ctx, statement, c.now, c.set.ProjectID, mockbase.MaxTrash); err != nil {
			return err
		}
	}
	return nil
}

const versionColumns = "mock_id, name, version, at, by, owner, edited, document"

// MockVersions hands the versions of a mock to visit, the oldest first, one at a time.
func (d *DB) MockVersions(ctx context.Context, projectID, mockID string, visit func(*mockbase.MockVersion) error) error {
	rows, err := d.definitions.read.QueryContext(ctx, "SELECT "+versionColumns+` FROM mock_versions WHERE mock_id = ? AND project_id = ?
		ORDER BY version`, mockID, projectID)
	if err != nil {
		return fault("read versions", err)
	}
	defer rows.Close()
	for rows.Next() {
		v, err := scanVersion(rows)
		if err != nil {
			return fault("read versions", err)
		}
		if err := visit(v); err != nil {
			return err
		}
	}
	return fault("read versions", rows.Err())
}

// MockVersion returns a mock as it was.
func (d *DB) MockVersion(ctx context.Context, projectID, mockID string, version int64) (*mockbase.MockVersion, error) {
	row := d.definitions.read.QueryRowContext(ctx, "SELECT "+versionColumns+` FROM mock_versions
		WHERE mock_id = ? AND project_id = ? AND version = ?`, mockID, projectID, version)
	v, err := scanVersion(row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, mockbase.Errorf(mockbase.CodeNotFound, "the mock has no version %d that is kept", version)
	}
	return v, fault("read version", err)
}

func scanVersion(row scanner) (*mockbase.MockVersion, error) {
	var (
		v  mockbase.MockVersion
		at int64
	)
	var document []byte
	if err := row.Scan(&v.MockID, &v.Name, &v.Version, &at, &v.By, &v.Owner, &v.Edited, &document); err != nil {
		return nil, err
	}
	v.At, v.Document = moment(at), document
	return &v, nil
}

const trashColumns = "id, name, version, updated_at, updated_by, owner, edited, document, ord, created_at, deleted_at, deleted_by, source, expires_at"

// Trash returns the deleted mocks of a project that can be restored, the last deleted first, without their documents.
func (d *DB) Trash(ctx context.Context, projectID string) ([]mockbase.TrashedMock, error) {
	rows, err := d.definitions.read.QueryContext(ctx, `SELECT id, name, version, updated_at, updated_by, owner, edited, '', ord, created_at,
		deleted_at, deleted_by, source, expires_at FROM mock_trash WHERE project_id = ? AND expires_at > ?
		ORDER BY deleted_at DESC, id DESC`, projectID, nanos(d.clock()))
	if err != nil {
		return nil, fault("read trash", err)
	}
	defer rows.Close()
	var all []mockbase.TrashedMock
	for rows.Next() {
		m, err := scanTrashed(rows)
		if err != nil {
			return nil, fault("read trash", err)
		}
		all = append(all, *m)
	}
	return all, fault("read trash", rows.Err())
}

// TrashedMock returns a deleted mock with its document.
func (d *DB) TrashedMock(ctx context.Context, projectID, id string) (*mockbase.TrashedMock, error) {
	row := d.definitions.read.QueryRowContext(ctx, "SELECT "+trashColumns+" FROM mock_trash WHERE id = ? AND project_id = ? AND expires_at > ?",
		id, projectID, nanos(d.clock()))
	m, err := scanTrashed(row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noTrash(id)
	}
	return m, fault("read trash", err)
}

func scanTrashed(row scanner) (*mockbase.TrashedMock, error) {
	var (
		m                             mockbase.TrashedMock
		at, created, deleted, expires int64
		document                      []byte
	)
	if err := row.Scan(&m.MockID, &m.Name, &m.Version, &at, &m.By, &m.Owner, &m.Edited, &document, &m.Order, &created, &deleted,
		&m.DeletedBy, &m.Source, &expires); err != nil {
		return nil, err
	}
	m.At, m.CreatedAt, m.DeletedAt, m.ExpiresAt, m.Document = moment(at), moment(created), moment(deleted), moment(expires), document
	return &m, nil
}
