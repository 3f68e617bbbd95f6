package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store/sqlite"
)

// maintained starts a server with an administrator, and returns a client of theirs.
func maintained(t *testing.T, dir string, args ...string) (*instance, *visitor) {
	t.Helper()
	server := start(t, append([]string{"--data-dir=" + dir, "--management-limit=disabled", "--login-limit=disabled"}, args...)...)
	_, after, _ := strings.Cut(server.said.String(), "  api      ")
	base, _, _ := strings.Cut(after, "/api/v1\n")
	api := newClient(t, base)
	if code, err := os.ReadFile(filepath.Join(dir, setupCodeName)); err == nil {
		api.setUp(t, strings.TrimSpace(string(code)))
	}
	api.logIn(t)
	return server, api
}

// M-233 and C-40: a backup of a running, written-to server passes its check, is restored, and opens.
func TestM233_C40_a_backup_taken_under_writes_is_restored_and_served(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, api := maintained(t, dir)
	api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"shop","name":"Shop"}`)
	var (
		writers sync.WaitGroup
		stop    atomic.Bool
		written atomic.Int64
	)
	for i := range 4 {
		writers.Go(func() {
			for n := 0; !stop.Load(); n++ {
				answer, err := api.try(t.Context(), http.MethodPost, "/api/v1/projects/shop/mocks", fmt.Sprintf(`{"name":"m-%d-%d","request":"GET /m/%d/%d","response":{"text":"%[1]d-%[2]d"}}`, i, n, i, n))
				if err != nil || answer.StatusCode != http.StatusCreated {
					t.Errorf("write: %v, %v", answer, err)
					return
				}
				written.Add(1)
			}
		})
	}
	await(t, "some mocks", func() bool { return written.Load() > 40 })
	var made struct {
		ID        string `json:"id"`
		SHA256    string `json:"sha256"`
		SizeBytes int64  `json:"sizeBytes"`
	}
	for range 3 {
		if err := json.Unmarshal([]byte(api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/admin/backups", "").body), &made); err != nil {
			t.Fatal(err)
		}
	}
	atLeast := written.Load()
	stop.Store(true)
	writers.Wait()
	content := api.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/backups/"+made.ID+"/content", "")
	sum := sha256.Sum256([]byte(content.body))
	if hex.EncodeToString(sum[:]) != made.SHA256 || int64(len(content.body)) != made.SizeBytes {
		t.Errorf("%d bytes, %+v", len(content.body), made)
	}
	file := filepath.Join(dir, "backups", made.ID+".db")
	if findings, err := sqlite.Check(t.Context(), file); err != nil || len(findings) > 0 {
		t.Fatalf("the backup is damaged: %q, %v", findings, err)
	}
	server.stop(t)

	restore := program(t.Context(), t, "backup", "restore", "--data-dir="+dir, "--from="+made.ID)
	if said, err := restore.CombinedOutput(); err != nil {
		t.Fatalf("restore: %v: %s", err, said)
	}
	server, api = maintained(t, dir)
	var list struct {
		Total int64 `json:"total"`
	}
	if err := json.Unmarshal([]byte(api.call(t, http.StatusOK, http.MethodGet, "/api/v1/projects/shop/mocks?count=true&limit=1", "").body), &list); err != nil {
		t.Fatal(err)
	}
	if list.Total == 0 || list.Total > written.Load() || list.Total < atLeast-written.Load() {
		t.Errorf("%d mocks after the restore, %d were written", list.Total, written.Load())
	}
	if got := newClient(t, server.URL).call(t, http.StatusOK, http.MethodGet, "/m/shop/m/0/0", "").body; got != "0-0" {
		t.Errorf("a restored mock answers %q", got)
	}
}

// Nothing is kept in memory, so that there is nothing to back up.
func TestM232_an_ephemeral_server_has_no_backups(t *testing.T) {
	t.Parallel()
	server := start(t, "--ephemeral")
	newClient(t, server.URL).call(t, http.StatusNotFound, http.MethodGet, "/api/v1/admin/backups", "")
}

type shownItem struct {
	Key        string `json:"key"`
	Value      string `json:"value"`
	Origin     string `json:"origin"`
	Changeable bool   `json:"changeable"`
}

func shownSettings(t *testing.T, api *visitor) map[string]shownItem {
	t.Helper()
	var shown struct {
		Items []shownItem `json:"items"`
	}
	if err := json.Unmarshal([]byte(api.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/config", "").body), &shown); err != nil {
		t.Fatal(err)
	}
	items := map[string]shownItem{}
	for _, item := range shown.Items {
		items[item.Key] = item
	}
	return items
}

// C-3 and M-238: what an administrator stored is in force at once and after a restart, unless something states it.
func TestC3_M237_M238_stored_settings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, api := maintained(t, dir, "--max-tokens-per-user=9")
	api.call(t, http.StatusOK, http.MethodPatch, "/api/v1/admin/config", `{"instanceName":"Blue","maxProjects":2,"projectCreation":"admins"}`)
	api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"shop","name":"Shop"}`)
	refused := api.call(t, http.StatusConflict, http.MethodPost, "/api/v1/projects", `{"slug":"more","name":"More"}`)
	if !strings.Contains(refused.body, `"quota":{"name":"maxProjects","limit":2`) {
		t.Errorf("refused with %s", refused.body)
	}
	pinned := api.call(t, http.StatusConflict, http.MethodPatch, "/api/v1/admin/config", `{"maxTokensPerUser":3}`)
	if !strings.Contains(pinned.body, `"code":"pinned-by-config"`) || !strings.Contains(pinned.body, "--max-tokens-per-user") {
		t.Errorf("pinned: %s", pinned.body)
	}
	api.call(t, http.StatusUnprocessableEntity, http.MethodPatch, "/api/v1/admin/config", `{"addr":":80"}`)
	api.call(t, http.StatusUnprocessableEntity, http.MethodPatch, "/api/v1/admin/config", `{"instanceColor":"blue"}`)
	server.stop(t)

	server, api = maintained(t, dir, "--instance-name=Green", "--redis-url=redis://:secret@127.0.0.1:1/0")
	items := shownSettings(t, api)
	for key, want := range map[string]shownItem{
		"instanceName":           {"instanceName", "Green", "flag", false},
		"maxProjects":            {"maxProjects", "2", "stored", true},
		"maxTokensPerUser":       {"maxTokensPerUser", "100", "default", true},
		"maxDocumentsPerProject": {"maxDocumentsPerProject", "50", "default", true},
		"maxSessionsPerProject":  {"maxSessionsPerProject", "1000", "default", true},
		"redisUrl":               {"redisUrl", "(set)", "flag", false},
		"addr":                   {"addr", "127.0.0.1:0", "flag", false},
		"auditRetention":         {"auditRetention", "9600h", "default", true},
	} {
		if items[key] != want {
			t.Errorf("%s is %+v, want %+v", key, items[key], want)
		}
	}
	if got := newClient(t, server.URL).call(t, http.StatusOK, http.MethodGet, "/api/v1/auth/status", "").body; !strings.Contains(got, `"name":"Green"`) {
		t.Errorf("status %s", got)
	}
	if strings.Contains(server.said.String(), "secret@") {
		t.Error("the log holds the secret")
	}
}

// M-9 and M-238: the quotas of a project are in force at once; what there is already stays.
func TestM9_the_quotas_of_a_project_are_stored_settings(t *testing.T) {
	t.Parallel()
	_, api := maintained(t, t.TempDir())
	const (
		pets    = `{"openapi":"3.1.0","info":{"title":"Pets","version":"1"},"paths":{"/pets":{"get":{"responses":{"200":{"description":"ok"}}}}}}`
		project = "/api/v1/projects/shop"
	)
	api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"shop","name":"Shop"}`)
	api.call(t, http.StatusCreated, http.MethodPost, project+"/documents?name=one", pets)
	api.call(t, http.StatusCreated, http.MethodPost, project+"/documents?name=two", pets)
	api.call(t, http.StatusCreated, http.MethodPost, project+"/sessions", `{"name":"one"}`)
	api.call(t, http.StatusOK, http.MethodPatch, "/api/v1/admin/config", `{"maxDocumentsPerProject":1,"maxSessionsPerProject":1}`)
	for path, quota := range map[string]string{
		"/documents?name=three": `"quota":{"name":"maxDocumentsPerProject","limit":1,`, "/sessions": `"quota":{"name":"maxSessionsPerProject","limit":1,`,
	} {
		body := pets
		if path == "/sessions" {
			body = `{"name":"two"}`
		}
		if got := api.call(t, http.StatusConflict, http.MethodPost, project+path, body); !strings.Contains(got.body, quota) {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	api.call(t, http.StatusConflict, http.MethodPut, project+"/definition", `{"version":1,"mocks":[],"documents":[{"name":"three","inline":`+pets+`}]}`)
	api.call(t, http.StatusOK, http.MethodPut, project+"/definition", `{"version":1,"mocks":[{"request":"GET /a","response":{"text":"a"}}]}`)
	api.call(t, http.StatusOK, http.MethodPatch, "/api/v1/admin/config", `{"maxDocumentsPerProject":3,"maxSessionsPerProject":null}`)
	api.call(t, http.StatusCreated, http.MethodPost, project+"/documents?name=three", pets)
	api.call(t, http.StatusCreated, http.MethodPost, project+"/sessions", `{"name":"two"}`)
}

// A stored value that this program does not understand must not keep it from starting: it could not be mended.
func TestC3_a_stored_value_that_is_wrong_is_told_and_left_out(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, databaseName)})
	if err != nil {
		t.Fatal(err)
	}
	kept := db.PutSetting(t.Context(), &mockbase.Setting{Name: settingsName, Version: 1, Document: []byte(`{"maxProjects":"many","futureKey":"x","instanceName":"Blue"}`)})
	if err := errors.Join(kept, db.Close()); err != nil {
		t.Fatal(err)
	}
	server, api := maintained(t, dir)
	items := shownSettings(t, api)
	if items["maxProjects"].Origin != "default" || items["instanceName"].Value != "Blue" {
		t.Errorf("settings %+v, %+v", items["maxProjects"], items["instanceName"])
	}
	for _, key := range []string{"maxProjects", "futureKey"} {
		server.until(t, `setting=`+key)
	}
}

func TestM236_the_state_of_a_server(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, api := maintained(t, dir, "--admin-addr=127.0.0.1:0")
	var state mockbase.SystemState
	if err := json.Unmarshal([]byte(api.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/system", "").body), &state); err != nil {
		t.Fatal(err)
	}
	if state.Store.Kind != "sqlite" || state.Store.Path != filepath.Join(dir, databaseName) || state.Store.SizeBytes == 0 || state.Store.State != "ok" ||
		state.Limiter.Backend != "memory" || state.Goroutines == 0 || state.Memory.HeapBytes == 0 || len(state.Listeners) != 2 ||
		strings.Join(state.Listeners[0].Serves, " ") != "mocks probes" || strings.Join(state.Listeners[1].Serves, " ") != "management probes" {
		t.Errorf("state %+v", state)
	}
}
