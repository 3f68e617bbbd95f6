package interchange_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
)

// flow writes a value as YAML in braces, with keys that have no quotes.
func flow(n *mockbase.Node) string {
	var parts []string
	switch n.Kind {
	case mockbase.NodeObject:
		for _, m := range n.Members {
			key := m.Key
			if strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") != "" || key == "" || key[0] == '-' {
				key = strconv.Quote(key)
			}
			parts = append(parts, key+": "+flow(m.Value))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case mockbase.NodeList:
		for _, item := range n.Items {
			parts = append(parts, flow(item))
		}
		return "[ " + strings.Join(parts, ", ") + " ]"
	default:
		return string(n.JSON())
	}
}

// samples are the files of other tools that are JSON.
func samples(t *testing.T) map[string]*mockbase.Node {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.*")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*mockbase.Node{}
	for _, file := range files {
		if ext := filepath.Ext(file); ext != ".json" && ext != ".har" || strings.Contains(file, "export") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n, _, err := mockbase.ParseTolerant(text, mockbase.FormatJSON, mockbase.ParseLimits{})
		if err == nil {
			found[file] = n
		}
	}
	stub, err := mockbase.ParseNode([]byte(`{"mappings":[{"priority":1,"request":{"method":"GET","urlPath":"/a","headers":{"A":{"equalTo":"b"}}},"response":{"status":201,"jsonBody":{"a":[1,"x",null]}}}]}`),
		mockbase.FormatJSON, mockbase.ParseLimits{})
	if err != nil {
		t.Fatal(err)
	}
	found["a stub"] = stub
	return found
}

// M-162: what a tool writes as JSON is known and means the same as YAML, in blocks and in braces.
func TestM162_files_of_tools_may_be_YAML(t *testing.T) {
	t.Parallel()
	found := samples(t)
	const least = 7
	if len(found) < least {
		t.Fatalf("%d samples, at least %d are wanted", len(found), least)
	}
	for file, n := range found {
		want := importOf(t, string(n.JSON()), interchange.Options{})
		block, err := mockbase.EncodeMockYAML(n.JSON())
		if err != nil {
			t.Fatal(file, err)
		}
		for _, text := range []string{string(block), flow(n), "# a comment\n---\n" + flow(n)} {
			got := importOf(t, text, interchange.Options{})
			if diff := cmp.Diff(string(want.JSON()), string(got.JSON())); diff != "" || got.Format != want.Format || len(got.Warnings) != len(want.Warnings) {
				t.Errorf("%s: %s is %s: %s\n%v, %v", file, want.Format, got.Format, diff, want.Warnings, got.Warnings)
			}
		}
	}
}

// M-162: whoever names a file that no tool wrote, or another tool than did, is told what was looked for and what was found.
func TestM162_what_was_looked_for_is_told(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format     interchange.Format
		text, want string
	}{
		{"", `{"a":1,"b":[]}`, `which is an object with "a", "b": looked for openapi or swagger, info with item (Postman), log.entries (HAR)`},
		{"", `{a: 1}`, `which is an object with "a": looked for`},
		{"", "words", "which is neither an object nor a list"},
		{"", "[1, 2]", "which is a list of 2 without the words of a tool"},
		{interchange.FormatPostman, `{requests: []}`, `no Postman collection: looked for a list called item, as exports of the versions 2.0 and 2.1 have it, found an object with "requests"`},
		{interchange.FormatHAR, `[]`, `no HTTP archive: looked for a list called log.entries, found a list`},
		{interchange.FormatWireMock, `{}`, `no WireMock stub mapping: looked for mappings, or an object with request and response, found an empty object`},
		{interchange.FormatMockoon, `{"log":{}}`, `no Mockoon environment: looked for a list called routes, found an object with "log"`},
		{interchange.FormatMockServer, `{"log":{}}`, `no MockServer expectation: looked for httpRequest or an action`},
		{interchange.FormatSmocker, `{"log":{}}`, `no Smocker mock: looked for objects with request and response, found an object with "log"`},
		{interchange.FormatHoverfly, `{"log":{}}`, `no Hoverfly simulation: looked for a list called data.pairs, found an object with "log"`},
		{interchange.FormatJSONServer, `[]`, `no json-server database: looked for one object of lists and objects, found a list`},
		{interchange.FormatCURL, `wget http://a/`, `no curl command: looked for a line that begins with curl`},
		{"", `{mappings: [}`, "line 1, column 13"},
		{"", `{"mappings": [}`, "line 1, column 15"},
	} {
		_, err := interchange.Import(t.Context(), []interchange.File{{Text: []byte(c.text)}}, interchange.Options{Format: c.format})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.format, c.text, err, c.want)
		}
	}
}

// M-78: environments that come with a collection give it its variables, and other files beside it are told of.
func TestM78_environments_come_with_collections_of_Postman(t *testing.T) {
	t.Parallel()
	files := []interchange.File{
		{Name: "a.json", Text: []byte(`{"info":{"name":"c"},"variable":[{"key":"v","value":"old"},{"key":"w","value":"own"}],"item":[{"name":"r","request":"{{host}}/{{v}}/{{w}}/{{g}}/{{off}}","response":[{"code":200}]}]}`)},
		{Name: "env.json", Text: []byte(`{"id":"1","name":"test","values":[{"key":"v","value":"v2","enabled":true},{"key":"off","value":"x","enabled":false},{"key":"host","value":"http://h"}],"_postman_variable_scope":"environment"}`)},
		{Name: "globals.json", Text: []byte(`{"id":"2","values":[{"key":"v","value":"v3"},{"key":"g","value":"all"}],"_postman_variable_scope":"globals"}`)},
		{Name: "other.json", Text: []byte(`{"x":1}`)},
	}
	r, err := interchange.Import(t.Context(), files, interchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if made := string(r.JSON()); !strings.Contains(made, `"path":"/v2/own/all/{off}"`) {
		t.Error(made)
	}
	text := told(t, r)
	if !strings.Contains(text, `the variable "v" has another value already`) || !strings.Contains(text, "the file holds no Postman collection, which has a list called item") {
		t.Error(text)
	}
}
