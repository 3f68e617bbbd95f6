package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mockbase/mockbase/store/sqlite"
)

// written is what writers of all kinds were told is there, by the paths where it is found.
type written struct {
	mu   sync.Mutex
	acks map[string]bool
}

func (w *written) note(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acks[path] = true
}

func (w *written) sofar() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.acks)
}

// writers write into everything that refers to something else, and delete much of it again: mocks with their versions and
// trash, projects with their members, the data of a collection that persists, bans.
func (w *written) writers(t *testing.T, api *visitor, stop *atomic.Bool) *sync.WaitGroup {
	t.Helper()
	write := func(want int, method, path, body string) bool {
		answer, err := api.try(t.Context(), method, path, body)
		if err != nil || answer.StatusCode != want {
			t.Errorf("%s %s: %v, %v", method, path, answer, err)
			return false
		}
		return true
	}
	const mocks = "/api/v1/projects/shop/mocks"
	var group sync.WaitGroup
	for _, one := range []func(n int) bool{
		func(n int) bool {
			name := fmt.Sprintf("m-%d", n)
			if !write(201, http.MethodPost, mocks, fmt.Sprintf(`{"name":%q,"request":"GET /%s","response":{"text":%q}}`, name, name, strings.Repeat(name, 200))) {
				return false
			}
			if n%3 == 0 {
				return write(204, http.MethodDelete, mocks+"/"+name, "")
			}
			w.note(mocks + "/" + name)
			return write(200, http.MethodPatch, mocks+"/"+name, `{"priority":1}`)
		},
		func(n int) bool {
			slug := fmt.Sprintf("p-%d", n)
			if !write(201, http.MethodPost, "/api/v1/projects", fmt.Sprintf(`{"slug":%q,"name":"P"}`, slug)) {
				return false
			}
			if n%2 == 0 {
				return write(204, http.MethodDelete, "/api/v1/projects/"+slug+"?confirm="+slug, "")
			}
			w.note("/api/v1/projects/" + slug)
			return true
		},
		func(n int) bool {
			if !write(201, http.MethodPost, "/m/shop/posts", fmt.Sprintf(`{"id":%d}`, n+1000)) {
				return false
			}
			w.note(fmt.Sprintf("/m/shop/posts/%d", n+1000))
			return true
		},
		func(n int) bool {
			return write(201, http.MethodPost, "/api/v1/admin/bans", fmt.Sprintf(`{"subject":{"type":"ip","value":"198.51.%d.%d"},"duration":"1h","reason":"test"}`, n/250%250, n%250))
		},
	} {
		group.Go(func() {
			for n := 0; !stop.Load() && one(n); n++ {
			}
		})
	}
	return &group
}

func sound(t *testing.T, path string) {
	t.Helper()
	if findings, err := sqlite.Check(t.Context(), path); err != nil || len(findings) > 0 {
		t.Errorf("%s: %q, %v", filepath.Base(path), findings, err)
	}
}

// M-233 and C-40: whatever was answered before a backup was asked for is in it, also what mocks keep; restored over the files of a
// server that was killed, and into an empty folder, it is sound in every reference, at rest and with what is written next.
func TestM233_C40_a_backup_holds_all_that_was_answered_before(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, api := maintained(t, dir, "--engine-limit=disabled")
	api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"shop","name":"Shop"}`)
	api.call(t, http.StatusOK, http.MethodPut, "/api/v1/projects/shop/definition",
		`{"version":1,"collections":{"posts":{"path":"/posts","persist":true,"seed":[{"id":1}]}},"mocks":[]}`)
	var token struct{ Token string }
	if err := json.Unmarshal([]byte(api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/tokens", `{"kind":"personal","name":"ci","scopes":["mocks:read","project:admin"],"projects":["*"]}`).body), &token); err != nil {
		t.Fatal(err)
	}
	keys := api.call(t, http.StatusOK, http.MethodGet, "/.well-known/jwks.json", "").body
	w := &written{acks: map[string]bool{}}
	var stop atomic.Bool
	group := w.writers(t, api, &stop)
	await(t, "much that is written", func() bool { return len(w.sofar()) > 100 })
	before := w.sofar()
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/admin/backups", "").body), &made); err != nil {
		t.Fatal(err)
	}
	if log := api.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/audit?action=createBackup&target="+made.ID, "").body; !strings.Contains(log, `"sha256"`) {
		t.Errorf("the backup is audited as %s", log)
	}
	more := len(w.sofar()) + 20
	await(t, "what is written after the backup", func() bool { return len(w.sofar()) > more })
	stop.Store(true)
	group.Wait()
	server.kill(t)
	if log, err := os.Stat(filepath.Join(dir, "mockbase.db-wal")); err != nil || log.Size() == 0 {
		t.Fatalf("the killed server left no log: %v", err)
	}

	file, elsewhere := filepath.Join(dir, "backups", made.ID+".db"), filepath.Join(t.TempDir(), "data")
	for _, place := range []struct{ dir, from string }{{dir, made.ID}, {elsewhere, file}} {
		restore := program(t.Context(), t, "backup", "restore", "--data-dir="+place.dir, "--from="+place.from)
		if said, err := restore.CombinedOutput(); err != nil {
			t.Fatalf("restore: %v: %s", err, said)
		}
		sound(t, filepath.Join(place.dir, "mockbase.db"))
		again := start(t, "--data-dir="+place.dir, "--management-limit=disabled", "--login-limit=disabled", "--engine-limit=disabled")
		old := newClient(t, again.URL)
		if same := old.call(t, http.StatusOK, http.MethodGet, "/.well-known/jwks.json", "").body == keys; same != (place.dir == dir) {
			t.Errorf("the keys of %s are those of before: %t", place.dir, same)
		}
		old.token = token.Token
		for path := range before {
			if answer, err := old.try(t.Context(), http.MethodGet, path, ""); err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("%s was answered before the backup and is not in it: %v, %v", path, answer, err)
			}
		}
		old.logIn(t)
		old.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects/shop/mocks", `{"name":"next","request":"GET /next","response":{}}`)
		sound(t, filepath.Join(place.dir, "mockbase.db")) // with its log
		again.stop(t)
		sound(t, filepath.Join(place.dir, "mockbase.db"))
	}
}
