package management_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestM62_urls_are_percent_encoded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for request, want := range map[string]string{
		"/plain":                       "/plain",
		"/":                            "/",
		"/a//b/":                       "/a//b/",
		"/a b":                         "/a%20b",
		"/a%20b":                       "/a%20b",
		"/caf\u00e9/\U0001f600":        "/caf%C3%A9/%F0%9F%98%80",
		"/caf%c3%a9":                   "/caf%C3%A9",
		"/a%2Fb/%3F%23":                "/a%2Fb/%3F%23",
		"/100%25":                      "/100%25",
		`/"<>\^|`:                      "/%22%3C%3E%5C%5E%7C",
		"/{{x}}":                       "/%7Bx%7D",
		"/%2A/*/**":                    "/%2A/*/**",
		"/a:b@c;v=1,2":                 "/a:b@c%3Bv=1%2C2",
		"/users/{id}":                  "/users/{id}",
		"/u {id}.j son":                "/u%20{id}.j%20son",
		`/o/{id:[a-z ]+\d{2}}/{n}.{e}`: "/o/{id}/{n}.{e}",
		"/files/{rest...}":             "/files/{rest...}",
	} {
		body, err := json.Marshal(map[string]any{"request": map[string]string{"path": request}, "response": map[string]any{}})
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			URLs map[string]string `json:"urls"`
		}
		w.send(post(string(body))).want(http.StatusCreated).into(&m)
		got, found := strings.CutPrefix(m.URLs["path"], w.server.URL+"/m/shop")
		if !found || got != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
		if _, err := url.Parse(m.URLs["path"]); err != nil {
			t.Errorf("%s: %v", request, err)
		}
	}
	var m struct {
		URLs map[string]string `json:"urls"`
	}
	w.send(post(`{"request":{"pathMatches":"/a .*"},"response":{}}`)).want(http.StatusCreated).into(&m)
	if m.URLs["path"] != w.server.URL+"/m/shop" {
		t.Errorf("a mock without a path is at %q", m.URLs["path"])
	}
}
