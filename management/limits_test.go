package management_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/simlimit"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

const limitsPath = projectPath + "/rate-limits"

// partnerKey is the id of the key of a limit that counts everybody together.
const partnerKey = "key_e3b0c44298fc1c14"

// newLimits keeps the limits of a world in memory.
func newLimits(t *testing.T, clock func() time.Time) *simlimit.Keeper {
	t.Helper()
	k, err := simlimit.New(simlimit.Options{
		Memory: func() (ratelimit.Store, error) { return memstore.New(memstore.Options{Clock: clock}) }, Clock: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// limit makes a named policy in the shop, past the API.
func (w *world) limit(name, policy string) {
	w.t.Helper()
	if _, err := w.catalog.SetLimit(w.t.Context(), w.shop.ID, catalog.LimitChange{Name: name, Policy: []byte(policy)}); err != nil {
		w.t.Fatal(err)
	}
}

// statuses asks the shop's mocks several times, and returns the statuses of the answers.
func (w *world) statuses(path string, times int) string {
	w.t.Helper()
	all := make([]string, times)
	for i := range times {
		status, _ := w.mocked(http.MethodGet, path, "")
		all[i] = strconv.Itoa(status)
	}
	return strings.Join(all, " ")
}

// limited is a world whose shop has limits of every kind.
func limited(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.limit("partner", `{"limit":3,"window":"1m"}`)
	w.limit("users", `{"limit":2,"window":"1m","key":"query:u","mode":"enforce"}`)
	w.addMock(`{"name":"hello","request":"GET /hello","rateLimit":{"use":"partner"},"response":{"text":"hi"}}`)
	w.addMock(`{"name":"mine","request":"GET /mine","rateLimit":[{"use":"users"},{"limit":9,"window":"1h","mode":"disabled"},"50/10s",{"limit":100,"window":"1d","algorithm":"sliding_window"}],"response":{"text":"me"}}`)
	return w
}

func (w *world) get(path string) *reply {
	w.t.Helper()
	return w.send(call{method: http.MethodGet, path: path, as: viewer}).want(http.StatusOK)
}

type limitJSON struct {
	Name, Scope string
	Mock        *string
	Policy      map[string]any
	Usage       struct {
		PeakPercent                           float64
		Allowed24h, Limited24h, WouldLimit24h int64
		LastHitAt                             *string
	}
	Store   string
	Version int64
	Source  *string
}

func TestM205_limits_are_listed_with_their_use(t *testing.T) {
	t.Parallel()
	w := limited(t)
	if got := w.statuses("/hello", 4); got != "200 200 200 429" {
		t.Fatalf("answered %s", got)
	}
	var list struct{ Items []limitJSON }
	w.get(limitsPath).into(&list)
	var names []string
	for _, l := range list.Items {
		names = append(names, l.Name)
	}
	if want := []string{"mock:mine", "mock:mine:2", "partner", "users"}; !cmp.Equal(names, want) {
		t.Fatalf("listed %q, want %q", names, want)
	}
	shorthand, second, partner := list.Items[0], list.Items[1], list.Items[2]
	if shorthand.Scope != "mock" || *shorthand.Mock != "mine" || shorthand.Policy["window"] != "10s" || fmt.Sprint(shorthand.Policy["limit"]) != "50" {
		t.Errorf("a short form is shown as %+v", shorthand)
	}
	if second.Policy["algorithm"] != "sliding_window" || fmt.Sprint(second.Policy["limit"]) != "100" {
		t.Errorf("the second limit of a mock is %+v", second)
	}
	use := partner.Usage
	if partner.Scope != "policy" || partner.Mock != nil || use.PeakPercent != 100 || use.Allowed24h != 3 || use.Limited24h != 1 || partner.Store == "" {
		t.Errorf("the policy is %+v", partner)
	}
	if use.LastHitAt == nil || *use.LastHitAt != "2026-03-01T12:00:00.000Z" {
		t.Errorf("it was met at %v", use.LastHitAt)
	}
	for query, want := range map[string]string{
		"?q=part":                     "partner",
		"?sort=-limited24h&limit=1":   "partner",
		"?sort=-lastHitAt&limit=1":    "partner",
		"?limit=2&sort=-name":         "users partner",
		"?session=default&q=mine:2":   "mock:mine:2",
		"?count=true&q=nothing+there": "",
	} {
		if got := strings.Join(w.get(limitsPath+query).names("name"), " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	w.send(call{method: http.MethodGet, path: limitsPath + "?session=none", as: viewer}).want(http.StatusNotFound, mockbase.CodeNotFound)
}

func TestM205_limits_are_those_of_a_session(t *testing.T) {
	t.Parallel()
	w := limited(t)
	w.statuses("/~ci/hello", 2)
	for session, want := range map[string]int64{"": 0, "?session=ci": 2} {
		var got limitJSON
		if w.get(limitsPath + "/partner" + session).into(&got); got.Usage.Allowed24h != want {
			t.Errorf("%q: %d requests, want %d", session, got.Usage.Allowed24h, want)
		}
	}
}

func TestM206_a_limit_has_the_version_of_what_states_it(t *testing.T) {
	t.Parallel()
	w := limited(t)
	for name, want := range map[string]string{"partner": `"v1"`, "mock:mine": `"v1"`, "mock:mine:2": `"v1"`} {
		got := w.get(limitsPath + "/" + name)
		if got.header.Get("ETag") != want {
			t.Errorf("%s: ETag %s, want %s", name, got.header.Get("ETag"), want)
		}
		again := call{method: http.MethodGet, path: limitsPath + "/" + name, as: viewer, header: map[string]string{"If-None-Match": want}}
		w.send(again).want(http.StatusNotModified)
	}
	w.send(call{method: http.MethodPatch, path: mocksPath + "/mine", as: editor, kind: "application/merge-patch+json", body: `{"priority":1}`}).want(http.StatusOK)
	w.send(call{method: http.MethodPut, path: variablesPath + "/greeting", as: editor, body: `{"value":"hi"}`}).want(http.StatusCreated)
	for name, want := range map[string]string{"partner": `"v1"`, "mock:mine": `"v2"`} {
		if got := w.get(limitsPath + "/" + name).header.Get("ETag"); got != want {
			t.Errorf("afterwards %s has %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"none", "mock:hello", "mock:mine:3", "collection:mine"} {
		w.send(call{method: http.MethodGet, path: limitsPath + "/" + name, as: viewer}).want(http.StatusNotFound, mockbase.CodeNotFound)
	}
}

func TestM206_limits_of_collections_and_of_the_defaults_are_shown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"defaults":{"rateLimit":{"limit":7,"window":"1m"}},"collections":{"posts":{"path":"/posts","rateLimit":[{"limit":4,"window":"1m","warnAt":0.50}]}},
		"mocks":[{"name":"plain","request":"GET /plain","response":{}}]}`)
	for name, want := range map[string]string{
		"mock:plain":       `"policy":{"limit":7,"window":"1m"}`,
		"collection:posts": `"policy":{"limit":4,"window":"1m","warnAt":0.50}`,
	} {
		if got := string(w.get(limitsPath + "/" + name).body); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestM207_a_policy_is_made_and_changed(t *testing.T) {
	t.Parallel()
	w := limited(t)
	path := limitsPath + "/partner"
	for _, c := range []struct {
		body, etag string
		header     map[string]string
		status     int
	}{
		{`{"limit":3,"window":"1m"}`, `"v1"`, nil, 200},
		{`{"limit":4,"window":"1m"}`, `"v2"`, map[string]string{"If-Match": `"v1"`}, 200},
		{`{"limit":5,"window":"1m"}`, `"v2"`, map[string]string{"If-Match": `"v1"`}, 412},
		{`{"limit":5,"window":"1m"}`, `"v2"`, map[string]string{"If-None-Match": "*"}, 412},
		{`{"limit":5}`, ``, nil, 422},
		{`{"use":"users"}`, ``, nil, 422},
		{`{"policy":{"limit":5,"window":"1m"},"name":"users"}`, ``, nil, 422},
		{`{"policy":{"limit":5,"window":"1m"},"usge":{}}`, ``, nil, 422},
	} {
		got := w.send(call{method: http.MethodPut, path: path, as: editor, body: c.body, header: c.header}).want(c.status)
		if got.header.Get("ETag") != c.etag {
			t.Errorf("%s: ETag %s, want %s", c.body, got.header.Get("ETag"), c.etag)
		}
	}
	made := w.send(call{method: http.MethodPut, path: limitsPath + "/other", as: editor, body: `{"limit":1.0,"window":"1s"}`, header: map[string]string{"If-None-Match": "*"}})
	if made.want(http.StatusCreated); made.header.Get("Location") != limitsPath+"/other" || made.header.Get("ETag") != `"v1"` {
		t.Errorf("made at %q, %s", made.header.Get("Location"), made.header.Get("ETag"))
	}
	// What a GET gave can be sent back (rule M-8).
	before := w.get(path)
	back := w.send(call{method: http.MethodPut, path: path, as: editor, body: string(before.body)}).want(http.StatusOK)
	if back.header.Get("ETag") != `"v2"` || string(back.body) != string(before.body) {
		t.Errorf("sent back, it is %s", back.body)
	}
	w.send(call{method: http.MethodPut, path: path, as: viewer, body: `{"limit":1,"window":"1m"}`}).want(http.StatusForbidden, mockbase.CodeForbidden)
}

func TestM207_faults_point_into_the_policy(t *testing.T) {
	t.Parallel()
	w := limited(t)
	for body, want := range map[string]string{
		`{"limit":-1,"window":"1m"}`:                                "#/limit",
		`{"limit":1,"window":"1m","alignn":"gcra"}`:                 "#/alignn",
		`{"limit":1,"window":"1m","key":"template:{{ .nothing"}`:    "#/key",
		`{"name":"partner","policy":{"limit":1,"window":"1 year"}}`: "#/policy/window",
	} {
		got := w.send(call{method: http.MethodPut, path: limitsPath + "/partner", as: editor, body: body}).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
		if faults := got.problem().Errors; len(faults) != 1 || faults[0].Pointer != want || faults[0].Line != 1 {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	for _, name := range []string{"mock:mine", "Upper", "-x"} {
		w.send(call{method: http.MethodPut, path: limitsPath + "/" + name, as: editor, body: `{"limit":1,"window":"1m"}`}).want(http.StatusUnprocessableEntity)
	}
}

func TestM207_X7_what_was_consumed_stays(t *testing.T) {
	t.Parallel()
	w := limited(t)
	w.statuses("/hello", 3)
	put := func(limit int) {
		body := fmt.Sprintf(`{"limit":%d,"window":"1m"}`, limit)
		w.send(call{method: http.MethodPut, path: limitsPath + "/partner", as: editor, body: body}).want(http.StatusOK)
	}
	put(5)
	if got := w.statuses("/hello", 3); got != "200 200 429" {
		t.Errorf("with more allowed: %s", got)
	}
	put(2)
	if got := w.statuses("/hello", 1); got != "429" {
		t.Errorf("with less allowed: %s", got)
	}
}

func TestM208_a_policy_in_use_stays(t *testing.T) {
	t.Parallel()
	w := limited(t)
	remove := func(name string, header map[string]string) *reply {
		return w.send(call{method: http.MethodDelete, path: limitsPath + "/" + name, as: editor, header: header})
	}
	remove("partner", map[string]string{"If-Match": `"v9"`}).want(http.StatusPreconditionFailed, mockbase.CodeVersionMismatch)
	if got := remove("partner", nil).want(http.StatusConflict, mockbase.CodeInUse); !strings.Contains(got.problem().Detail, "the mock hello") {
		t.Errorf("it does not say where: %s", got.body)
	}
	if got := remove("mock:mine", nil).want(http.StatusConflict, mockbase.CodeInUse); !strings.Contains(got.problem().Detail, "mine") {
		t.Errorf("it does not say where: %s", got.body)
	}
	w.send(call{method: http.MethodDelete, path: mocksPath + "/hello", as: editor}).want(http.StatusNoContent)
	w.limit("shared", `{"limit":1,"window":"1s"}`)
	_, err := w.catalog.UpdateProject(t.Context(), w.shop.ID, catalog.Match{}, func(p *mockbase.Project) error {
		p.Config.Source["defaults"] = []byte(`{"rateLimit":{"use":"shared"}}`)
		p.Config.Source["collections"] = []byte(`{"posts":{"path":"/posts","rateLimit":[{"use":"shared"}]}}`)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := remove("shared", nil).want(http.StatusConflict, mockbase.CodeInUse).problem().Detail; !strings.Contains(got, "the defaults, the collection posts") {
		t.Errorf("it says %s", got)
	}
	remove("partner", map[string]string{"If-Match": `"v1"`}).want(http.StatusNoContent)
	remove("partner", nil).want(http.StatusNotFound, mockbase.CodeNotFound)
}

func TestM207_M208_a_policy_of_a_source_is_changed_there(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"rateLimits":{"owned":{"limit":1,"window":"1s"}},"mocks":[]}`)
	if got := string(w.get(limitsPath + "/owned").body); !strings.Contains(got, `"source":"default"`) {
		t.Errorf("shown as %s", got)
	}
	w.send(call{method: http.MethodPut, path: limitsPath + "/owned", as: editor, body: `{"limit":2,"window":"1s"}`}).want(http.StatusConflict, mockbase.CodeManagedBySource)
	w.send(call{method: http.MethodDelete, path: limitsPath + "/owned", as: editor}).want(http.StatusConflict, mockbase.CodeManagedBySource)
	// An apply that changes it is a new version.
	w.apply(`{"rateLimits":{"owned":{"limit":3,"window":"1s"}},"mocks":[]}`)
	if got := w.get(limitsPath + "/owned").header.Get("ETag"); got != `"v2"` {
		t.Errorf("ETag %s", got)
	}
}

func TestM209_use_is_told_over_time(t *testing.T) {
	t.Parallel()
	w := limited(t)
	w.statuses("/hello", 4)
	for query, step := range map[string]string{"": "1m", "?range=5m": "5s", "?range=1h": "1m", "?range=24h": "30m", "?range=7d": "3h"} {
		var got struct {
			Step   string
			Points []struct {
				At                                    string
				Allowed, Limited, WouldLimit, Delayed int64
			}
		}
		w.get(limitsPath + "/partner/usage" + query).into(&got)
		if len(got.Points) == 0 || got.Step != step {
			t.Fatalf("%s: %+v", query, got)
		}
		if last := got.Points[len(got.Points)-1]; last.Allowed != 3 || last.Limited != 1 {
			t.Errorf("%s: the last point is %+v", query, last)
		}
	}
	w.send(call{method: http.MethodGet, path: limitsPath + "/partner/usage?range=2h", as: viewer}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
	w.send(call{method: http.MethodGet, path: limitsPath + "/none/usage", as: viewer}).want(http.StatusNotFound)
}

func TestM210_keys_are_listed_those_refused_most_first(t *testing.T) {
	t.Parallel()
	w := limited(t)
	for user, times := range map[string]int{"ann": 2, "bob": 5, "cid": 3} {
		w.statuses("/mine?u="+user, times)
	}
	for query, want := range map[string]string{
		"":                       "bob cid ann",
		"?sort=label":            "ann bob cid",
		"?sort=-requests":        "bob cid ann",
		"?sort=-used&limit=3":    "",
		"?key=ann":               "ann",
		"?q=B":                   "bob",
		"?sort=limited&limit=1":  "ann",
		"?sort=lastSeenAt":       "",
		"?sort=firstSeenAt":      "",
		"?session=default&key=x": " ",
	} {
		got := strings.Join(w.get(limitsPath+"/users/keys"+query).names("label"), " ")
		if want != "" && got != strings.TrimSpace(want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := string(w.get(limitsPath + "/users/keys?key=bob").body); !strings.Contains(got, `"requests":5,"limited":3,"wouldLimit":0,"delayed":0,"used":2,"remaining":0,"resetAt":"2026-03-01T12:01:00.000Z"`) {
		t.Errorf("bob is %s", got)
	}
}

func TestM211_a_key_is_shown_with_its_last_decisions(t *testing.T) {
	t.Parallel()
	w := limited(t)
	w.statuses("/hello", 60)
	var got struct {
		KeyID     string
		Decisions []struct {
			At                 string
			Allowed            bool
			Remaining, Cost    int64
			RetryAfterMs       *float64
			WouldLimit, Banned bool
		}
	}
	w.get(limitsPath + "/partner/keys/" + partnerKey).into(&got)
	if len(got.Decisions) != 50 || got.KeyID != partnerKey {
		t.Fatalf("%s with %d decisions", got.KeyID, len(got.Decisions))
	}
	if d := got.Decisions[0]; d.Allowed || d.Cost != 1 || d.RetryAfterMs == nil || *d.RetryAfterMs != 60_000 {
		t.Errorf("the last one is %+v", d)
	}
	w.send(call{method: http.MethodGet, path: limitsPath + "/partner/keys/key_none", as: viewer}).want(http.StatusNotFound, mockbase.CodeNotFound)
}

func TestM212_the_use_of_a_key_is_set(t *testing.T) {
	t.Parallel()
	w := limited(t)
	w.statuses("/hello", 4)
	put := func(path, body string) *reply {
		return w.send(call{method: http.MethodPut, path: limitsPath + path, as: editor, body: body})
	}
	got := put("/partner/keys/"+partnerKey, `{"used":1}`).want(http.StatusOK)
	if !strings.Contains(string(got.body), `"used":1,"remaining":2`) {
		t.Errorf("answered %s", got.body)
	}
	if now := w.statuses("/hello", 3); now != "200 200 429" {
		t.Errorf("afterwards %s", now)
	}
	for body, pointer := range map[string]string{`{"used":4}`: "#/used", `{"used":-1}`: "#/used", `{}`: "#/used", `{"used":1,"sesion":"x"}`: "#/sesion"} {
		refused := put("/partner/keys/"+partnerKey, body).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
		if faults := refused.problem().Errors; len(faults) != 1 || faults[0].Pointer != pointer {
			t.Errorf("%s: %s", body, refused.body)
		}
	}
	put("/partner/keys/key_none", `{"used":1}`).want(http.StatusNotFound)
	put("/none/keys/"+partnerKey, `{"used":1}`).want(http.StatusNotFound)
	put("/partner/keys/"+partnerKey, `{"used":1,"session":"none"}`).want(http.StatusNotFound)
}

func TestM213_limits_are_emptied(t *testing.T) {
	t.Parallel()
	w := limited(t)
	for _, user := range []string{"ann", "bob"} {
		w.statuses("/mine?u="+user, 3)
	}
	w.statuses("/~ci/mine?u=ann", 3)
	reset := func(body string) string {
		return strings.TrimSpace(string(w.send(call{method: http.MethodPost, path: limitsPath + "/users/reset", as: editor, body: body}).want(http.StatusOK).body))
	}
	ann := w.get(limitsPath + "/users/keys?key=ann").names("keyId")[0]
	if got := reset(`{"keyId":"` + ann + `"}`); got != `{"cleared":1}` {
		t.Errorf("answered %s", got)
	}
	if got := w.statuses("/mine?u=ann", 1) + " " + w.statuses("/mine?u=bob", 1); got != "200 429" {
		t.Errorf("afterwards %s", got)
	}
	if got := reset(``); got != `{"cleared":2}` {
		t.Errorf("answered %s", got)
	}
	if got := w.statuses("/mine?u=bob", 1) + " " + w.statuses("/~ci/mine?u=ann", 1); got != "200 429" {
		t.Errorf("afterwards %s", got)
	}
	if got := reset(`{"session":"ci"}`); got != `{"cleared":1}` {
		t.Errorf("answered %s", got)
	}
	for body, status := range map[string]int{`{"session":"none"}`: 404, `{"keyId":"key_none"}`: 404, `{"key":"ann"}`: 422} {
		w.send(call{method: http.MethodPost, path: limitsPath + "/users/reset", as: editor, body: body}).want(status)
	}
}

func TestM214_requests_are_tried_without_an_effect(t *testing.T) {
	t.Parallel()
	w := limited(t)
	path := limitsPath + "/partner/simulate"
	for body, want := range map[string]string{
		`{"count":5,"ratePerSecond":10}`:                                                      `"summary":{"requests":5,"allowed":3,"limited":2,"keys":1,"firstLimitedAt":"300ms"}`,
		`{"count":5,"ratePerSecond":0.05}`:                                                    `"summary":{"requests":5,"allowed":5,"limited":0,"keys":1,"firstLimitedAt":null}`,
		`{"requests":[{"at":"0s","cost":3},{"at":"1s"},{"at":"1m"}]}`:                         `{"at":"1s","key":"global","allowed":false,"remaining":0,"retryAfterMs":59000}`,
		`{"requests":[{"key":"a","cost":3},{"key":"b"}]}`:                                     `"summary":{"requests":2,"allowed":2,"limited":0,"keys":2,"firstLimitedAt":null}`,
		`{"policy":{"limit":1,"window":"1m"},"count":2,"ratePerSecond":1,"key":"k","cost":1}`: `{"at":"1s","key":"k","allowed":false,"remaining":0,"retryAfterMs":59000}`,
		`{"policy":{"limit":0,"window":"1m"},"requests":[{}]}`:                                `{"at":"0s","key":"global","allowed":false,"remaining":0,"retryAfterMs":null}`,
	} {
		got := w.send(call{method: http.MethodPost, path: path, as: viewer, body: body}).want(http.StatusOK)
		if !strings.Contains(string(got.body), want) {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	if got := w.statuses("/hello", 4); got != "200 200 200 429" {
		t.Errorf("afterwards %s", got)
	}
	for body, pointer := range map[string]string{
		`{"count":10001,"ratePerSecond":1}`:                      "#/count",
		`{"count":1}`:                                            "#/ratePerSecond",
		`{"count":1,"ratePerSecond":0}`:                          "#/ratePerSecond",
		`{"count":1,"ratePerSecond":1e400}`:                      "#/ratePerSecond",
		`{"requests":[]}`:                                        "#/requests",
		`{"requests":[{}],"count":1}`:                            "#/count",
		`{"requests":[{"at":"-1s"}]}`:                            "#/requests/0/at",
		`{"requests":[{"kee":"x"}]}`:                             "#/requests/0/kee",
		`{"requests":[` + strings.Repeat(`{},`, 10_000) + `{}]}`: "#/requests",
		`{"policy":{"limit":1},"count":1,"ratePerSecond":1}`:     "#/policy/window",
	} {
		got := w.send(call{method: http.MethodPost, path: path, as: viewer, body: body}).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
		if faults := got.problem().Errors; len(faults) != 1 || faults[0].Pointer != pointer {
			t.Errorf("%.60s: %.300s", body, got.body)
		}
	}
	w.send(call{method: http.MethodPost, path: limitsPath + "/none/simulate", as: viewer, body: `{"count":1,"ratePerSecond":1}`}).want(http.StatusNotFound)
}

func TestM205_without_limits_there_are_no_addresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) { o.Limits = nil })
	w.send(call{method: http.MethodGet, path: limitsPath, as: owner}).want(http.StatusNotFound, mockbase.CodeNotFound)
}

func TestM51_scopes_of_limits(t *testing.T) {
	t.Parallel()
	w := limited(t)
	w.statuses("/hello", 1)
	read := w.addToken("tok_read", mockbase.TokenService, owner, "limits:read")
	write := w.addToken("tok_write", mockbase.TokenService, owner, "limits:write")
	mocks := w.addToken("tok_mocks", mockbase.TokenService, owner, "mocks:write")
	policy := `{"limit":9,"window":"1m"}`
	for _, c := range []struct {
		token, method, path, body string
		status                    int
	}{
		{read, http.MethodGet, "", "", 200},
		{write, http.MethodGet, "/partner/keys", "", 200},
		{mocks, http.MethodGet, "", "", 403},
		{read, http.MethodPost, "/partner/simulate", `{"count":1,"ratePerSecond":1}`, 200},
		{read, http.MethodPut, "/partner", policy, 403},
		{mocks, http.MethodPut, "/partner", policy, 403},
		{write, http.MethodPut, "/partner", policy, 200},
		{read, http.MethodPost, "/partner/reset", "", 403},
		{write, http.MethodPost, "/partner/reset", "", 200},
	} {
		got := w.send(call{method: c.method, path: limitsPath + c.path, body: c.body, bearer: c.token}).want(c.status)
		if c.status == http.StatusForbidden && got.problem().Code != mockbase.CodeInsufficientScope {
			t.Errorf("%s %s: %s", c.method, c.path, got.body)
		}
	}
}

func TestM20_changes_of_limits_are_audited(t *testing.T) {
	t.Parallel()
	w := limited(t)
	w.statuses("/hello", 1)
	for _, c := range []call{
		{method: http.MethodPut, path: limitsPath + "/partner", body: `{"limit":9,"window":"1m"}`},
		{method: http.MethodPut, path: limitsPath + "/partner/keys/" + partnerKey, body: `{"used":1}`},
		{method: http.MethodPost, path: limitsPath + "/partner/reset"},
		{method: http.MethodPost, path: limitsPath + "/partner/simulate", body: `{"count":1,"ratePerSecond":1}`},
	} {
		c.as = editor
		w.send(c).want(http.StatusOK)
	}
	log := string(w.send(call{method: http.MethodGet, path: "/api/v1/admin/audit", as: admin}).want(http.StatusOK).body)
	for _, want := range []string{
		`"action":"setRateLimit"`, `"action":"setRateLimitKey"`, `"action":"resetRateLimit"`,
		`"after":{"used":1}`, `"partner":{"limit":3,"window":"1m"}`, `"partner":{"limit":9,"window":"1m"}`,
	} {
		if strings.Count(log, want) != 1 {
			t.Errorf("the log holds no %s:\n%s", want, log)
		}
	}
	if strings.Contains(log, "simulateRateLimit") {
		t.Errorf("a trial is no change: %s", log)
	}
}
