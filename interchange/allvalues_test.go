package interchange_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/template"
	"github.com/mockbase/mockbase/interchange"
)

// M-78: a block that goes through the values of a parameter gets all of them, of which there may be one.
func TestM78_blocks_go_through_all_values_of_a_name(t *testing.T) {
	t.Parallel()
	wiremock := func(body string) string {
		return `{"mappings":[{"request":{"method":"GET","urlPath":"/a"},"response":{"status":200,"body":"` + body + `","transformers":["response-template"]}}]}`
	}
	hoverfly := func(body string) string {
		return `{"data":{"pairs":[{"request":{"path":[{"matcher":"exact","value":"/a"}]},"response":{"status":200,"templated":true,"body":"` + body + `"}}]},"meta":{"schemaVersion":"v5.2"}}`
	}
	mockoon := func(body string) string {
		return `{"uuid":"u","lastMigration":33,"name":"m","routes":[{"uuid":"r","type":"http","method":"get","endpoint":"a","responses":[{"uuid":"x","statusCode":200,"default":true,"body":"` + body + `"}]}]}`
	}
	for name, c := range map[string]struct{ source, one, two string }{
		"each":              {wiremock("{{#each request.query.q as |v|}}{{v}},{{/each}}"), "1,", "1,2,"},
		"each in brackets":  {wiremock("{{#each request.query.[q]}}{{this}}{{#unless @last}},{{/unless}}{{/each}}"), "1", "1,2"},
		"size":              {wiremock("{{size request.query.q}}"), "1", "2"},
		"join":              {wiremock("{{join request.query.q '+'}}"), "1", "1+2"},
		"name of a block":   {wiremock("{{#each (array 'x' 'y') as |request|}}{{size request}}{{/each}}"), "11", "11"},
		"all names":         {wiremock("{{#each request.query as |v k|}}{{k}}={{v}};{{/each}}{{size request.query}}"), "q=1;1", "q=1;1"},
		"names of Hoverfly": {hoverfly("{{#each Request.QueryParam}}{{@key}}={{this}};{{/each}}"), "q=1;", "q=1;"},
		"first value alone": {wiremock("{{request.query.q}}"), "1", "1"},
		"Hoverfly":          {hoverfly("{{#each Request.QueryParam.q}}{{this}},{{/each}}"), "1,", "1,2,"},
		"Mockoon":           {mockoon("{{#each (queryParam 'q')}}{{this}},{{/each}}"), "1,", "1,2,"},
	} {
		r := importOf(t, c.source, interchange.Options{})
		d, err := r.Definition()
		if err != nil || len(r.Warnings) > 0 {
			t.Fatal(name, err, r.Warnings)
		}
		text := string(d.Mocks[0].Responses[0].Body.Bytes)
		for query, want := range map[string]string{"q=1": c.one, "q=1&q=2": c.two} {
			if got := rendered(t, text, query); got != want {
				t.Errorf("%s: %s gives %q for %s, want %q", name, text, got, query, want)
			}
		}
	}
}

// rendered renders a template for a request with this query.
func rendered(t *testing.T, text, query string) string {
	t.Helper()
	compiled, err := template.Compile(text)
	if err != nil {
		t.Fatal(text, err)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	out, err := compiled.Execute(t.Context(), &template.Scope{Request: queried{values: values}})
	if err != nil {
		t.Fatal(text, err)
	}
	return string(out)
}

// queried is a request of which the query alone is read.
type queried struct {
	template.Request

	values url.Values
}

func (q queried) Query(name string) []string { return q.values[name] }

func (q queried) QueryNames() []string { return slices.Sorted(maps.Keys(q.values)) }

// M-78: a dollar in single quotes, or behind a backslash, is one, and begins no variable.
func TestM78_dollars_that_a_shell_leaves_alone_are_literal(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`curl "http://h/q\$lit"`:         `"path":"/q$lit"`,
		`curl 'http://h/q$lit'`:          `"path":"/q$lit"`,
		`curl http://h/q\$lit`:           `"path":"/q$lit"`,
		`curl $'http://h/q$lit'`:         `"path":"/q$lit"`,
		`curl 'http://h/p?y=$Z'`:         `"query":{"y":"$Z"}`,
		`curl --url='http://h/p?y=${Z}'`: `"query":{"y":"${Z}"}`,
		`curl "http://h/q$lit"`:          `"path":"/{lit}"`,
		`curl http://h/p?y=$Z`:           `"query":{"y":{"exists":true}}`,
		`curl -d 'a=$b' -G http://h/p`:   `"query":{"a":"$b"}`,
	} {
		made, told := importTold(t, command)
		if strings.ContainsRune(made+told, 0) || !strings.Contains(made, want) {
			t.Errorf("%s: no %s in %s\n%s", command, want, made, told)
		}
	}
}

// M-78: a route over a bucket of data becomes a collection, which is an entry that came as well as a mock.
func TestM78_collections_count_as_entries(t *testing.T) {
	t.Parallel()
	r := importOf(t, `{"uuid":"u","lastMigration":33,"name":"m","data":[{"uuid":"d","id":"b","name":"n","value":"[]"}],"routes":[
		{"uuid":"r","type":"http","method":"get","endpoint":"a","responses":[{"uuid":"x","statusCode":200,"default":true,"body":"a"}]},
		{"uuid":"s","type":"crud","method":"","endpoint":"people","responses":[{"uuid":"y","databucketID":"b","bodyType":"DATABUCKET","statusCode":200,"default":true}]}]}`, interchange.Options{})
	if r.Found != 2 || r.Mocks() != 1 || r.Entries() != 2 {
		t.Errorf("%d of %d entries, %d mocks", r.Entries(), r.Found, r.Mocks())
	}
}
