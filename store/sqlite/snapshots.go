package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"runtime"
	"slices"
	"sync"

	"github.com/mockbase/mockbase"
)

// decodeBatch is the number of mocks that are handed to a decoder at once: small enough to keep every core busy with a
// few hundred mocks, large enough that handing over costs nothing.
const decodeBatch = 64

// Snapshots reads every project with its mocks as of one moment. Mocks are decoded while further ones are being read.
func (d *DB) Snapshots(ctx context.Context) ([]*mockbase.Snapshot, error) {
	tx, err := d.definitions.read.BeginTx(ctx, nil)
	if err != nil {
		return nil, fault("read projects", err)
	}
	defer tx.Rollback()
	snapshots, err := readProjects(ctx, tx)
	if err != nil {
		return nil, fault("read projects", err)
	}
	byID := make(map[string]*mockbase.Snapshot, len(snapshots))
	for _, s := range snapshots {
		byID[s.Project.ID] = s
	}
	mocks, err := readMocks(ctx, tx)
	if err != nil {
		return nil, fault("read mocks", err)
	}
	for _, m := range mocks {
		s := byID[m.ProjectID]
		s.Mocks = append(s.Mocks, m)
	}
	for _, s := range snapshots {
		slices.SortFunc(s.Mocks, func(a, b *mockbase.Mock) int { return cmp.Compare(a.Order, b.Order) })
	}
	// What is read after a flush that failed must last too.
	return snapshots, fault("read projects", d.definitions.disk.flush())
}

func readProjects(ctx context.Context, tx *sql.Tx) ([]*mockbase.Snapshot, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, slug, name, description, access, config, owners, variables, documents, persist_traffic,
		require_if_match, recording, origin, version, revision, created_at, updated_at FROM projects ORDER BY slug`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var snapshots []*mockbase.Snapshot
	for rows.Next() {
		p, err := scanProject(rows)
		if err != nil {
			return nil, err
		}
		snapshots = append(snapshots, &mockbase.Snapshot{Project: p})
	}
	return snapshots, rows.Err()
}

func scanProject(rows *sql.Rows) (*mockbase.Project, error) {
	var (
		p                mockbase.Project
		config, owners   []byte
		variables        []byte
		documents        []byte
		recording        []byte
		created, updated int64
	)
	if err := rows.Scan(&p.ID, &p.Slug, &p.Name, &p.Description, &p.Access, &config, &owners, &variables, &documents, &p.PersistTraffic,
		&p.RequireIfMatch, &recording, &p.Origin, &p.Version, &p.Revision, &created, &updated); err != nil {
		return nil, err
	}
	p.CreatedAt, p.UpdatedAt = moment(created), moment(updated)
	if err := json.Unmarshal(owners, &p.Owners); err != nil {
		return nil, unreadable("the owners of project "+p.Slug, err)
	}
	var kept recordingRecord
	if err := json.Unmarshal(recording, &kept); err != nil {
		return nil, unreadable("the recording of project "+p.Slug, err)
	}
	p.RawTraffic, p.RedactHeaders, p.Retention = kept.Raw, kept.RedactHeaders, mockbase.Retention(kept.Retention)
	p.UpstreamAllow = kept.UpstreamAllow
	if err := readNotes(&p, variables, documents); err != nil {
		return nil, err
	}
	var source map[string]json.RawMessage
	if err := json.Unmarshal(config, &source); err != nil {
		return nil, unreadable("the configuration of project "+p.Slug, err)
	}
	var err error
	if p.Config, err = mockbase.DecodeConfig(source); err != nil {
		return nil, unreadable("the configuration of project "+p.Slug, err)
	}
	return &p, nil
}

// readNotes fills in what is known of a project's variables and documents.
func readNotes(p *mockbase.Project, variables, documents []byte) error {
	var notes map[string]noteRecord
	if err := json.Unmarshal(variables, &notes); err != nil {
		return unreadable("the variables of project "+p.Slug, err)
	}
	for name, note := range notes {
		if p.VariableNotes == nil {
			p.VariableNotes = make(map[string]mockbase.VariableNote, len(notes))
		}
		p.VariableNotes[name] = mockbase.VariableNote(note)
	}
	var described map[string]documentRecord
	if err := json.Unmarshal(documents, &described); err != nil {
		return unreadable("the documents of project "+p.Slug, err)
	}
	for name, note := range described {
		if p.DocumentNotes == nil {
			p.DocumentNotes = make(map[string]mockbase.DocumentNote, len(described))
		}
		p.DocumentNotes[name] = mockbase.DocumentNote(note)
	}
	return nil
}

// unreadable hides why a stored document was refused: its faults are not those of anything the caller sent.
func unreadable(what string, err error) error {
	return &mockbase.Error{Code: mockbase.CodeInternal, Message: what + " can't be read from the database", Err: err}
}

// storedMock is a row of the mocks table: what the document does not say, and the document.
type storedMock struct {
	mock     mockbase.Mock
	document []byte
}

func readMocks(ctx context.Context, tx *sql.Tx) ([]*mockbase.Mock, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, project_id, ord, version, created_at, updated_at, updated_by, owner, edited, origin,
		document FROM mocks`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	decoders := startDecoders()
	for rows.Next() {
		var (
			s                storedMock
			created, updated int64
		)
		m := &s.mock
		if err := rows.Scan(&m.ID, &m.ProjectID, &m.Order, &m.Version, &created, &updated, &m.UpdatedBy, &m.Owner, &m.Edited,
			&m.Origin, &s.document); err != nil {
			_, _ = decoders.finish()
			return nil, err
		}
		m.CreatedAt, m.UpdatedAt = moment(created), moment(updated)
		decoders.add(s)
	}
	mocks, err := decoders.finish()
	if err == nil {
		err = rows.Err()
	}
	return mocks, err
}

// decoders turn rows into mocks on every core.
type decoders struct {
	batch   []storedMock
	batches chan []storedMock
	workers sync.WaitGroup
	mu      sync.Mutex
	mocks   []*mockbase.Mock
	err     error
}

func startDecoders() *decoders {
	d := &decoders{batches: make(chan []storedMock, 4)}
	for range runtime.GOMAXPROCS(0) {
		d.workers.Go(d.run)
	}
	return d
}

func (d *decoders) add(s storedMock) {
	if d.batch = append(d.batch, s); len(d.batch) == decodeBatch {
		d.batches <- d.batch
		d.batch = make([]storedMock, 0, decodeBatch)
	}
}

func (d *decoders) run() {
	for batch := range d.batches {
		mocks, err := decodeMocks(batch)
		d.mu.Lock()
		d.mocks = append(d.mocks, mocks...)
		if d.err == nil {
			d.err = err
		}
		d.mu.Unlock()
	}
}

// finish waits for the decoders. The mocks are in no order.
func (d *decoders) finish() ([]*mockbase.Mock, error) {
	d.batches <- d.batch
	close(d.batches)
	d.workers.Wait()
	return d.mocks, d.err
}

func decodeMocks(batch []storedMock) ([]*mockbase.Mock, error) {
	mocks := make([]*mockbase.Mock, len(batch))
	for i, s := range batch {
		m, err := mockbase.DecodeMock(s.document, mockbase.FormatJSON)
		if err != nil {
			return nil, unreadable("mock "+s.mock.ID, err)
		}
		r := &s.mock
		m.ID, m.ProjectID, m.Order, m.Version, m.UpdatedBy = r.ID, r.ProjectID, r.Order, r.Version, r.UpdatedBy
		m.CreatedAt, m.UpdatedAt, m.Owner, m.Edited, m.Origin = r.CreatedAt, r.UpdatedAt, r.Owner, r.Edited, r.Origin
		m.Line, m.Column = 0, 0
		mocks[i] = m
	}
	return mocks, nil
}
