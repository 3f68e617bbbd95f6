package management_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

const (
	backupsPath = "/api/v1/admin/backups"
	configPath  = "/api/v1/admin/config"
)

// vault keeps backups of a text in memory.
type vault struct {
	clock func() time.Time

	mu   sync.Mutex
	all  []mockbase.Backup
	busy bool
	// broken is the error of every change.
	broken error
}

var _ management.Backups = (*vault)(nil)

const backedUp = "SQLite format 3\x00 and everybody's accounts"

func (v *vault) ListBackups(context.Context) ([]mockbase.Backup, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.all), nil
}

func (v *vault) CreateBackup(_ context.Context, whole func(mockbase.Backup) error) (mockbase.Backup, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.busy {
		return mockbase.Backup{}, mockbase.Errorf(mockbase.CodeBusy, "another backup is being made")
	}
	if v.broken != nil {
		return mockbase.Backup{}, v.broken
	}
	sum := sha256.Sum256([]byte(backedUp))
	b := mockbase.Backup{
		ID: mockbase.NewID(mockbase.PrefixBackup, v.clock()), SizeBytes: int64(len(backedUp)), SHA256: hex.EncodeToString(sum[:]), CreatedAt: v.clock(),
	}
	if err := whole(b); err != nil {
		return mockbase.Backup{}, err
	}
	v.all = append(v.all, b)
	return b, nil
}

func (v *vault) OpenBackup(_ context.Context, id string) (mockbase.Backup, io.ReadCloser, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if id == "latest" { // for walks over all routes
		return mockbase.Backup{ID: "bkp_latest", SHA256: strings.Repeat("0", 64), SizeBytes: int64(len(backedUp))}, io.NopCloser(strings.NewReader(backedUp)), nil
	}
	for _, b := range v.all {
		if b.ID == id {
			return b, io.NopCloser(strings.NewReader(backedUp)), nil
		}
	}
	return mockbase.Backup{}, nil, mockbase.Errorf(mockbase.CodeNotFound, "there is no such backup")
}

func (v *vault) DeleteBackup(_ context.Context, id string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.broken != nil {
		return v.broken
	}
	at := slices.IndexFunc(v.all, func(b mockbase.Backup) bool { return b.ID == id })
	if at < 0 {
		return mockbase.Errorf(mockbase.CodeNotFound, "there is no such backup")
	}
	v.all = slices.Delete(v.all, at, at+1)
	return nil
}

// cabinet is a configuration with three settings: one that may be stored, one that may be and is pinned, one that may not.
type cabinet struct {
	mu      sync.Mutex
	name    string
	version int64
	by      mockbase.Administrator
}

var _ management.Configuration = (*cabinet)(nil)

func (c *cabinet) Items() ([]mockbase.ConfigItem, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := mockbase.ConfigItem{Key: "instanceName", Value: c.name, Origin: "stored", Changeable: true}
	if c.name == "" {
		name.Origin = "default"
	}
	return []mockbase.ConfigItem{
		name, {Key: "maxProjects", Value: "7", Origin: "env MOCKBASE_MAX_PROJECTS"}, {Key: "redisUrl", Value: "(set)", Origin: "file mockbase.yaml:7"},
	}, c.version + 1
}

func (c *cabinet) Change(_ context.Context, values map[string]string, version int64, by mockbase.Administrator) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, pinned := values["maxProjects"]; pinned {
		return mockbase.Errorf(mockbase.CodePinnedByConfig, "MOCKBASE_MAX_PROJECTS states it")
	}
	if version != c.version+1 {
		return &mockbase.Error{Code: mockbase.CodeVersionMismatch, Message: "changed", Version: c.version + 1}
	}
	if name, given := values["instanceName"]; given {
		c.name = name
	}
	c.version++
	c.by = by
	return nil
}

func (c *cabinet) settings() mockbase.InstanceSettings {
	c.mu.Lock()
	defer c.mu.Unlock()
	return mockbase.InstanceSettings{Name: c.name}
}

// maintain gives a server of these tests what administrators look after.
func maintain(o *management.Options) {
	drawer := &cabinet{}
	o.Backups, o.Configuration, o.Settings = &vault{clock: o.Clock}, drawer, drawer.settings
	o.System = func(context.Context) (mockbase.SystemState, error) {
		return mockbase.SystemState{
			Version: "1.2.3", UptimeSeconds: 7, Goroutines: 9, Store: mockbase.SystemStore{Kind: "sqlite", Path: "/data/mockbase.db", SizeBytes: 4096, State: "ok"},
			Limiter: mockbase.SystemLimiter{Backend: "memory", State: "ok"}, Listeners: []mockbase.SystemListener{{Address: "127.0.0.1:8080", Serves: []string{"mocks", "management"}}},
		}, nil
	}
}

func TestM232_M233_M234_M235_backups_are_made_listed_sent_and_deleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.send(call{method: http.MethodPost, path: backupsPath, as: admin}).want(http.StatusCreated)
	w.clock.Advance(time.Second)
	w.send(call{method: http.MethodPost, path: backupsPath, as: admin}).want(http.StatusCreated)
	if got := w.send(call{method: http.MethodGet, path: backupsPath + "?count=true", as: admin}).want(http.StatusOK); len(got.names("id")) != 2 || got.names("id")[1] != made.json()["id"] {
		t.Errorf("list %s", got.body)
	}
	content := w.send(call{method: http.MethodGet, path: made.header.Get("Location"), as: admin}).want(http.StatusOK)
	sum := sha256.Sum256(content.body)
	if !bytes.Equal(content.body, []byte(backedUp)) || content.header.Get("ETag") != `"`+hex.EncodeToString(sum[:])+`"` || made.json()["sha256"] != hex.EncodeToString(sum[:]) {
		t.Errorf("content %q, ETag %s, made %s", content.body, content.header.Get("ETag"), made.body)
	}
	if got := content.header.Get("Content-Disposition"); got != `attachment; filename="`+made.json()["id"].(string)+`.db"` {
		t.Errorf("Content-Disposition %q", got)
	}
	head := w.send(call{method: http.MethodHead, path: made.header.Get("Location"), as: admin}).want(http.StatusOK)
	if head.header.Get("Content-Length") != strconv.Itoa(len(backedUp)) {
		t.Errorf("HEAD says %s bytes", head.header.Get("Content-Length"))
	}
	at := strings.TrimSuffix(made.header.Get("Location"), "/content")
	w.send(call{method: http.MethodDelete, path: at, as: admin}).want(http.StatusNoContent)
	w.send(call{method: http.MethodDelete, path: at, as: admin}).want(http.StatusNotFound, mockbase.CodeNotFound)
	w.send(call{method: http.MethodGet, path: at + "/content", as: admin}).want(http.StatusNotFound, mockbase.CodeNotFound)
}

func TestM233_a_repeated_request_makes_one_backup_and_a_busy_server_says_so(t *testing.T) {
	t.Parallel()
	v := &vault{}
	w := newWorld(t, func(o *management.Options) {
		v.clock = o.Clock
		o.Backups = v
	})
	again := call{method: http.MethodPost, path: backupsPath, as: admin, header: map[string]string{"Idempotency-Key": "nightly"}}
	first, second := w.send(again).want(http.StatusCreated), w.send(again).want(http.StatusCreated)
	if !bytes.Equal(first.body, second.body) || len(v.all) != 1 {
		t.Errorf("%d backups: %s, %s", len(v.all), first.body, second.body)
	}
	v.busy = true
	if got := w.send(call{method: http.MethodPost, path: backupsPath, as: admin}).want(http.StatusServiceUnavailable, mockbase.CodeBusy); got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestM236_the_state_of_the_server(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.send(call{method: http.MethodGet, path: "/api/v1/admin/system", as: admin}).want(http.StatusOK).json()["uptimeSeconds"]; got != 7.0 {
		t.Errorf("uptime %v", got)
	}
}

func patchConfig(body string) call {
	return call{method: http.MethodPatch, path: configPath, as: admin, kind: "application/merge-patch+json", body: body}
}

func TestM237_M238_settings_are_shown_with_their_origins_and_changed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	read := w.send(call{method: http.MethodGet, path: configPath, as: admin}).want(http.StatusOK)
	if got := read.names("origin"); !slices.Equal(got, []string{"default", "env MOCKBASE_MAX_PROJECTS", "file mockbase.yaml:7"}) {
		t.Errorf("origins %q", got)
	}
	w.send(call{method: http.MethodGet, path: configPath, as: admin, header: map[string]string{"If-None-Match": read.header.Get("ETag")}}).want(http.StatusNotModified)
	changed := w.send(patchConfig(`{"instanceName":"Blue"}`)).want(http.StatusOK)
	if changed.names("value")[0] != "Blue" || changed.names("origin")[0] != "stored" || changed.header.Get("ETag") == read.header.Get("ETag") {
		t.Errorf("changed to %s with %s", changed.body, changed.header.Get("ETag"))
	}
	if got := w.send(call{method: http.MethodGet, path: "/api/v1/auth/status"}).json()["instance"].(map[string]any)["name"]; got != "Blue" {
		t.Errorf("the instance is %v", got)
	}
	stale := patchConfig(`{"instanceName":"Green"}`)
	stale.header = map[string]string{"If-Match": read.header.Get("ETag")}
	w.send(stale).want(http.StatusPreconditionFailed, mockbase.CodeVersionMismatch)
	if got := w.send(patchConfig(`{"instanceName":null}`)).want(http.StatusOK); got.names("origin")[0] != "default" {
		t.Errorf("forgotten: %s", got.body)
	}
}

func TestM238_M82_what_cannot_be_stored_is_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(patchConfig(`{"maxProjects":3}`)).want(http.StatusConflict, mockbase.CodePinnedByConfig)
	for body, pointer := range map[string]string{
		`{"instanceNam":"Blue"}`: "#/instanceNam", `{"instanceName":["Blue"]}`: "#/instanceName", `{"instanceName":{}}`: "#/instanceName",
	} {
		faults := w.send(patchConfig(body)).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed).problem().Errors
		if len(faults) != 1 || faults[0].Pointer != pointer || faults[0].Line != 1 {
			t.Errorf("%s: %+v", body, faults)
		}
	}
}

// M-50: "projectCreation: admins" leaves the making of projects to administrators.
func TestM50_only_administrators_create_projects_where_that_is_set(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) {
		o.Settings = func() mockbase.InstanceSettings {
			return mockbase.InstanceSettings{ProjectCreation: mockbase.ProjectsByAdmins}
		}
	})
	create := call{method: http.MethodPost, path: "/api/v1/projects", as: owner, body: `{"slug":"new","name":"New"}`}
	w.send(create).want(http.StatusForbidden, mockbase.CodeForbidden)
	w.send(call{method: http.MethodPut, path: "/api/v1/projects/made/definition?createProject=true", as: owner, body: `{"mocks":[]}`}).
		want(http.StatusNotFound, mockbase.CodeNotFound) // as for a project of somebody else (rule M-14)
	create.as = admin
	w.send(create).want(http.StatusCreated)
}

// What the options leave out is not there.
func TestM232_M236_M237_what_a_server_does_not_have_is_not_found(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) { o.Backups, o.Configuration, o.System = nil, nil, nil })
	for _, path := range []string{backupsPath, configPath, "/api/v1/admin/system"} {
		w.send(call{method: http.MethodGet, path: path, as: admin}).want(http.StatusNotFound, mockbase.CodeNotFound)
	}
}
