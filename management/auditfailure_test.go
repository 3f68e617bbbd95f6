package management_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

// outcomes are those of an action's entries, the newest first.
func (w *world) outcomes(action string) []string {
	w.t.Helper()
	var all []string
	for _, line := range w.auditOf(action) {
		all = append(all, line.Outcome)
	}
	return all
}

func (w *world) wantOutcomes(action string, want ...string) {
	w.t.Helper()
	got := w.outcomes(action)
	if len(got) != len(want) {
		w.t.Fatalf("%s was audited as %q, want %q", action, got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			w.t.Errorf("%s was audited as %q, want %q", action, got, want)
		}
	}
}

// M-15 and M-20: a change that no transaction holds together with its entry is not audited as done when it fails.
func TestM20_what_failed_after_its_entry_was_written_is_not_audited_as_done(t *testing.T) {
	t.Parallel()
	v := &vault{}
	w := newWorld(t, func(o *management.Options) {
		v.clock = o.Clock
		o.Backups = v
	})
	id := w.send(call{method: http.MethodPost, path: backupsPath, as: admin}).want(http.StatusCreated).json()["id"].(string)
	w.lastAudit("createBackup").expect(t, "", `"sha256"`)
	v.broken = &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the disk is full", Err: errors.New("no space left on device")}
	w.send(call{method: http.MethodPost, path: backupsPath, as: admin}).want(http.StatusServiceUnavailable)
	w.send(call{method: http.MethodDelete, path: backupsPath + "/" + id, as: admin}).want(http.StatusServiceUnavailable)
	w.wantOutcomes("createBackup", "failed", "success")
	w.wantOutcomes("deleteBackup", "failed")
	v.broken = nil
	w.send(call{method: http.MethodDelete, path: backupsPath + "/" + id, as: admin}).want(http.StatusNoContent)
	w.wantOutcomes("deleteBackup", "success", "failed")

	session := call{method: http.MethodPost, path: "/api/v1/projects/shop/sessions", as: editor, body: `{"name":"ci"}`}
	w.send(session).want(http.StatusCreated)
	w.send(session).want(http.StatusConflict, mockbase.CodeNameTaken)
	w.wantOutcomes("createSession", "failed", "success")
	if only := w.do("GET", "/admin/audit?outcome=failed&limit=200", admin, "").want(200).names("action"); len(only) != 3 {
		t.Errorf("failed were %q", only)
	}
}

// A copy that is being made is not begun a second time, so that there is nothing to audit.
func TestM20_a_busy_server_made_no_attempt(t *testing.T) {
	t.Parallel()
	v := &vault{busy: true}
	w := newWorld(t, func(o *management.Options) {
		v.clock = o.Clock
		o.Backups = v
	})
	w.send(call{method: http.MethodPost, path: backupsPath, as: admin}).want(http.StatusServiceUnavailable, mockbase.CodeBusy)
	w.wantOutcomes("createBackup")
}

// M-20: a copy whose entry cannot be written becomes no backup, and a failure that cannot be noted is in the log.
func TestM20_what_cannot_be_audited_is_not_done(t *testing.T) {
	t.Parallel()
	v := &vault{}
	w := newWorld(t, func(o *management.Options) {
		v.clock = o.Clock
		o.Backups = v
	})
	full := &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the disk is full"}
	w.people.failWith("AppendAudit", full)
	w.send(call{method: http.MethodPost, path: backupsPath, as: admin}).want(http.StatusServiceUnavailable)
	if made, err := v.ListBackups(t.Context()); err != nil || len(made) > 0 {
		t.Errorf("%v became a backup, %v", made, err)
	}
	w.people.failWith("AppendAudit", nil)
	id := w.send(call{method: http.MethodPost, path: backupsPath, as: admin}).want(http.StatusCreated).json()["id"].(string)
	v.broken = full
	w.people.failWith("FailAudit", full)
	w.send(call{method: http.MethodDelete, path: backupsPath + "/" + id, as: admin}).want(http.StatusServiceUnavailable)
	if !strings.Contains(w.log.String(), "failure was not audited") {
		t.Error("the log is silent")
	}
}

// A panic in a change that was audited before is no success.
func TestM20_a_defect_is_not_audited_as_done(t *testing.T) {
	t.Parallel()
	v := &vault{}
	w := newWorld(t, func(o *management.Options) {
		v.clock = o.Clock
		o.Backups = panicking{v}
	})
	id := w.send(call{method: http.MethodPost, path: backupsPath, as: admin}).want(http.StatusCreated).json()["id"].(string)
	w.send(call{method: http.MethodDelete, path: backupsPath + "/" + id, as: admin}).want(http.StatusInternalServerError)
	w.wantOutcomes("deleteBackup", "failed")
}

// panicking keeps backups and cannot delete one.
type panicking struct{ *vault }

func (panicking) DeleteBackup(context.Context, string) error { panic("a defect") }
