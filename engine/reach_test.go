package engine_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/outbound"
)

// narrowed is an engine whose project may be narrowed, and an upstream on loopback, which the operator allows.
type narrowed struct {
	engine   *engine.Engine
	recorded recorder
	address  string
	upstream *httptest.Server
	config   mockbase.Config
	mocks    []*mockbase.Mock
	revision int64
}

const narrowedMocks = `
settings: { fallback: { proxy: { to: "{to}" } } }
mocks:
  - request: GET /proxied
    response: { proxy: { to: "{to}" } }
  - request: GET /rendered
    response: { template: true, proxy: { to: "http://{{ query.host }}" } }
  - request: GET /hooked
    response:
      template: true
      text: ok
      webhooks: [{ url: "http://{{ query.host }}/hook" }]
`

func newNarrowed(t *testing.T) *narrowed {
	t.Helper()
	n := &narrowed{}
	n.upstream = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("redirect"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "upstream")
	}))
	t.Cleanup(n.upstream.Close)
	n.engine = newEngine(t, engine.Options{Journal: &n.recorded, Upstreams: outbound.Options{Loopback: true}})
	n.address = serveEngine(t, n.engine)
	d, err := mockbase.DecodeDefinition([]byte(strings.ReplaceAll(narrowedMocks, "{to}", n.upstream.URL)), mockbase.FormatYAML)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range d.Mocks {
		m.ID, m.Version = fmt.Sprintf("mck_%d", i), 1
	}
	n.config, n.mocks = d.Config, d.Mocks
	return n
}

// allow publishes the project with a list of what it may call.
func (n *narrowed) allow(t *testing.T, entries ...string) {
	t.Helper()
	n.revision++
	err := n.engine.Publish(&mockbase.Snapshot{
		Project: &mockbase.Project{ID: "prj_shop", Slug: "shop", Access: mockbase.AccessPublic, Config: n.config, Revision: n.revision, UpstreamAllow: entries},
		Mocks:   n.mocks,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// get returns the status and the body.
func (n *narrowed) get(t *testing.T, target string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.address+"/m/shop"+target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestS6_a_project_narrows_what_its_mocks_may_call(t *testing.T) {
	t.Parallel()
	n := newNarrowed(t)
	host := n.upstream.Listener.Addr().String()
	_, port, _ := net.SplitHostPort(host)
	reached := func(want bool, targets ...string) {
		t.Helper()
		for _, target := range targets {
			status, body := n.get(t, target)
			switch {
			case want && (status != http.StatusOK || body != "upstream"):
				t.Errorf("%s: %d %s, want the upstream", target, status, body)
			case !want && (status != http.StatusBadGateway || !strings.Contains(body, "blocked")):
				t.Errorf("%s: %d %s, want a refusal", target, status, body)
			}
		}
	}
	paths := []string{"/proxied", "/unmatched", "/rendered?host=" + host}
	n.allow(t)
	reached(true, paths...)
	n.allow(t, "203.0.113.7")
	reached(false, paths...)
	if _, body := n.get(t, "/proxied"); !strings.Contains(body, "127.0.0.1 is not in the project's list") {
		t.Errorf("the answer is %s", body)
	}
	n.allow(t, "127.0.0.0/8")
	reached(true, paths...)
	n.allow(t, "localhost")
	reached(true, "/rendered?host=localhost:"+port)
	reached(false, paths...)
	n.allow(t, "localhost", "loopback")
	reached(true, append(paths, "/rendered?host=[::ffff:127.0.0.1]:"+port)...)
}

func TestS6_a_project_never_widens_what_the_operator_allows(t *testing.T) {
	t.Parallel()
	n := newNarrowed(t)
	n.allow(t, "10.0.0.0/8", "169.254.169.254", "link-local", "private", "::ffff:10.0.0.1")
	for _, host := range []string{"10.0.0.1", "169.254.169.254", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "[fe80::1]", "192.168.0.1"} {
		if status, body := n.get(t, "/rendered?host="+host); status != http.StatusBadGateway || !strings.Contains(body, "which the operator does not allow") {
			t.Errorf("%s: %d %s", host, status, body)
		}
	}
}

func TestS6_a_webhook_keeps_to_the_list_of_its_project(t *testing.T) {
	t.Parallel()
	n := newNarrowed(t)
	host := n.upstream.Listener.Addr().String()
	hook := func(number int) mockbase.RecordedWebhook {
		t.Helper()
		n.get(t, "/hooked?host="+host)
		await(t, "the webhook ends", func() bool {
			all := n.recorded.all()
			return len(all) > number && len(all[number].Webhooks) == 1 && all[number].Webhooks[0].State != mockbase.WebhookWaiting
		})
		return n.recorded.all()[number].Webhooks[0]
	}
	n.allow(t, "203.0.113.0/24")
	if got := hook(0); got.State != mockbase.WebhookBlocked || !strings.Contains(got.Attempts[0].Error, "project's list") {
		t.Errorf("the webhook is %+v", got)
	}
	n.allow(t, "127.0.0.1")
	if got := hook(1); got.State != mockbase.WebhookDelivered {
		t.Errorf("the webhook is %+v", got)
	}
}

func TestS4_T9_redirects_lead_nowhere_on_this_side(t *testing.T) {
	t.Parallel()
	n := newNarrowed(t)
	n.allow(t, "127.0.0.1")
	for _, to := range []string{"http://169.254.169.254/latest", "http://10.0.0.1/", "http://[::ffff:10.0.0.1]/"} {
		if status, _ := n.get(t, "/proxied?redirect="+to); status != http.StatusFound {
			t.Errorf("a redirect to %s is answered with %d", to, status)
		}
	}
}

func TestPublish_refuses_a_list_that_cannot_be_read(t *testing.T) {
	t.Parallel()
	n := newNarrowed(t)
	err := n.engine.Publish(&mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_shop", Slug: "shop", Revision: 1, UpstreamAllow: []string{"10.0.0.0/99"}}})
	if err == nil || !strings.Contains(err.Error(), "10.0.0.0/99") {
		t.Errorf("published: %v", err)
	}
}
