package management_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/journal"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/auth"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/openapi"
	"github.com/mockbase/mockbase/store/sqlite"
)

// password is that of every user of a world.
const password = "four unrelated words here"

// world is a server on a real socket with a real store, catalog, journal and key ring, two projects and a user for each
// role. The mock plane takes requests by w.call.
type world struct {
	t       *testing.T
	clock   *watch
	people  *people
	plane   *plane
	catalog *catalog.Catalog
	engine  *engine.Engine
	journal *journal.Journal
	keys    *auth.KeyRing
	hasher  *auth.Hasher
	log     *logged
	server  *httptest.Server
	made    *management.Server
	users   map[string]*mockbase.User
	// shop belongs to owner, other to stranger.
	shop, other *mockbase.Project
	// mu guards tokens: several requests may be made at once.
	mu     sync.Mutex
	tokens map[string]string
}

// The callers of a scenario. Admin is an administrator of the server, member has no role in any project, stranger owns
// another project.
const (
	guest    = ""
	viewer   = "viewer"
	editor   = "editor"
	owner    = "owner"
	admin    = "admin"
	member   = "member"
	stranger = "stranger"
)

func callers() []string { return []string{viewer, editor, owner, admin, member, stranger} }

// newWorld starts a world; each change is made to the server's options first.
func newWorld(t *testing.T, changes ...func(*management.Options)) *world {
	t.Helper()
	w := emptyWorld(t, changes...)
	for _, name := range callers() {
		w.addUser(name)
	}
	w.shop = w.addProject("shop", owner)
	w.other = w.addProject("other", stranger)
	w.setRole(w.shop, editor, mockbase.RoleEditor)
	w.setRole(w.shop, viewer, mockbase.RoleViewer)
	return w
}

// emptyWorld starts a world without users and projects, in memory.
func emptyWorld(t *testing.T, changes ...func(*management.Options)) *world {
	t.Helper()
	return worldIn(t, "", changes...)
}

// worldIn starts a world with what dir holds; an empty dir is memory.
func worldIn(t *testing.T, dir string, changes ...func(*management.Options)) *world {
	t.Helper()
	w := &world{
		t: t, clock: &watch{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, plane: &plane{}, log: &logged{},
		users: map[string]*mockbase.User{}, tokens: map[string]string{},
		hasher: auth.NewHasher(auth.HasherOptions{Parameters: auth.Parameters{Memory: 64, Passes: 1, Lanes: 1}}),
	}
	file, keys := "", ""
	if dir != "" {
		file, keys = filepath.Join(dir, "mockbase.db"), filepath.Join(dir, "keys")
	}
	db, err := sqlite.Open(t.Context(), sqlite.Options{Clock: w.clock.Now, Path: file})
	if err != nil {
		t.Fatal(err)
	}
	w.people = &people{DB: db}
	w.journal = journal.New(journal.Options{Clock: w.clock.Now})
	if w.engine, err = engine.New(engine.Options{Clock: w.clock.Now, Journal: w.journal, Describe: describe, Limits: newLimits(t, w.clock.Now), SharedOrigin: true}); err != nil {
		t.Fatal(err)
	}
	w.plane.mocks = w.engine
	w.catalog = catalog.New(catalog.Options{Store: db, History: db, Plane: w.plane, Clock: w.clock.Now, Quotas: catalog.Quotas{MaxProjects: 8, MaxMocksPerProject: 200}})
	if err := w.catalog.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.keys, err = auth.OpenKeyRing(keys, w.clock.Now); err != nil {
		t.Fatal(err)
	}
	o := management.Options{
		Mocks: w.engine, State: w.engine, Limits: w.engine, Connections: w.engine, Catalog: w.catalog, Accounts: w.people, Traffic: w.journal, Keys: w.keys, Hasher: w.hasher, Warnings: w.plane.Warnings,
		MockSchema: []byte(`{"$schema":"https://json-schema.org/draft/2020-12/schema"}`),
		Build:      management.BuildInfo{Version: "1.2.3", Commit: "abc", BuiltAt: "2026-03-01T00:00:00Z"},
		Instance:   management.Instance{Name: "Test", Color: "#1d4ed8"},
		Guardian:   newGuardian(w.clock.Now),
		Metrics:    func() ([]byte, error) { return []byte("up 1\n"), nil },
		Clock:      w.clock.Now, Logger: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	maintain(&o)
	for _, change := range changes {
		change(&o)
	}
	w.catalog = o.Catalog
	made, err := management.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.made, w.server = made, httptest.NewServer(made)
	t.Cleanup(w.stop)
	return w
}

// stop ends the server and its store. It may be called again.
func (w *world) stop() {
	w.t.Helper()
	w.made.EndStreams()
	w.server.Close()
	if err := w.engine.Close(); err != nil {
		w.t.Error(err)
	}
	if err := w.people.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) addUser(name string) {
	w.t.Helper()
	hash, err := w.hasher.Hash(w.t.Context(), password)
	if err != nil {
		w.t.Fatal(err)
	}
	u := &mockbase.User{
		ID: mockbase.NewID(mockbase.PrefixUser, w.clock.Now()), Email: name + "@example.com", Name: name, Role: mockbase.InstanceMember,
		PasswordHash: hash, Epoch: 1, CreatedAt: w.clock.Now(), UpdatedAt: w.clock.Now(),
	}
	if name == admin {
		u.Role = mockbase.InstanceAdmin
	}
	if err := w.people.CreateUser(w.t.Context(), u); err != nil {
		w.t.Fatal(err)
	}
	w.users[name] = u
}

func (w *world) addProject(slug, ownerName string) *mockbase.Project {
	w.t.Helper()
	made, err := w.catalog.CreateProject(w.t.Context(), &mockbase.Project{Slug: slug, Name: slug}, w.users[ownerName].ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return made.Project
}

// addMock puts a mock into the shop, past the API.
func (w *world) addMock(document string) *mockbase.Mock {
	w.t.Helper()
	m, err := mockbase.DecodeMock([]byte(document), mockbase.FormatJSON)
	if err != nil {
		w.t.Fatal(err)
	}
	made, err := w.catalog.CreateMock(w.t.Context(), w.shop.ID, m, w.users[editor].ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// addToken stores an API token of a user, past the API, and returns its secret. What the name of the token is, is its id.
func (w *world) addToken(id, kind, name string, scopes ...string) string {
	w.t.Helper()
	secret := auth.NewAPIToken(kind)
	projects := []string{mockbase.AllProjects}
	if kind != mockbase.TokenPersonal {
		projects = []string{w.shop.ID}
	}
	err := w.people.CreateToken(w.t.Context(), &mockbase.Token{
		ID: id, Kind: kind, Name: id, Prefix: secret.Shown(), Hash: secret.Hash, Scopes: scopes, Projects: projects,
		CreatedBy: w.users[name].ID, CreatedAt: w.clock.Now(), ExpiresAt: w.clock.Now().Add(time.Hour),
	}, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	return secret.Text
}

// claims are those of a fresh sign-in of a user, which is stored.
func (w *world) claims(name string) auth.Claims {
	w.t.Helper()
	now := w.clock.Now()
	id := mockbase.NewID(mockbase.PrefixSignIn, now)
	err := w.people.CreateSignIn(w.t.Context(), &mockbase.SignIn{
		ID: id, UserID: w.users[name].ID, CurrentHash: w.keys.NewRefresh(id).Hash, CreatedAt: now, LastUsedAt: now, AuthTime: now,
		ExpiresAt: now.Add(auth.RefreshLife),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return auth.Claims{UserID: w.users[name].ID, SignInID: id, AuthTime: now, Epoch: w.users[name].Epoch}
}

// token is an access token of a user, the same one each time.
func (w *world) token(name string) string {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tokens[name] == "" {
		token, err := w.keys.Issue(w.claims(name))
		if err != nil {
			w.t.Fatal(err)
		}
		w.tokens[name] = token
	}
	return w.tokens[name]
}

// people is the store, with failures on demand and a count of look-ups.
type people struct {
	*sqlite.DB

	mu      sync.Mutex
	lookups int
	// fails holds what a method returns instead of doing anything.
	fails map[string]error
	// beforeUserByID is called before a user is looked up by id.
	beforeUserByID func()
}

var _ management.Accounts = (*people)(nil)

// setRole gives a user a role in a project, or takes it away.
func (w *world) setRole(project *mockbase.Project, name string, role mockbase.ProjectRole) {
	w.t.Helper()
	var err error
	if role == mockbase.RoleNone {
		err = w.people.DeleteMember(w.t.Context(), project.ID, w.users[name].ID)
	} else {
		_, err = w.people.PutMember(w.t.Context(), project.ID, w.users[name].ID, role, w.clock.Now())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (p *people) ProjectRole(ctx context.Context, projectID, userID string) (mockbase.ProjectRole, error) {
	if err := p.failing("ProjectRole"); err != nil {
		return mockbase.RoleNone, err
	}
	p.mu.Lock()
	p.lookups++
	p.mu.Unlock()
	return p.DB.ProjectRole(ctx, projectID, userID)
}

func (p *people) Memberships(ctx context.Context, userID string) (map[string]mockbase.ProjectRole, error) {
	if err := p.failing("Memberships"); err != nil {
		return nil, err
	}
	return p.DB.Memberships(ctx, userID)
}

func (p *people) UserByID(ctx context.Context, id string) (*mockbase.User, error) {
	if err := p.failing("UserByID"); err != nil {
		return nil, err
	}
	if p.beforeUserByID != nil {
		p.beforeUserByID()
	}
	return p.DB.UserByID(ctx, id)
}

func (p *people) UserByEmail(ctx context.Context, email string) (*mockbase.User, error) {
	if err := p.failing("UserByEmail"); err != nil {
		return nil, err
	}
	return p.DB.UserByEmail(ctx, email)
}

func (p *people) UpdateUser(ctx context.Context, u *mockbase.User) error {
	if err := p.failing("UpdateUser"); err != nil {
		return err
	}
	return p.DB.UpdateUser(ctx, u)
}

func (p *people) CreateFirstAdmin(ctx context.Context, u *mockbase.User) error {
	if err := p.failing("CreateFirstAdmin"); err != nil {
		return err
	}
	return p.DB.CreateFirstAdmin(ctx, u)
}

func (p *people) AppendAudit(ctx context.Context, e *mockbase.AuditEntry) error {
	if err := p.failing("AppendAudit"); err != nil {
		return err
	}
	return p.DB.AppendAudit(ctx, e)
}

func (p *people) FailAudit(ctx context.Context, id string) error {
	if err := p.failing("FailAudit"); err != nil {
		return err
	}
	return p.DB.FailAudit(ctx, id)
}

func (p *people) UserCount(ctx context.Context) (int, error) {
	if err := p.failing("UserCount"); err != nil {
		return 0, err
	}
	return p.DB.UserCount(ctx)
}

func (p *people) CreateSignIn(ctx context.Context, s *mockbase.SignIn) error {
	if err := p.failing("CreateSignIn"); err != nil {
		return err
	}
	return p.DB.CreateSignIn(ctx, s)
}

func (p *people) SignedIn(ctx context.Context, id string) (*mockbase.SignIn, *mockbase.User, error) {
	if err := p.failing("SignedIn"); err != nil {
		return nil, nil, err
	}
	return p.DB.SignedIn(ctx, id)
}

func (p *people) SignInByRefreshHash(ctx context.Context, hash []byte) (*mockbase.SignIn, error) {
	if err := p.failing("SignInByRefreshHash"); err != nil {
		return nil, err
	}
	return p.DB.SignInByRefreshHash(ctx, hash)
}

func (p *people) RefreshRotatedAt(ctx context.Context, id string, hash []byte) (time.Time, error) {
	if err := p.failing("RefreshRotatedAt"); err != nil {
		return time.Time{}, err
	}
	return p.DB.RefreshRotatedAt(ctx, id, hash)
}

func (p *people) RotateSignIn(ctx context.Context, id string, from, to []byte, now time.Time) (bool, error) {
	if err := p.failing("RotateSignIn"); err != nil {
		return false, err
	}
	return p.DB.RotateSignIn(ctx, id, from, to, now)
}

func (p *people) RevokeSignIn(ctx context.Context, id string, now time.Time) error {
	if err := p.failing("RevokeSignIn"); err != nil {
		return err
	}
	return p.DB.RevokeSignIn(ctx, id, now)
}

// failWith makes a method fail from now on; a nil error mends it.
func (p *people) failWith(method string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails == nil {
		p.fails = map[string]error{}
	}
	p.fails[method] = err
}

func (p *people) failing(method string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fails[method]
}

func (p *people) countLookups() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lookups
}

// plane serves what the engine can. It refuses faults and compression, and warns of mocks with the same request line.
type plane struct{ mocks *engine.Engine }

var _ catalog.Plane = (*plane)(nil)

func (p *plane) CheckConfig(c *mockbase.Config) []mockbase.FieldError {
	if !c.Settings.Compress {
		return slices.DeleteFunc(p.mocks.CheckConfig(c), func(f mockbase.FieldError) bool { return !strings.HasPrefix(f.Pointer, "#/rateLimits/") })
	}
	return []mockbase.FieldError{{Pointer: "#/settings/compress", Code: mockbase.FieldNotServed, Detail: "compression is not served yet"}}
}

// ConfigWarnings is what a server says of OpenAPI documents.
func (p *plane) ConfigWarnings(c *mockbase.Config) []mockbase.FieldError {
	return p.mocks.ConfigWarnings(c)
}

func (*plane) CheckMock(_ *mockbase.Config, m *mockbase.Mock) []mockbase.FieldError {
	var faults []mockbase.FieldError
	for i := range m.Responses {
		if m.Responses[i].Fault != nil {
			faults = append(faults, mockbase.FieldError{
				Pointer: m.ResponsePointer(i) + "/fault", Code: mockbase.FieldNotServed, Detail: "faults are not served yet",
			})
		}
	}
	return faults
}

func (*plane) Warnings(s *mockbase.Snapshot, m *mockbase.Mock) []mockbase.FieldError {
	var all []mockbase.FieldError
	for _, other := range s.Mocks {
		if other.ID != m.ID && other.Request.Path == m.Request.Path {
			all = append(all, mockbase.FieldError{Pointer: "#", Code: mockbase.WarningTie, Detail: "has the same rank as " + other.Name})
		}
	}
	return all
}

func (p *plane) Publish(s *mockbase.Snapshot) error { return p.mocks.Publish(s) }

func (p *plane) Withdraw(projectID string) { p.mocks.Withdraw(projectID) }

// watch is a clock that tests move by hand.
type watch struct {
	mu  sync.Mutex
	now time.Time
}

func (w *watch) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *watch) Advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// logged keeps what a server logs.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func describe(d *mockbase.Document) (engine.Description, error) { return openapi.Compile(d) }
