package management_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
)

// secretive records an exchange with secrets as a project that keeps them does.
func (w *world) secretive() *mockbase.Exchange {
	x := exchange(w.shop.ID, w.clock.Now(), mockbase.AnsweredByMock)
	x.Request.Target, x.Request.RawQuery, x.Request.Path = "/m/shop/a?token=s3cret", "token=s3cret", "/a"
	x.Request.Header = http.Header{"Authorization": {"Bearer s3cret"}, "X-Own": {"s3cret"}, "Content-Type": {"application/json"}}
	x.Request.Body = []byte(`{"user":"ada","password":"s3cret"}`)
	x.Request.BodySize = int64(len(x.Request.Body))
	x.Response.Header = http.Header{"Set-Cookie": {"s3cret"}}
	w.journal.Record(x)
	return x
}

// Rule M-81: with redaction raw, editors and owners see what viewers, events and exports never do.
func TestM81_secrets_are_seen_by_editors_alone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(patch(shopPath, owner, `{"settings":{"redaction":"raw","redactHeaders":["x-own"]}}`)).want(http.StatusOK)
	stream := w.open(t, "?types=exchange&batch=1ms", owner, nil)
	if e := stream.next(); e.kind != "hello" {
		t.Fatalf("event %+v", e)
	}
	x := w.secretive()
	detail := trafficPath + "/" + x.ID
	lines := map[string]string{"Accept": "application/x-ndjson"}
	for name, c := range map[string]struct {
		call call
		sees bool
	}{
		"an editor, one":       {call{path: detail, as: editor}, true},
		"an owner, one":        {call{path: detail, as: owner}, true},
		"a viewer, one":        {call{path: detail, as: viewer}, false},
		"an editor, a list":    {call{path: trafficPath, as: editor}, true},
		"a viewer, a list":     {call{path: trafficPath, as: viewer}, false},
		"a viewer, explained":  {call{path: detail + "/explain", as: viewer}, false},
		"an owner, an archive": {call{path: shopPath + "/exports?format=har", as: owner}, false},
		"an owner, lines":      {call{path: trafficPath, as: owner, header: lines}, false},
	} {
		c.call.method = http.MethodGet
		got := w.send(c.call).want(http.StatusOK)
		if sees := strings.Contains(string(got.body), "s3cret"); sees != c.sees {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	// Nobody finds out by searching.
	for as, want := range map[string]int{editor: 1, viewer: 0} {
		if got := w.send(call{method: http.MethodGet, path: trafficPath + "?q=s3cret", as: as}).want(http.StatusOK).names("id"); len(got) != want {
			t.Errorf("%s found %v", as, got)
		}
	}
	if e := stream.next(); e.kind != "exchange" || strings.Contains(toText(e.data), "s3cret") || !strings.Contains(toText(e.data), "***") {
		t.Errorf("event %+v", e)
	}
	// What was kept is masked for everybody once the project asks for it.
	w.send(patch(shopPath, owner, `{"settings":{"redaction":"standard"}}`)).want(http.StatusOK)
	if got := w.send(call{method: http.MethodGet, path: detail, as: owner}).want(http.StatusOK); strings.Contains(string(got.body), "s3cret") {
		t.Errorf("later: %s", got.body)
	}
}

func TestM61_settings_of_recording_are_stored_and_shown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const own = `"redaction":"raw","redactHeaders":["X-Own"],"retention":{"maxCount":5,"maxBytes":1000000,"maxAge":"2h"}`
	got := w.send(patch(shopPath, owner, `{"settings":{`+own+`}}`)).want(http.StatusOK)
	want := `{"persistTraffic":false,"requireIfMatch":false,` + own + `}`
	if text := memberText(t, got.body, "settings"); text != want {
		t.Errorf("settings %s", text)
	}
	stored, err := w.people.Snapshots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stored {
		p := s.Project
		if p.Slug == "shop" && (!p.RawTraffic || p.RedactHeaders[0] != "X-Own" || p.Retention != mockbase.Retention{MaxCount: 5, MaxBytes: 1_000_000, MaxAge: 2 * time.Hour}) {
			t.Errorf("stored %+v", p)
		}
	}
	got = w.send(patch(shopPath, owner, `{"settings":{"redaction":null,"redactHeaders":[],"retention":{"maxBytes":null,"maxAge":null}}}`)).want(http.StatusOK)
	if text := memberText(t, got.body, "settings"); text != `{"persistTraffic":false,"requireIfMatch":false,"redaction":"standard","retention":{"maxCount":5}}` {
		t.Errorf("settings %s", text)
	}
}

func toText(data map[string]any) string {
	var b strings.Builder
	for _, item := range data["items"].([]any) {
		request := item.(map[string]any)["request"].(map[string]any)
		b.WriteString(request["target"].(string) + " " + request["query"].(string) + "\n")
	}
	return b.String()
}
