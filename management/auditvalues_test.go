package management_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

// auditLine is what the tests look at of an entry.
type auditLine struct {
	Action, Outcome string
	Before, After   json.RawMessage
}

func (w *world) auditOf(action string) []auditLine {
	w.t.Helper()
	var log struct{ Items []auditLine }
	w.do("GET", "/admin/audit?action="+action, admin, "").want(200).into(&log)
	return log.Items
}

// lastAudit is the newest entry of an action.
func (w *world) lastAudit(action string) auditLine {
	w.t.Helper()
	lines := w.auditOf(action)
	if len(lines) == 0 {
		w.t.Fatalf("the log holds no %s", action)
	}
	return lines[0]
}

func (l auditLine) expect(t *testing.T, before, after string) {
	t.Helper()
	for _, side := range []struct{ got, want string }{{string(l.Before), before}, {string(l.After), after}} {
		if (side.want == "") != (side.got == "") || !strings.Contains(side.got, side.want) {
			t.Errorf("%s shows\n%s\nwant %s in it", l.Action, side.got, side.want)
		}
	}
}

// M-20: whatever setting of a project changes, the entry shows what it was and what it is. The settings are those of the
// answer, so that none is forgotten.
func TestM20_every_setting_of_a_project_is_told(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := map[string]bool{}
	for _, setting := range []struct{ name, from, to string }{
		{"persistTraffic", `false`, `true`},
		{"redaction", `"standard"`, `"raw"`},
		{"redactHeaders", `["X-One"]`, `["X-One","X-Two"]`},
		{"retention", `{"maxCount":7}`, `{"maxCount":8}`},
		{"retention", `{"maxBytes":7000}`, `{"maxBytes":8000}`},
		{"retention", `{"maxAge":"1m"}`, `{"maxAge":"2m"}`},
		{"upstreamAllow", `["a.test"]`, `["b.test"]`},
		{"cors", `{"origins":["https://a.test"]}`, `false`},
		{"seed", `1`, `2`},
		{"requireIfMatch", `false`, `true`},
	} {
		told[setting.name] = true
		w.do("PATCH", "/projects/shop", owner, `{"settings":{"`+setting.name+`":null}}`).want(200)
		w.do("PATCH", "/projects/shop", owner, `{"settings":{"`+setting.name+`":`+setting.from+`}}`).want(200)
		w.do("PATCH", "/projects/shop", owner, `{"settings":{"`+setting.name+`":`+setting.to+`}}`).want(200)
		w.lastAudit("updateProject").expect(t, `"`+setting.name+`":`+setting.from, `"`+setting.name+`":`+setting.to)
	}
	for _, name := range management.ServerSettings() {
		if !told[name] {
			t.Errorf("nothing is known of the setting %s", name)
		}
	}
}

// M-20: what administrators change of the server is told with what it was.
func TestM20_changes_of_the_server_show_both_values(t *testing.T) {
	t.Parallel()
	var noted auditNotes
	w := newWorld(t, func(o *management.Options) {
		o.Guardian, o.Configuration = &notingGuardian{newGuardian(o.Clock), &noted}, &notingCabinet{o.Configuration, &noted}
	})
	w.send(patchConfig(`{"instanceName":"Blue"}`)).want(http.StatusOK)
	w.send(patchConfig(`{"instanceName":"Green"}`)).want(http.StatusOK)
	noted.last(t).expect(t, `{"instanceName":"Blue"}`, `{"instanceName":"Green"}`)

	read := w.do("GET", "/admin/shield", admin, "").want(200)
	body := strings.Replace(string(read.body), "192.0.2.0/24", "198.51.100.0/24", 1)
	w.send(putShield(body, read.header.Get("ETag"), "")).want(http.StatusOK)
	noted.last(t).expect(t, `"blocklist":["192.0.2.0/24"]`, `"blocklist":["198.51.100.0/24"]`)

	w.do("PATCH", "/admin/bans/latest", admin, `{"reason":"other"}`).want(200)
	noted.last(t).expect(t, `"reason":"5 failed attempts"`, `"reason":"other"`)
	w.do("DELETE", "/admin/bans/latest", admin, "").want(204)
	w.lastAudit("deleteBan").expect(t, `"value":"198.51.100.7"`, "")
	w.do("POST", "/admin/bans", admin, `{"subject":{"type":"ip","value":"203.0.113.9"},"duration":"1h","reason":"r"}`).want(201)
	w.do("DELETE", "/admin/bans/latest", admin, "").want(204)
	noted.last(t).expect(t, `"value":"203.0.113.9"`, "")
	w.do("DELETE", "/admin/bans?rule=none", admin, "").want(200)
	w.lastAudit("liftBans").expect(t, `{"bans":[],"count":0}`, "")
}

func TestM20_a_lost_role_is_told(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("DELETE", "/projects/shop/members/editor@example.com", owner, "").want(204)
	w.lastAudit("deleteMember").expect(t, `{"role":"editor"}`, "")
}

// M-20 and M-153: several mocks show what of each is changed, or what is gone.
func TestM20_a_change_of_several_mocks_shows_their_members(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.do("POST", "/projects/shop/mocks", editor, `{"name":"`+name+`","folder":"old","request":"GET /`+name+`","response":{"headers":{"Authorization":"Bearer hidden"}}}`).want(201)
	}
	w.do("POST", "/projects/shop/mocks/bulk", editor, `{"action":"move","mocks":["a","b"],"value":"new"}`).want(200)
	w.lastAudit("changeMocks").expect(t, `"mocks":["a","b"],"mockMembers":{"a":{"folder":"old"},"b":{"folder":"old"}}`, `"mockMembers":{"a":{"folder":"new"},"b":{"folder":"new"}}`)
	w.do("POST", "/projects/shop/mocks/bulk", editor, `{"action":"delete","mocks":["a","b"]}`).want(200)
	gone := w.lastAudit("changeMocks")
	gone.expect(t, `"request":"GET /a"`, `"deleted":["a","b"]`)
	if strings.Contains(string(gone.Before), "hidden") {
		t.Errorf("the log holds a secret: %s", gone.Before)
	}
	var many strings.Builder
	for i := range 150 {
		many.WriteString(`{"name":"n` + strconv.Itoa(i) + `","request":"GET /n","response":{"text":"a"}},`)
	}
	list := strings.TrimSuffix(many.String(), ",")
	w.do("PUT", "/projects/shop/definition", owner, `{"mocks":[`+list+`]}`).want(200)
	w.do("PUT", "/projects/shop/definition", owner, `{"mocks":[`+strings.ReplaceAll(list, `"a"`, `"b"`)+`]}`).want(200)
	w.lastAudit("applyDefinition").expect(t, `"truncated":true`, `"truncated":true`)
}

// M-15 and M-20: what was not deleted is not audited as deleted.
func TestM20_a_deletion_of_nothing_is_not_audited_as_done(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := 0
	for _, rt := range management.Routes() {
		if rt.Method != http.MethodDelete || !strings.HasSuffix(rt.Path, "}") || rt.Path == "/api/v1/projects/{project}" {
			continue
		}
		seen++
		path := strings.Replace(rt.Path, "{project}", "shop", 1)
		at := strings.LastIndex(path, "/")
		got := w.send(call{method: http.MethodDelete, path: path[:at] + "/nope", as: owner})
		if strings.Contains(path, "/admin/") || strings.Contains(path, "/users") {
			got = w.send(call{method: http.MethodDelete, path: path[:at] + "/nope", as: admin})
		}
		if got.status != http.StatusNotFound {
			t.Errorf("%s %s answers %d", rt.ID, path, got.status)
		}
		for _, line := range w.auditOf(rt.Operation) {
			if line.Outcome == string(mockbase.AuditSuccess) {
				t.Errorf("%s of nothing is audited as done", rt.Operation)
			}
		}
	}
	if seen < 12 {
		t.Errorf("%d deletions", seen)
	}
	w.do("POST", "/admin/backups", admin, "").want(201)
	w.do("DELETE", "/admin/backups/"+w.do("GET", "/admin/backups", admin, "").want(200).names("id")[0], admin, "").want(204)
	w.lastAudit("deleteBackup").expect(t, `"sha256"`, "")
}

// auditNotes keeps the entries that a store would have written.
type auditNotes struct{ all []*mockbase.AuditEntry }

func (n *auditNotes) note(ctx context.Context) {
	n.all = append(n.all, mockbase.AuditOf(ctx).Pending())
}

func (n *auditNotes) last(t *testing.T) auditLine {
	t.Helper()
	if len(n.all) == 0 || n.all[len(n.all)-1] == nil {
		t.Fatal("nothing was noted")
	}
	e := n.all[len(n.all)-1]
	return auditLine{e.Action, string(e.Outcome), e.Before, e.After}
}

// notingGuardian is a shield whose store writes audit entries.
type notingGuardian struct {
	*guardian

	notes *auditNotes
}

func (g *notingGuardian) ChangeSettings(
	r *http.Request, wanted mockbase.ShieldSettings, version int64, by mockbase.Administrator,
) (mockbase.ShieldSettings, int64, error) {
	g.notes.note(r.Context())
	return g.guardian.ChangeSettings(r, wanted, version, by)
}

func (g *notingGuardian) Change(ctx context.Context, id string, change func(*mockbase.Ban), by mockbase.Administrator) (mockbase.Ban, error) {
	g.notes.note(ctx)
	return g.guardian.Change(ctx, id, change, by)
}

func (g *notingGuardian) Lift(ctx context.Context, bans []mockbase.Ban, by mockbase.Administrator) (int, error) {
	g.notes.note(ctx)
	return g.guardian.Lift(ctx, bans, by)
}

// notingCabinet are settings whose store writes audit entries.
type notingCabinet struct {
	management.Configuration

	notes *auditNotes
}

func (c *notingCabinet) Change(ctx context.Context, values map[string]string, version int64, by mockbase.Administrator) error {
	c.notes.note(ctx)
	return c.Configuration.Change(ctx, values, version, by)
}
