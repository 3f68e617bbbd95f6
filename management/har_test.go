package management_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

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

// M-163: a body that was recorded in part says so.
func TestM163_an_HTTP_archive_tells_of_bodies_that_are_cut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := w.record()
	cut := all[0]
	cut.Response.Body, cut.Response.BodySize, cut.Response.Truncated = []byte("abc"), 10, true
	cut.Request.BodySize, cut.Request.Truncated = 9, true
	got := w.send(call{method: http.MethodGet, path: shopPath + "/exports?format=har", as: viewer}).want(http.StatusOK)
	for _, part := range []string{`"_truncated":true,"comment":"the first 3 of 10 bytes were recorded"`, `"comment":"the first 2 of 9 bytes were recorded"`} {
		if !strings.Contains(string(got.body), part) {
			t.Errorf("nothing says %s: %s", part, got.body)
		}
	}
}

// harSchema is what HTTP Archive 1.2 demands of a file.
const harSchema = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object", "required": ["log"],
	"properties": { "log": { "type": "object", "required": ["version", "creator", "entries"], "properties": {
		"version": { "const": "1.2" },
		"creator": { "type": "object", "required": ["name", "version"], "properties": { "name": { "type": "string", "minLength": 1 }, "version": { "type": "string", "minLength": 1 } } },
		"entries": { "type": "array", "items": { "$ref": "#/$defs/entry" } }
	} } },
	"$defs": {
		"size": { "type": "integer", "minimum": -1 },
		"time": { "type": "number", "minimum": -1 },
		"pairs": { "type": "array", "items": { "type": "object", "required": ["name", "value"], "properties": { "name": { "type": "string", "minLength": 1 }, "value": { "type": "string" } } } },
		"entry": {
			"type": "object", "required": ["startedDateTime", "time", "request", "response", "cache", "timings"],
			"properties": {
				"startedDateTime": { "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$" },
				"time": { "type": "number", "minimum": 0 },
				"cache": { "type": "object" },
				"timings": { "type": "object", "required": ["send", "wait", "receive"], "properties": { "send": { "$ref": "#/$defs/time" }, "wait": { "$ref": "#/$defs/time" }, "receive": { "$ref": "#/$defs/time" } } },
				"request": { "type": "object",
					"required": ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"],
					"properties": {
						"method": { "type": "string", "minLength": 1 }, "url": { "type": "string", "pattern": "^https?://" }, "httpVersion": { "type": "string", "pattern": "^HTTP/" },
						"cookies": { "$ref": "#/$defs/pairs" }, "headers": { "$ref": "#/$defs/pairs" }, "queryString": { "$ref": "#/$defs/pairs" },
						"headersSize": { "$ref": "#/$defs/size" }, "bodySize": { "$ref": "#/$defs/size" },
						"postData": { "type": "object", "required": ["mimeType", "text"], "properties": { "mimeType": { "type": "string" }, "text": { "type": "string" } } }
					} },
				"response": { "type": "object",
					"required": ["status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize", "bodySize"],
					"properties": {
						"status": { "type": "integer" }, "statusText": { "type": "string" }, "httpVersion": { "type": "string", "pattern": "^HTTP/" },
						"cookies": { "$ref": "#/$defs/pairs" }, "headers": { "$ref": "#/$defs/pairs" }, "redirectURL": { "type": "string" },
						"headersSize": { "$ref": "#/$defs/size" }, "bodySize": { "$ref": "#/$defs/size" },
						"content": { "type": "object", "required": ["size", "mimeType"],
							"properties": { "size": { "type": "integer", "minimum": 0 }, "mimeType": { "type": "string" }, "text": { "type": "string" }, "encoding": { "const": "base64" } } }
					} }
			}
		}
	}
}`

// TestM163_an_HTTP_archive_has_all_that_the_format_demands holds exports of what was really recorded against the format.
func TestM163_an_HTTP_archive_has_all_that_the_format_demands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyYAML("shop", owner, `
mocks:
  - { name: text, request: GET /text, response: { text: "plain é" } }
  - { name: binary, request: ANY /binary, response: { base64: "/wAB", headers: { Content-Type: application/octet-stream } } }
  - { name: moved, request: GET /moved, response: { status: 302, headers: { Location: /text } } }
  - { name: none, request: GET /none, response: { status: 204 } }
`)
	w.hintsOf(t, "GET /text?b=1&a=x+y&b=%zz&c", "", "")
	w.hintsOf(t, "POST /binary", "application/octet-stream", "\xff\x00\x01")
	for _, line := range []string{"GET /moved", "GET /none", "HEAD /text", "GET /missing", "OPTIONS /text", "GET /%zz"} {
		w.hintsOf(t, line, "", "")
	}
	got := w.send(call{method: http.MethodGet, path: shopPath + "/exports?format=har", as: viewer}).want(http.StatusOK)
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(harSchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("har.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("har.json")
	if err != nil {
		t.Fatal(err)
	}
	file, err := jsonschema.UnmarshalJSON(bytes.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(file); err != nil {
		t.Errorf("%v in\n%s", err, got.body)
	}
	for _, want := range []string{
		`"queryString":[{"name":"b","value":"1"},{"name":"a","value":"x y"},{"name":"b","value":"%zz"},{"name":"c","value":""}]`,
		`"content":{"size":3,"mimeType":"application/octet-stream","text":"/wAB","encoding":"base64"}`,
		`"redirectURL":"/text"`, `"text":"plain é"`,
	} {
		if !strings.Contains(string(got.body), want) {
			t.Errorf("the archive lacks %s:\n%s", want, got.body)
		}
	}
	empty := w.send(call{method: http.MethodGet, path: shopPath + "/exports?format=har&path=/nothing", as: viewer}).want(http.StatusOK)
	if !strings.Contains(string(empty.body), `"entries":[]`) {
		t.Errorf("an archive of nothing is %s", empty.body)
	}
}
