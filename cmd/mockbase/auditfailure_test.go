package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/mockbase/mockbase/management/auth"
)

// obstruct puts a folder that is not empty in the place of a file: nothing can be written, renamed or deleted there.
func obstruct(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// M-15 and M-20: what the disk refuses after the entry was written is not audited as done, and the entry of it is there.
func TestM20_what_the_disk_refuses_is_audited_as_failed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, api := maintained(t, dir)
	outcome := func(action string) string {
		t.Helper()
		var log struct{ Items []struct{ Outcome string } }
		if err := json.Unmarshal([]byte(api.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/audit?action="+action, "").body), &log); err != nil {
			t.Fatal(err)
		}
		if len(log.Items) == 0 {
			return "nothing"
		}
		return log.Items[0].Outcome
	}
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/admin/backups", "").body), &made); err != nil {
		t.Fatal(err)
	}
	backups := filepath.Join(dir, "backups")
	for _, step := range []struct {
		action string
		fail   func()
		method string
		path   string
		body   string
		status int
	}{
		{"deleteBackup", func() { obstruct(t, filepath.Join(backups, made.ID+".db")) }, http.MethodDelete, "/api/v1/admin/backups/" + made.ID, "", http.StatusServiceUnavailable},
		{"createBackup", func() {
			if err := os.RemoveAll(backups); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(backups, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, http.MethodPost, "/api/v1/admin/backups", "", http.StatusServiceUnavailable},
		{"rotateKeys", func() { obstruct(t, filepath.Join(dir, auth.KeyRingFile)) }, http.MethodPost, "/api/v1/admin/keys/rotate", "", http.StatusInternalServerError},
	} {
		step.fail()
		api.call(t, step.status, step.method, step.path, step.body)
		if got := outcome(step.action); got != "failed" {
			t.Errorf("%s was audited as %s", step.action, got)
		}
	}
}
