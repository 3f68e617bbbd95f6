package management_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestM5 …: what cannot be read and what cannot be served is told together, in the order of the text.
func TestM5_all_faults_are_told_in_one_round(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(post(`{"name":"one","request":"GET /one","response":{}}`)).want(http.StatusCreated)
	// The plane of these tests refuses faults.
	document := "{\n\"request\": \"GET /a\",\n\"response\": {\"fault\": \"reset\"},\n\"priority\": \"high\",\n\"respons\": 1 }"
	definition := "{\n\"mocks\": [\n{\"request\": \"GET /a\", \"response\": {\"fault\": \"reset\"}},\n{\"request\": \"GET /b\", \"response\": {\"status\": 99}} ],\n\"settings\": {\"compress\": true},\n\"variabels\": {} }"
	put := call{method: http.MethodPut, as: editor}
	with := func(c call, path, body string) call { c.path, c.body = path, body; return c }
	for name, c := range map[string]struct {
		call call
		want []string
	}{
		"POST": {post(document), []string{"3 #/response/fault not_served", "4 #/priority type", "5 #/respons unknown_key"}},
		"PUT":  {with(put, mocksPath+"/one", document), []string{"3 #/response/fault not_served", "4 #/priority type", "5 #/respons unknown_key"}},
		"PUT of another name": {
			call{
				method: http.MethodPut, as: editor, path: mocksPath + "/two", header: map[string]string{"If-None-Match": "*"},
				body: "{\n\"name\": \"three\",\n\"request\": \"GET /a\", \"response\": {\"fault\": \"reset\"}}",
			},
			[]string{"2 #/name conflict", "3 #/response/fault not_served"},
		},
		"PUT of another id": {
			with(put, mocksPath+"/one", "{\n\"request\": \"GET /a\", \"response\": {\"fault\": \"reset\"},\n\"id\": \"mck_other\"}"),
			[]string{"2 #/response/fault not_served", "3 #/id conflict"},
		},
		"definition": {
			with(call{method: http.MethodPut, as: owner}, definitionPath, definition),
			[]string{"3 #/mocks/0/response/fault not_served", "4 #/mocks/1/response/status range", "5 #/settings/compress not_served", "6 #/variabels unknown_key"},
		},
		"definition of a new project": {
			with(call{method: http.MethodPut, as: owner}, "/api/v1/projects/fresh/definition?createProject=true", definition),
			[]string{"3 #/mocks/0/response/fault not_served", "4 #/mocks/1/response/status range", "5 #/settings/compress not_served", "6 #/variabels unknown_key"},
		},
		"definition of another project": {
			with(call{method: http.MethodPut, as: owner}, definitionPath, "{\n\"mocks\": [{\"request\": \"GET /a\", \"response\": {\"fault\": \"reset\"}}],\n\"project\": \"other\"}"),
			[]string{"2 #/mocks/0/response/fault not_served", "3 #/project conflict"},
		},
		"import": {
			with(call{method: http.MethodPost, as: owner}, importsPath, definition),
			[]string{"3 #/mocks/0/response/fault not_served", "4 #/mocks/1/response/status range", "5 #/settings/compress not_served", "6 #/variabels unknown_key"},
		},
	} {
		got := w.send(c.call).want(http.StatusUnprocessableEntity)
		if diff := cmp.Diff(c.want, placesOf(got)); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, got.body)
		}
	}
}

// A patch has no place for the mock's other members.
func TestM5_all_faults_of_a_patched_mock_are_told_in_one_round(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(post(`{"name":"one","request":"GET /one","response":{"text":"{{ x }}"}}`)).want(http.StatusCreated)
	got := w.send(call{
		method: http.MethodPatch, path: mocksPath + "/one", as: editor, kind: "application/merge-patch+json",
		body: "{\n\"priority\": \"high\",\n\"rateLimit\": {\"use\": \"nobody\"}}",
	}).want(http.StatusUnprocessableEntity)
	if diff := cmp.Diff([]string{"2 #/priority type", "3 #/rateLimit/use reference"}, placesOf(got)); diff != "" {
		t.Error(diff)
	}
}

// So it is with settings, limits and documents.
func TestM5_all_faults_of_other_texts_are_told_in_one_round(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(call{
		method: http.MethodPost, path: documentsPath + "?name=api", as: editor, kind: "application/yaml",
		body: "openapi: 3.1.0\ninfo: { title: a, version: '1' }\npaths: { /a: { get: { responses: { '200': { description: ok } } } } }",
	}).want(http.StatusCreated)
	patched := func(path, body string) call {
		return call{method: http.MethodPatch, path: path, as: owner, kind: "application/merge-patch+json", body: body}
	}
	for name, c := range map[string]struct {
		call call
		want []string
	}{
		"PATCH of a project": {
			patched(shopPath, "{\n\"title\": \"x\",\n\"settings\": {\"compress\": true,\n\"compres\": 1,\n\"requireIfMatch\": 1}}"),
			[]string{"2 #/title unknown_key", "3 #/settings/compress not_served", "4 #/settings/compres unknown_key", "5 #/settings/requireIfMatch type"},
		},
		"POST of a project": {
			call{method: http.MethodPost, path: "/api/v1/projects", as: owner, body: "{\n\"slug\": \"X\",\n\"name\": \"x\", \"settings\": {\"compress\": true}}"},
			[]string{"2 #/slug pattern", "3 #/settings/compress not_served"},
		},
		"PUT of a limit": {
			call{method: http.MethodPut, path: limitsPath + "/partner", as: editor, body: "{\n\"limit\": 3, \"window\": \"1m\",\n\"mode\": \"off\",\n\"onExceed\": {\"response\": {\"template\": true, \"text\": \"{{ x }}\"}}}"},
			[]string{"3 #/mode enum", "4 #/onExceed/response/text syntax"},
		},
		"PUT of a limit as it is shown": {
			call{method: http.MethodPut, path: limitsPath + "/partner", as: editor, body: "{\n\"name\": \"other\",\n\"policy\": {\"limit\": 3, \"window\": \"1m\",\n\"onExceed\": {\"response\": {\"template\": true, \"text\": \"{{ x }}\"}}}}"},
			[]string{"2 #/name conflict", "4 #/policy/onExceed/response/text syntax"},
		},
		"PUT of a limit as it is shown, with a fault of the plane": {
			call{method: http.MethodPut, path: limitsPath + "/partner", as: editor, body: "{\n\"policy\": {\"limit\": 3, \"window\": \"1m\",\n\"onExceed\": {\"response\": {\"template\": true, \"text\": \"{{ x }}\"}}}}"},
			[]string{"3 #/policy/onExceed/response/text syntax"},
		},
		"PATCH of a document": {
			patched(documentsPath+"/api", "{\n\"requests\": \"all\",\n\"name\": null,\n\"nothing\": null,\n\"rateLimit\": {\"use\": \"nobody\"}}"),
			[]string{"2 #/requests enum", "3 #/name required", "4 #/nothing unknown_key", "5 #/rateLimit/use reference"},
		},
	} {
		got := w.send(c.call).want(http.StatusUnprocessableEntity)
		if diff := cmp.Diff(c.want, placesOf(got)); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, got.body)
		}
		if detail := got.problem().Detail; strings.Contains(detail, "/rateLimits/") || strings.Contains(detail, "/documents/") {
			t.Errorf("%s: the detail tells of a place that the body has not: %s", name, detail)
		}
	}
}

func placesOf(a *reply) []string {
	var places []string
	for _, e := range a.problem().Errors {
		places = append(places, strconv.Itoa(e.Line)+" "+e.Pointer+" "+string(e.Code))
	}
	return places
}
