package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
)

func TestC41_files_travel_inside_the_definition(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- api/mocks.yaml --
mocks:
  - { name: logo, request: GET /logo, response: { file: ./logo.svg } }
  - { name: odd, request: GET /odd, response: { file: data.unknown, range: false, headers: { content-type: text/x-own } } }
  - { name: later, request: GET /later, response: { file: "{{ path.f }}.txt", template: true } }
  - name: strict
    request: { method: POST, path: /s, anyOf: [{ body: { schema: s.yaml } }] }
    responses: [{ when: { body: { schema: s.yaml } }, file: logo.svg }, { json: { file: logo.svg } }]
settings: { noMatch: { file: logo.svg } }
collections:
  posts: { seedFile: posts.json, schema: s.yaml }
-- api/logo.svg --
<svg/>
-- api/data.unknown --
{{ as it is }}
-- api/posts.json --
[{ "id": 1 }]
-- api/s.yaml --
type: object
-- other.yaml --
mocks: [{ name: other, request: GET /other, response: {} }]
`)
	set, mocks, faults := load(t, dir, files.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if len(mocks) != 5 || set.Files != 2 {
		t.Errorf("%d mocks in %d definitions: %q", len(mocks), set.Files, mocks)
	}
	definition := set.Projects[0].Definition
	byName := map[string]*mockbase.Mock{}
	for _, m := range definition.Mocks {
		byName[m.Name] = m
	}
	logo := byName["logo"].Responses[0]
	if string(logo.Body.Bytes) != "<svg/>\n" || logo.Body.Kind != mockbase.BodyBase64 || logo.Range == nil || !*logo.Range {
		t.Errorf("the logo is %+v", logo)
	}
	if diff := cmp.Diff([]mockbase.Header{{Name: "Content-Type", Values: []string{"image/svg+xml"}}}, logo.Headers); diff != "" {
		t.Error(diff)
	}
	odd := byName["odd"].Responses[0]
	if len(odd.Headers) != 1 || *odd.Range || string(odd.Body.Bytes) != "{{ as it is }}\n" {
		t.Errorf("what the author says wins: %+v", odd)
	}
	if later := byName["later"].Responses[0]; later.Body.Kind != mockbase.BodyFile {
		t.Errorf("a template is left to the server: %+v", later)
	}
	strict := byName["strict"]
	if got := string(strict.Request.AnyOf[0].Body.Schema); got != `{"type":"object"}` {
		t.Errorf("schema %s", got)
	}
	if got := string(strict.Responses[1].Body.Bytes); got != `{"file":"logo.svg"}` {
		t.Errorf("a body's own member was touched: %s", got)
	}
	if got := string(definition.Config.Collections[0].Seed); got != `[{"id":1}]` {
		t.Errorf("seed %s", got)
	}
	if got := string(definition.Config.Settings.NoMatch.Body.Bytes); got != "<svg/>\n" {
		t.Errorf("noMatch %q", got)
	}
}

func TestC41_what_a_definition_may_not_read(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, want string }{
		"a path upwards":           {"../secret", `must lie inside the folder`},
		"a path upwards, hidden":   {"a/../../secret", `must lie inside the folder`},
		"an absolute path":         {secret, `must lie inside the folder`},
		"a link that leads out":    {"link", `cannot be read`},
		"a missing file":           {"missing.json", `no such file`},
		"a folder":                 {"sub", `no ordinary file`},
		"a file that is too large": {"large", `more than 10485760 bytes`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t, "-- a.yaml --\nmocks:\n  - request: GET /a\n    response: { file: "+c.file+" }\n-- sub/x --\n")
			if err := os.Symlink(secret, filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "large"), make([]byte, 10<<20+1), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, faults := load(t, dir, files.Options{})
			if len(faults) != 1 || !strings.Contains(faults[0], c.want) || !strings.HasPrefix(faults[0], "a.yaml:3:23:") {
				t.Errorf("faults %q, want one at a.yaml:3:23 that says %q", faults, c.want)
			}
		})
	}
}

func TestC41_faults_keep_their_places_in_a_file_with_other_files_inside(t *testing.T) {
	t.Parallel()
	dir := tree(t, "-- a.yaml --\nmocks:\n  - request: GET /a\n    response: { file: x.txt }\n  - request: GET /b\n    respons: {}\n-- x.txt --\nx\n")
	_, _, faults := load(t, dir, files.Options{})
	if len(faults) == 0 || !strings.HasPrefix(faults[0], "a.yaml:5:14:") {
		t.Errorf("faults %q", faults)
	}
}

func TestC41_files_of_an_embedded_definition(t *testing.T) {
	t.Parallel()
	set, err := files.LoadFS(fstest.MapFS{
		"sub/a.yaml": {Data: []byte("mocks: [{ request: GET /a, response: { file: x.json } }]")},
		"sub/x.json": {Data: []byte("[1, 2.0]")},
	}, "inside", files.Options{})
	if err != nil || len(set.Faults) > 0 {
		t.Fatal(err, set.Faults)
	}
	if got := string(set.Projects[0].Definition.Mocks[0].Responses[0].Body.Bytes); got != "[1, 2.0]" {
		t.Errorf("body %s", got)
	}
}
