package proxy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/proxy"
)

func TestResultKeepsTheFirstBytes(t *testing.T) {
	t.Parallel()
	upstream, _ := rawUpstream(t, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789")
	f := newFront(t, mockbase.Proxy{To: "http://" + upstream}, func(r *proxy.Request) {
		r.Keep = 4
		r.Lay = func(to, answer http.Header, status int) {
			to["X-Laid"] = []string{answer.Get("Content-Length"), http.StatusText(status)}
		}
	})
	got := exchange(t, f.Listener.Addr().String(), "GET / HTTP/1.1\nHost: m\nConnection: close\n\n")
	result := <-f.results
	if string(result.Body) != "0123" || result.BodySize != 10 || !slices.Equal(result.Header["Content-Length"], []string{"10"}) {
		t.Errorf("got %+v", result)
	}
	if !strings.Contains(got, "X-Laid: 10\nX-Laid: OK\n") {
		t.Errorf("the client got %q", got)
	}
}
