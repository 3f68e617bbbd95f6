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

// M-163: what a collection cannot say is told of.
func TestM163_what_Postman_cannot_say_is_told_of(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"scenario":"s","state":"open","request":"GET /a","response":{"setState":"shut"}}`:                                              "#/scenario #/state #/response/setState",
		`{"request":"GET /a","times":2,"response":{}}`:                                                                                   "#/times",
		`{"request":"GET /a","select":"weighted","responses":[{"weight":3},{"weight":1,"status":201}]}`:                                  "#/select",
		`{"request":"GET /a","select":"sequence","responses":[{"times":2},{"status":201}]}`:                                              "#/responses/0/times",
		`{"request":{"method":"GET","path":"/a","strictQuery":true,"host":"a.test"},"response":{}}`:                                      "#/request/host #/request/strictQuery",
		`{"request":{"method":"GET","path":"/a","not":{"query":{"a":"1"}}},"response":{}}`:                                               "#/request/not/query/a",
		`{"request":{"method":"POST","path":"/a","body":{"form":{"a":{"matches":"[0-9]+"},"b":"1","c":{"equals":"2"}}}},"response":{}}`:  "#/request/body/form/a",
		`{"request":{"method":"GET","path":"/a","query":{"a":{"startsWith":"x"},"b":{"exists":true}}},"response":{"status":200}}`:        "#/request/query/a",
		`{"request":{"method":"GET","path":"/a","anyOf":[{"query":{"a":"1"}},{"query":{"b":{"not":"2"}}}]},"response":{"status":200}}`:   "#/request/anyOf/1/query/b/not",
		`{"request":{"method":"GET","path":"/a"},"select":"sequence","responses":[{"status":200},{"status":201}]}`:                       "",
		`{"request":{"method":"GET","path":"/a","query":{"a":"1"},"headers":{"X":{"equals":"2"}}},"response":{"status":200,"json":[1]}}`: "",
	} {
		d := decoded(`{"mocks":[` + text + `]}`)
		if d == nil {
			t.Errorf("%s is no mock", text)
			continue
		}
		if got := toldAt(t, d, interchange.FormatPostman); got != want {
			t.Errorf("%s tells of %q, wanted %q", text, got, want)
		}
	}
}

// toldAt lists where an export loses something.
func toldAt(t *testing.T, d *mockbase.Definition, format interchange.Format) string {
	t.Helper()
	var list []string
	for _, l := range exported(t, snapshotOf(t, d), interchange.ExportOptions{Format: format}).Losses {
		list = append(list, l.Pointer)
	}
	return strings.Join(list, " ")
}

// M-163: a document asks for credentials, and says not for which.
func TestM163_what_OpenAPI_cannot_say_of_credentials_is_told_of(t *testing.T) {
	t.Parallel()
	for auth, want := range map[string]string{
		`{"basic":{"username":"a","password":"b"}}`: "#/request/auth/basic",
		`{"bearer":"t"}`:             "#/request/auth/bearer",
		`{"bearer":{"exists":true}}`: "",
	} {
		d := decoded(`{"mocks":[{"request":{"method":"GET","path":"/a","auth":` + auth + `},"response":{"status":200}}]}`)
		if d == nil {
			t.Errorf("%s is no condition", auth)
			continue
		}
		if got := toldAt(t, d, interchange.FormatOpenAPI); got != want {
			t.Errorf("%s tells of %q, wanted %q", auth, got, want)
		}
	}
}

// M-78: a simulation of a version that is not known is read like one that is, with a warning.
func TestM78_a_simulation_of_an_unknown_version_is_told_of(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"v5.2": "", "v3": "", "v9": `/data/meta/schemaVersion simulations of the version "v9"`} {
		_, told := importTold(t, `{"data":{"pairs":[{"request":{"path":[{"matcher":"exact","value":"/a"}]},"response":{"status":200}}]},"meta":{"schemaVersion":"`+version+`"}}`)
		if want = strings.TrimPrefix(want, "/data"); (want == "") != (told == "") || !strings.Contains(told, want) {
			t.Errorf("%s: %q", version, told)
		}
	}
}
