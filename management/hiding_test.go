package management_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

// Rules M-81 and M-195: answers that hold a secret variable are shown, searched, exported and explained without it.
func TestM195_secret_variables_are_seen_in_no_traffic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(call{method: http.MethodPut, path: shopPath + "/variables/key", as: owner, body: `{"value": "k-1234-value", "secret": true}`}).want(http.StatusCreated)
	stream := w.open(t, "?types=exchange&batch=1ms", owner, nil)
	if e := stream.next(); e.kind != "hello" {
		t.Fatalf("event %+v", e)
	}
	x := exchange(w.shop.ID, w.clock.Now(), mockbase.AnsweredByMock)
	x.Request.Target, x.Request.RawQuery = "/m/shop/a?b=k-1234-value", "b=k-1234-value"
	x.Request.Header = http.Header{"Content-Type": {"application/json"}}
	x.Request.Body = []byte(`{"password":"p4ss","key":"k-1234-value"}`)
	x.Response.Header = http.Header{"X-K": {"k-1234-value"}}
	x.Response.Body = []byte("key=k-1234-value")
	w.journal.Record(x)
	detail := trafficPath + "/" + x.ID
	for name, c := range map[string]call{
		"one":        {path: detail},
		"a list":     {path: trafficPath},
		"lines":      {path: trafficPath, header: map[string]string{"Accept": "application/x-ndjson"}},
		"an archive": {path: exportsPath + "?format=har"},
		"ndjson":     {path: exportsPath + "?format=ndjson"},
		"explained":  {path: detail + "/explain"},
	} {
		for _, as := range []string{owner, viewer} {
			c.method, c.as = http.MethodGet, as
			got := w.send(c).want(http.StatusOK)
			if text := string(got.body); strings.Contains(text, "k-1234-value") || strings.Contains(text, "p4ss") {
				t.Errorf("%s shows %s", name, text)
			}
		}
	}
	if got := w.send(call{method: http.MethodGet, path: trafficPath + "?q=k-1234", as: viewer}).want(http.StatusOK).names("id"); len(got) != 0 {
		t.Errorf("the search found %v", got)
	}
	draft := w.send(call{method: http.MethodPost, path: detail + "/draft", as: editor, body: `{"from":"response"}`}).want(http.StatusOK)
	if strings.Contains(string(draft.body), "k-1234-value") {
		t.Errorf("drafted: %s", draft.body)
	}
	if e := stream.next(); e.kind != "exchange" || strings.Contains(toText(e.data), "k-1234-value") {
		t.Errorf("event %+v", e)
	}
	// What is kept is exact: it is shown once the variable is no secret.
	w.send(call{method: http.MethodPut, path: shopPath + "/variables/key", as: owner, body: `{"value": "k-1234-value", "secret": false}`}).want(http.StatusOK)
	if got := w.send(call{method: http.MethodGet, path: detail, as: owner}).want(http.StatusOK); !strings.Contains(string(got.body), "key=k-1234-value") {
		t.Errorf("kept is %s", got.body)
	}
}
