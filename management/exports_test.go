package management_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

const exportsPath = shopPath + "/exports"

// exportWorld has a project with mocks, a secret, and something that no other format knows.
func exportWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.send(call{method: http.MethodPut, path: shopPath + "/variables/key", as: owner, body: `{"value": "s3cret", "secret": true}`}).want(http.StatusCreated)
	w.send(call{method: http.MethodPut, path: shopPath + "/definition", as: owner, body: `{
		"variables": {"currency": "EUR"},
		"mocks": [
			{"name": "list", "tags": ["read"], "request": "GET /orders", "response": {"json": [{"id": 1}]}},
			{"name": "create", "request": "POST /orders", "rateLimit": "5/10s", "response": {"status": 201, "template": true, "text": "{{ var.key }}"}}
		]}`}).want(http.StatusOK)
	return w
}

func TestM163_a_project_is_exported_in_each_format(t *testing.T) {
	t.Parallel()
	w := exportWorld(t)
	for query, want := range map[string][3]string{
		"mockbase":              {"application/yaml", "shop.yaml", "mocks:"},
		"mockbase&as=json":      {"application/json", "shop.json", `"mocks"`},
		"openapi":               {"application/yaml", "shop.openapi.yaml", "openapi: \"3.1.0\""},
		"openapi&as=json":       {"application/json", "shop.openapi.json", `"openapi": "3.1.0"`},
		"postman":               {"application/json", "shop.postman.json", "collection/v2.1.0"},
		"wiremock":              {"application/json", "shop.wiremock.json", `"mappings"`},
		"wiremock&tag=read":     {"application/json", "shop.read.wiremock.json", `"total": 1`},
		"wiremock&mock=create":  {"application/json", "shop.create.wiremock.json", `"total": 1`},
		"mockbase&mock=list":    {"application/yaml", "shop.list.yaml", "mocks:"},
		"har":                   {"application/json", "shop.har", `"log"`},
		"ndjson":                {"application/x-ndjson", "shop.ndjson", ""},
		"openapi&mock=create":   {"application/yaml", "shop.create.openapi.yaml", "x-mockbase-warnings"},
		"postman&warnings=true": {"application/json", "", `"detail"`},
	} {
		got := w.send(call{method: http.MethodGet, path: exportsPath + "?format=" + query, as: viewer}).want(http.StatusOK)
		disposition := got.header.Get("Content-Disposition")
		if want[1] == "" && disposition != "" || want[1] != "" && disposition != `attachment; filename="`+want[1]+`"` {
			t.Errorf("%s: Content-Disposition %q", query, disposition)
		}
		if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, want[0]) || !strings.Contains(string(got.body), want[2]) || got.header.Get("Mockbase-Warnings") == "" {
			t.Errorf("%s: %s, %v\n%s", query, kind, got.header, got.body)
		}
		if strings.Contains(string(got.body), "s3cret") {
			t.Errorf("%s tells a secret:\n%s", query, got.body)
		}
	}
}

func TestM163_what_an_export_cannot_say_is_counted_and_listed(t *testing.T) {
	t.Parallel()
	w := exportWorld(t)
	var list struct {
		Items []struct{ Mock, Pointer, Code, Detail string }
	}
	got := w.send(call{method: http.MethodGet, path: exportsPath + "?format=wiremock&warnings=true", as: viewer}).want(http.StatusOK)
	got.into(&list)
	named := map[string]bool{}
	for _, item := range list.Items {
		named[item.Mock+" "+item.Pointer] = true
	}
	if !named["create #/rateLimit"] || !named["create #/response"] || got.header.Get("Mockbase-Warnings") != "2" || len(list.Items) != 2 {
		t.Errorf("%+v, %s", list.Items, got.header.Get("Mockbase-Warnings"))
	}
	got = w.send(call{method: http.MethodGet, path: exportsPath + "?format=mockbase", as: viewer}).want(http.StatusOK)
	if got.header.Get("Mockbase-Warnings") != "1" || strings.Contains(string(got.body), "key:") {
		t.Errorf("the secret: %s\n%s", got.header.Get("Mockbase-Warnings"), got.body)
	}
}

func TestM163_Accept_chooses_the_notation(t *testing.T) {
	t.Parallel()
	w := exportWorld(t)
	for accept, want := range map[string]string{
		"application/json": "application/json", "application/yaml": "application/yaml", "*/*": "application/yaml", "": "application/yaml",
		"application/yaml;q=0.1, application/json": "application/json",
	} {
		header := map[string]string{}
		if accept != "" {
			header["Accept"] = accept
		}
		got := w.send(call{method: http.MethodGet, path: exportsPath + "?format=openapi", as: viewer, header: header}).want(http.StatusOK)
		if !strings.HasPrefix(got.header.Get("Content-Type"), want) {
			t.Errorf("%q: %s", accept, got.header.Get("Content-Type"))
		}
	}
}

func TestM163_nonsense_is_told_with_field_value_and_fix(t *testing.T) {
	t.Parallel()
	w := exportWorld(t)
	for query, want := range map[string]string{
		"":                            "#/query/format say what to write",
		"?format=wiremok":             `#/query/format format knows no "wiremok"`,
		"?format=har&as=yaml":         `#/query/as the format har cannot be written as "yaml": leave as out, or write json`,
		"?format=wiremock&as=yaml":    `#/query/as the format wiremock cannot be written as "yaml"`,
		"?format=openapi&as=":         `#/query/as the format openapi cannot be written as ""`,
		"?format=openapi&mock=lisst":  `#/query/mock the project has no mock with the name "lisst"`,
		"?format=postman&tag=reed":    `#/query/tag the project has no mock with the tag "reed"`,
		"?format=har&tag=read":        "#/query/tag tag is about mocks",
		"?format=wiremock&status=404": "#/query/status status filters recorded exchanges",
	} {
		got := w.send(call{method: http.MethodGet, path: exportsPath + query, as: viewer}).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
		var problem struct {
			Errors []struct{ Pointer, Detail, Suggestion string }
		}
		if err := json.Unmarshal(got.body, &problem); err != nil || len(problem.Errors) != 1 {
			t.Fatalf("%s: %v %s", query, err, got.body)
		}
		if first := problem.Errors[0]; !strings.HasPrefix(first.Pointer+" "+first.Detail, want) {
			t.Errorf("%s: %+v", query, first)
		}
	}
	w.send(call{method: http.MethodGet, path: exportsPath + "?format=openapi&warnings=maybe", as: viewer}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
	w.send(call{method: http.MethodGet, path: exportsPath + "?format=openapi&tags=x", as: viewer}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
}
