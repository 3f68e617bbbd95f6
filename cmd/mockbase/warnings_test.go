package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// M-62: a mock that another one hides, or ties with, is told so when it is saved and each time it is read.
func TestM62_a_saved_mock_names_the_one_that_hides_it(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := start(t, "--data-dir="+dir, "--management-limit=disabled")
	c := newClient(t, server.URL)
	c.setUp(t, setupCodeIn(t, dir))
	c.logIn(t)
	const mocks = "/api/v1/projects/shop/mocks"
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"shop","name":"Shop"}`)
	c.call(t, http.StatusCreated, http.MethodPost, mocks, `{"name":"front","request":"GET /users/{id}","priority":5,"response":{}}`)
	guarded := func(name, query string) string {
		return `{"name":"` + name + `","request":{"method":"GET","path":"/list","query":{"` + query + `":"1"}},"response":{}}`
	}
	c.call(t, http.StatusCreated, http.MethodPost, mocks, guarded("old", "a"))
	for _, test := range []struct {
		name, document, code, other string
		// on is the mock that has the warning, the new one or one that it came before.
		on string
	}{
		{"hidden", `{"name":"hidden","request":"GET /users/7","response":{}}`, "unreachable", "front", "hidden"},
		{"alone", `{"name":"alone","request":"GET /alone","response":{}}`, "", "", "alone"},
		{"a tie", guarded("new", "b"), "tie", "new", "old"},
	} {
		made := c.call(t, http.StatusCreated, http.MethodPost, mocks, test.document).body
		read := c.call(t, http.StatusOK, http.MethodGet, mocks+"/"+test.on, "").body
		answers := []string{read}
		if strings.Contains(test.document, `"name":"`+test.on+`"`) {
			answers = append(answers, made)
		}
		for _, answer := range answers {
			if codes := warningsNaming(t, answer, test.other); test.code == "" && len(codes) > 0 || test.code != "" && !slices.Contains(codes, test.code) {
				t.Errorf("%s: warnings %q, want %q naming %q: %s", test.name, codes, test.code, test.other, answer)
			}
		}
	}
	listed := c.call(t, http.StatusOK, http.MethodGet, mocks+"?warning=unreachable", "").body
	if !strings.Contains(listed, `"name":"hidden"`) || strings.Contains(listed, `"name":"alone"`) {
		t.Errorf("mocks that never answer: %s", listed)
	}
}

// warningsNaming are the codes of a mock's warnings that name another mock.
func warningsNaming(t *testing.T, document, other string) []string {
	t.Helper()
	var m struct {
		Warnings []struct {
			Code   string `json:"code"`
			Detail string `json:"detail"`
		} `json:"warnings"`
	}
	if err := json.Unmarshal([]byte(document), &m); err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, w := range m.Warnings {
		if strings.Contains(w.Detail, other) {
			codes = append(codes, w.Code)
		}
	}
	return codes
}
