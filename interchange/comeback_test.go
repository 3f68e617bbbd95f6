package interchange_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
	"github.com/mockbase/mockbase/openapi"
)

// comesBack is a project whose mocks are exported and imported again.
const comesBack = `version: 1
mocks:
  - { name: list, request: { method: GET, path: /users }, response: { json: [ 1, 2 ] } }
  - { name: one, request: { method: GET, path: "/users/{id}" }, response: { status: 202, json: { id: 7 } } }
  - { name: root, request: { method: GET, path: / }, response: { json: { root: true } } }
`

// M-162, M-163: what was exported answers at the same paths when it comes back, as the address of the mocks is left out.
func TestM163_exports_come_back_at_the_same_paths(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, decoded(comesBack))
	first := plane(t, s)
	for _, base := range []string{"http://127.0.0.1:8080/m/a", "https://mocks.test/tools/m/a", "http://[::1]:8080/m/a/"} {
		back := map[string]*mockbase.Definition{}
		o := interchange.ExportOptions{Format: interchange.FormatPostman, BaseURL: base}
		r := importOf(t, string(exported(t, s, o).Text), interchange.Options{})
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Detail, "/m/a") {
			t.Errorf("%s: %+v", base, r.Warnings)
		}
		made, err := r.Definition()
		if err != nil {
			t.Fatal(err)
		}
		back["postman"] = made
		o.Format = interchange.FormatOpenAPI
		back["openapi"] = expandedAgain(t, exported(t, s, o).Text)
		for name, d := range back {
			second := plane(t, snapshotOf(t, d))
			for _, path := range []string{"/users", "/users/7", "/", "/none", "/m/a/users"} {
				raw := "GET /m/a" + path + " HTTP/1.1\r\nHost: mocks.test\r\n\r\n"
				if want, got := answerOf(first, raw), answerOf(second, raw); want != got {
					t.Errorf("%s, %s: %s answers %s, wanted %s", name, base, path, got, want)
				}
			}
		}
	}
}

// expandedAgain makes mocks of the operations of a document.
func expandedAgain(t *testing.T, text []byte) *mockbase.Definition {
	t.Helper()
	source, err := openapi.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	made := source.Expand(openapi.ExpandOptions{})
	told := false
	for _, w := range made.Warnings {
		told = told || strings.Contains(w.Detail, "/m/a is left out of the paths")
	}
	if !told {
		t.Errorf("%+v\n%s", made.Warnings, text)
	}
	list := &mockbase.Node{Kind: mockbase.NodeList}
	for _, m := range made.Mocks {
		list.Items = append(list.Items, m.Document)
	}
	root := &mockbase.Node{Kind: mockbase.NodeObject, Members: []mockbase.Member{{Key: "mocks", Value: list}}}
	d, err := mockbase.DecodeDefinition(root.JSON(), mockbase.FormatJSON)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// M-78: an archive of the traffic of mocks makes mocks without the project in their paths; that of another server keeps its.
func TestM78_archives_of_mocks_leave_the_project_out(t *testing.T) {
	t.Parallel()
	entry := func(creator, header string) string {
		return `{"log":{"version":"1.2","creator":{"name":"` + creator + `"},"entries":[
			{"request":{"method":"GET","url":"http://h/m/shop/users"},"response":{"status":200,"headers":[{"name":"` + header + `","value":"x"}],"content":{}}},
			{"request":{"method":"GET","url":"http://h/m/shop"},"response":{"status":200,"headers":[{"name":"` + header + `","value":"x"}],"content":{}}}]}}`
	}
	for _, text := range []string{entry("MockBase", "A"), entry("browser", "Mockbase-Mock")} {
		made, told := importTold(t, text)
		if !strings.Contains(made, `"path":"/users"`) || !strings.Contains(made, `"path":"/"`) || strings.Count(told, "/m/shop is left out") != 1 {
			t.Errorf("%s\n%s", made, told)
		}
	}
	if made, told := importTold(t, entry("browser", "A")); !strings.Contains(made, `"/m/shop/users"`) || told != "" {
		t.Errorf("%s\n%s", made, told)
	}
}
