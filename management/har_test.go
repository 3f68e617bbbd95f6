package management_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

func TestM163_traffic_is_exported_as_an_HTTP_archive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := w.record()
	got := w.send(call{method: http.MethodGet, path: shopPath + "/exports?format=har", as: viewer}).want(http.StatusOK)
	if disposition := got.header.Get("Content-Disposition"); disposition != `attachment; filename="shop.har"` {
		t.Errorf("Content-Disposition %s", disposition)
	}
	var file struct {
		Log struct {
			Version string
			Entries []struct {
				ID      string `json:"_id"` //nolint:tagliatelle // the format has it so
				Request struct {
					Method, URL string
					QueryString []struct{ Name, Value string }
					PostData    struct {
						Text     string
						Encoding string `json:"_encoding"` //nolint:tagliatelle // the format has it so
					}
				}
				Response struct{ Status int }
			}
		}
	}
	got.into(&file)
	first := file.Log.Entries[0]
	if file.Log.Version != "1.2" || len(file.Log.Entries) != 3 || first.ID != all[0].ID || first.Response.Status != http.StatusOK {
		t.Errorf("archive %+v", file)
	}
	if first.Request.PostData.Encoding != "base64" || !strings.HasPrefix(first.Request.URL, "http://") {
		t.Errorf("request %+v", first.Request)
	}
	part := w.send(call{method: http.MethodGet, path: shopPath + "/exports?format=har&status=404", as: viewer}).want(http.StatusOK)
	if n := strings.Count(string(part.body), `"_id"`); n != 1 {
		t.Errorf("%d entries of status 404", n)
	}
	lines := w.send(call{method: http.MethodGet, path: shopPath + "/exports?format=ndjson&matched=false", as: viewer}).want(http.StatusOK)
	if n := strings.Count(string(lines.body), "\n"); n != 1 || !strings.Contains(lines.header.Get("Content-Disposition"), ".ndjson") {
		t.Errorf("%d lines that nothing matched: %v", n, lines.header)
	}
	w.send(call{method: http.MethodGet, path: shopPath + "/exports?format=har&minDurationMs=x", as: viewer}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
}

func TestM175_traffic_is_exported_as_lines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := w.record()
	got := w.send(call{
		method: http.MethodGet, path: trafficPath + "?status=4xx", as: viewer, header: map[string]string{"Accept": "application/x-ndjson"},
	}).want(http.StatusOK)
	lines := strings.Split(strings.TrimSpace(string(got.body)), "\n")
	if len(lines) != 2 {
		t.Fatalf("lines %q", lines)
	}
	var newest struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(lines[0]), &newest); err != nil || newest.ID != all[2].ID {
		t.Errorf("first line %s, %v", lines[0], err)
	}
}
