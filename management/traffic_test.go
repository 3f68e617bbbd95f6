package management_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

const trafficPath = "/api/v1/projects/shop/traffic"

// record puts three exchanges into the shop's journal: a mock's answer, a miss and a refusal by the shield.
func (w *world) record() []*mockbase.Exchange {
	w.t.Helper()
	at := w.clock.Now()
	hit := exchange(w.shop.ID, at.Add(-3*time.Minute), mockbase.AnsweredByMock)
	hit.Mock = mockbase.MockRef{ID: "mck_1", Name: "hello", Version: 2}
	hit.Request.Header = http.Header{"X-B": {"1", "2"}, "X-A": {"z"}}
	hit.Request.Body, hit.Request.BodySize = []byte{0xff, 0x00}, 2
	hit.SessionAt, hit.Session = at, mockbase.SessionRef{ID: "ses_1", Name: "ci"}
	hit.Seed, hit.Call, hit.Forced = "42", 3, true
	hit.DelayPlanned, hit.DelaySlept, hit.Redacted = time.Second, 900*time.Millisecond, true
	miss := exchange(w.shop.ID, at.Add(-2*time.Minute), mockbase.AnsweredByUnmatched)
	miss.Request.Method, miss.Response.Status, miss.Request.Path = http.MethodPost, http.StatusNotFound, "/nope"
	miss.Session = mockbase.SessionRef{ID: "ses_0", Name: "default"}
	miss.NearMisses = []mockbase.NearMiss{{Mock: "hello", Distance: 0.25, Failed: []mockbase.MissedPart{{Part: "path", Operator: "equals", Expected: "/hello", Actual: "/nope"}}}}
	miss.Hints = []string{"there is no mock for this path"}
	refused := exchange(w.shop.ID, at.Add(-time.Minute), mockbase.AnsweredByShield)
	refused.Response, refused.Policy = mockbase.RecordedResponse{Status: http.StatusTooManyRequests}, "engine"
	refused.Limits = []mockbase.LimitOutcome{
		{Policy: "engine", Kind: "shield", Key: "ip", RetryAfter: 1500 * time.Millisecond},
		{Policy: "never", Kind: "simulated", Key: "global", RetryAfter: -1},
	}
	refused.Client.IP, refused.Duration, refused.ClientAborted, refused.Error = netip.MustParseAddr("2001:db8::1"), time.Second, true, "client went away"
	all := []*mockbase.Exchange{hit, miss, refused}
	for _, x := range all {
		w.journal.Record(x)
	}
	return all
}

func TestM175_traffic_is_listed_newest_first_and_filtered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := w.record()
	ids := func(places ...int) []string {
		list := []string{}
		for _, i := range places {
			list = append(list, all[i].ID)
		}
		return list
	}
	for query, want := range map[string][]string{
		"":                                      ids(2, 1, 0),
		"?method=post":                          ids(1),
		"?path=/no":                             ids(1),
		"?status=404":                           ids(1),
		"?status=4xx":                           ids(2, 1),
		"?status=4XX":                           ids(2, 1),
		"?answeredBy=mock":                      ids(0),
		"?matched=false":                        ids(1),
		"?matched=true":                         ids(2, 0),
		"?answeredBy=mock,shield":               ids(2, 0),
		"?mock=hello":                           ids(0),
		"?mock=mck_1":                           ids(0),
		"?policy=engine":                        ids(2),
		"?client=2001:db8::1":                   ids(2),
		"?minDurationMs=500":                    ids(2),
		"?q=hello%3Fa":                          ids(2, 1, 0),
		"?session=default":                      ids(1),
		"?session=ses_1":                        ids(0),
		"?session=mine":                         ids(),
		"?since=2026-03-01T11:58:00Z":           ids(2, 1),
		"?until=2026-03-01T11:58:00Z":           ids(0),
		"?since=2026-03-01T12:58:30%2B01:00":    ids(2),
		"?limit=1":                              ids(2),
		"?status=2xx&answeredBy=unmatched&q=no": {},
	} {
		got := w.send(call{method: http.MethodGet, path: trafficPath + query, as: viewer}).want(http.StatusOK)
		if diff := cmp.Diff(want, got.names("id")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

func TestM175_pages_follow_each_other(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := w.record()
	first := w.send(call{method: http.MethodGet, path: trafficPath + "?limit=2&count=true", as: viewer}).want(http.StatusOK).json()
	if first["total"] != 3.0 || first["dropped"] != 0.0 || first["evicted"] != 0.0 {
		t.Errorf("page %v", first)
	}
	w.journal.Record(exchange(w.shop.ID, w.clock.Now(), mockbase.AnsweredByMock))
	second := w.send(call{method: http.MethodGet, path: trafficPath + "?limit=2&cursor=" + first["nextCursor"].(string), as: viewer}).want(http.StatusOK)
	if diff := cmp.Diff([]string{all[0].ID}, second.names("id")); diff != "" || second.json()["nextCursor"] != nil {
		t.Errorf("second page %s\n%s", second.body, diff)
	}
	w.send(call{method: http.MethodGet, path: trafficPath + "?cursor=rubbish", as: viewer}).want(http.StatusBadRequest, mockbase.CodeInvalidCursor)
}

func TestM175_facets_count_what_the_filter_selects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.record()
	got := w.send(call{method: http.MethodGet, path: trafficPath + "?facets=true&limit=1", as: viewer}).want(http.StatusOK)
	want := `{"answeredBy":{"mock":1,"shield":1,"unmatched":1},"status":{"200":1,"404":1,"429":1},"method":{"GET":2,"POST":1},"mock":{"hello":1}}`
	if text := memberText(t, got.body, "facets"); text != want {
		t.Errorf("facets %s", text)
	}
}

func TestM175_wrong_parameters_are_named(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for query, field := range map[string]mockbase.Code{
		"?since=yesterday": "pattern", "?status=abc": "pattern", "?status=99": "pattern", "?answeredBy=nobody": "enum", "?limit=0": "range",
		"?limit=201": "range", "?limit=x": "range", "?minDurationMs=-1": "range", "?facets=perhaps": "enum",
		"?answerdBy=mock": "unknown_key", "?method=GET&method=PUT": "duplicate_key",
		"?method=GET%20x": "pattern", "?method=GET,POST": "pattern", "?client=999.1.1.1": "pattern", "?client=192.0.2.7:80": "pattern",
		"?path=users": "pattern", "?path=http://x/users": "pattern", "?session=a%20b": "pattern", "?session=a%2Fb": "pattern", "?session=%2F": "pattern",
		"?mock=get%20users": "pattern", "?status=0xx": "pattern", "?status=1000": "pattern", "?matched=no": "enum", "?minDurationMs=1.5": "range",
		"?since=2026-03-01T12:00:00Z&until=2026-03-01T12:00:00Z": "range", "?since=2026-03-01": "pattern", "?answeredBy=mock,": "enum",
	} {
		got := w.send(call{method: http.MethodGet, path: trafficPath + query, as: viewer}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
		if e := got.problem().Errors; len(e) != 1 || e[0].Code != field || !strings.HasPrefix(e[0].Pointer, "#/query/") {
			t.Errorf("%s: %+v", query, e)
		}
	}
	if e := w.send(call{method: http.MethodGet, path: trafficPath + "?answerdBy=mock", as: viewer}).problem().Errors; e[0].Suggestion != "answeredBy" {
		t.Errorf("suggestion %+v", e)
	}
	// Each says what was sent and what to write.
	for query, want := range map[string][]string{
		"?method=GET%20x":   {"method", "GET x", "like GET"},
		"?client=999.1.1.1": {"client", "999.1.1.1", "like 192.0.2.7"},
		"?path=users":       {"path", "users", "like /users"},
		"?session=a%20b":    {"session", "a b", "underscore"},
		"?status=4x":        {"status", "4x", "like 404"},
	} {
		for _, path := range []string{trafficPath, shopPath + "/exports", shopPath + "/events"} {
			if strings.HasSuffix(path, "/exports") {
				query += "&format=har"
			}
			got := w.send(call{method: http.MethodGet, path: path + query, as: viewer}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter).problem()
			for _, text := range want {
				if !strings.Contains(got.Detail, text) {
					t.Errorf("%s%s: %s lacks %q", path, query, got.Detail, text)
				}
			}
			query = strings.TrimSuffix(query, "&format=har")
		}
	}
	for _, query := range []string{"?a;b", "?path=%zz"} {
		w.send(call{method: http.MethodGet, path: trafficPath + query, as: viewer}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
	}
}

func TestM176_an_exchange_is_shown_whole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := w.record()
	hit := w.send(call{method: http.MethodGet, path: trafficPath + "/" + all[0].ID, as: viewer}).want(http.StatusOK)
	for member, want := range map[string]string{
		"at":         `"2026-03-01T11:57:00.000Z"`,
		"request":    `{"method":"GET","target":"/m/shop/hello?a=1","path":"/hello","query":"a=1","httpVersion":"HTTP/1.1","host":"localhost","bodySize":2,"headers":[["X-A","z"],["X-B","1"],["X-B","2"]],"body":"/wA=","bodyEncoding":"base64","truncated":false}`,
		"response":   `{"status":200,"bodySize":2,"headers":[["Content-Type","text/plain"]],"body":"hi","bodyEncoding":"utf-8","truncated":false}`,
		"answeredBy": `"mock"`, "mock": `{"id":"mck_1","name":"hello","version":2}`, "client": `{"ip":"192.0.2.1","userAgent":"test"}`,
		"session": `"ci"`, "sessionId": `"ses_1"`, "seed": `"42"`, "call": `3`, "forced": `true`,
		"durationMs": `1.5`, "delay": `{"planned":1000,"slept":900}`, "redacted": `true`, "limits": `[]`, "clientAborted": `false`,
	} {
		if got := memberText(t, hit.body, member); got != want {
			t.Errorf("%s is %s", member, got)
		}
	}
	latest := w.send(call{method: http.MethodGet, path: trafficPath + "/latest", as: viewer}).want(http.StatusOK)
	wantLimits := `[{"policy":"engine","kind":"shield","key":"ip","allowed":false,"wouldLimit":false,"remaining":0,"retryAfterMs":1500},{"policy":"never","kind":"simulated","key":"global","allowed":false,"wouldLimit":false,"remaining":0,"retryAfterMs":null}]`
	if got := memberText(t, latest.body, "limits"); got != wantLimits {
		t.Errorf("limits %s", got)
	}
	miss := w.send(call{method: http.MethodGet, path: trafficPath + "/" + all[1].ID, as: viewer}).want(http.StatusOK)
	if !strings.Contains(memberText(t, miss.body, "nearMisses"), `"distance":0.25`) || memberText(t, miss.body, "hints") != `["there is no mock for this path"]` {
		t.Errorf("miss %s", miss.body)
	}
	w.send(call{method: http.MethodGet, path: trafficPath + "/xch_none", as: viewer}).want(http.StatusNotFound, mockbase.CodeNotFound)
	// An exchange of another project is not there.
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/other/traffic/" + all[0].ID, as: stranger}).want(http.StatusNotFound, mockbase.CodeNotFound)
}

func TestM63_a_body_that_was_cut_is_still_text(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := exchange(w.shop.ID, w.clock.Now(), mockbase.AnsweredByMock)
	whole := strings.Repeat("é", 10)
	x.Response.Body, x.Response.BodySize, x.Response.Truncated = []byte(whole)[:7], int64(len(whole)), true
	w.journal.Record(x)
	got := w.send(call{method: http.MethodGet, path: trafficPath + "/latest", as: viewer}).want(http.StatusOK)
	if text := memberText(t, got.body, "response"); !strings.Contains(text, `"body":"ééé","bodyEncoding":"utf-8","truncated":true`) {
		t.Errorf("response %s", text)
	}
}

func TestM179_clearing_says_how_much_there_was(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.record()
	w.send(call{method: http.MethodDelete, path: trafficPath, as: viewer}).want(http.StatusForbidden)
	w.send(call{method: http.MethodDelete, path: trafficPath + "?status=x", as: editor}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
	if got := w.send(call{method: http.MethodDelete, path: trafficPath + "?status=404", as: editor}).want(http.StatusOK).json(); got["deleted"] != 1.0 {
		t.Errorf("deleted %v", got)
	}
	if got := w.send(call{method: http.MethodDelete, path: trafficPath, as: editor}).want(http.StatusOK).json(); got["deleted"] != 2.0 {
		t.Errorf("deleted %v", got)
	}
	w.send(call{method: http.MethodGet, path: trafficPath + "/latest", as: viewer}).want(http.StatusNotFound)
}

// A value that was forgotten, as by a variable of a shell that is empty, does not select everything.
func TestM179_an_empty_filter_deletes_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.record()
	for _, query := range []string{"?session=", "?mock", "?q=&status=404", "?client=", "?method=GET%20x", "?path=users"} {
		w.send(call{method: http.MethodDelete, path: trafficPath + query, as: editor}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
	}
	if n := len(w.get(trafficPath).names("id")); n != 3 {
		t.Errorf("%d exchanges of 3 are left", n)
	}
}

func TestM175_a_server_that_records_nothing_lists_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) { o.Traffic = nil })
	w.addMock(`{"name":"hello","request":"GET /hello","response":{}}`)
	if n := len(w.send(call{method: http.MethodGet, path: trafficPath, as: viewer}).want(http.StatusOK).names("id")); n != 0 {
		t.Errorf("%d items", n)
	}
	w.send(call{method: http.MethodGet, path: trafficPath + "/latest", as: viewer}).want(http.StatusNotFound)
	w.send(call{method: http.MethodGet, path: mocksPath + "/hello", as: viewer}).want(http.StatusOK)
	w.send(call{method: http.MethodDelete, path: trafficPath, as: editor}).want(http.StatusOK)
}

func TestM175_what_is_no_UTF8_is_escaped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := exchange(w.shop.ID, w.clock.Now(), mockbase.AnsweredByMock)
	x.Request.Path, x.Request.Header = "/a/\xff\xc3(", http.Header{"X-Name": {"caf\xe9"}}
	w.journal.Record(x)
	for _, path := range []string{trafficPath, trafficPath + "/latest"} {
		got := w.send(call{method: http.MethodGet, path: path, as: viewer}).want(http.StatusOK)
		if !strings.Contains(string(got.body), `"path":"/a/%FF%C3("`) {
			t.Errorf("B7: %s", got.body)
		}
		if strings.HasSuffix(path, "latest") && !strings.Contains(string(got.body), `["X-Name","caf%E9"]`) {
			t.Errorf("B7: %s", got.body)
		}
	}
}
