package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
)

// tree writes an archive of files into a new folder and returns the folder.
func tree(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// load loads a folder and returns what is in it, with the folder cut off from all paths.
func load(t *testing.T, dir string, o files.Options) (set *files.Set, mocks, faults []string) {
	t.Helper()
	o.Paths = []string{dir}
	set, err := files.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range set.Projects {
		for _, m := range p.Definition.Mocks {
			mocks = append(mocks, p.Slug+" "+m.Name+" in "+m.Folder+" from "+strings.TrimPrefix(m.Origin, dir+"/"))
		}
	}
	for _, f := range set.Faults {
		faults = append(faults, strings.TrimPrefix(f.String(), dir+"/"))
	}
	return set, mocks, faults
}

func TestC22_files_are_found_below_the_folder_in_the_order_of_their_paths(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- b.yaml --
mocks: [{ request: GET /b, response: {} }]
-- a/z.yml --
mocks: [{ request: GET /z, response: {} }]
-- a.json --
{"project": "shop", "mocks": [{"request": "GET /a", "response": {}}, {"request": "GET /c", "response": {}, "folder": "own"}]}
-- a/deep/x.YAML --
project: shop
mocks:

  - request: GET /x
    response: {}
-- .hidden.yaml --
not: a definition
-- .git/config.yaml --
not: a definition
-- README.md --
# nothing
`)
	set, mocks, faults := load(t, dir, files.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	want := []string{
		"default get-z in a from a/z.yml:1",
		"default get-b in  from b.yaml:1",
		"shop get-a in  from a.json:1",
		"shop get-c in own from a.json:1",
		"shop get-x in a/deep from a/deep/x.YAML:4",
	}
	if diff := cmp.Diff(want, mocks); diff != "" {
		t.Error(diff)
	}
	if set.Files != 4 || len(set.Folders) != 3 {
		t.Errorf("%d files in %q", set.Files, set.Folders)
	}
	for _, p := range set.Projects {
		for _, m := range p.Definition.Mocks {
			if m.Folder != "" && !strings.Contains(string(m.Document), `"folder":"`+m.Folder+`"`) {
				t.Errorf("the document of %s lacks its folder: %s", m.Name, m.Document)
			}
		}
	}
}

func TestC22_the_project_of_the_command_line_wins_over_that_of_a_file(t *testing.T) {
	t.Parallel()
	dir := tree(t, "-- a.yaml --\nproject: shop\nmocks: [{ request: GET /a, response: {} }]\n")
	_, mocks, _ := load(t, dir, files.Options{Project: "other"})
	if diff := cmp.Diff([]string{"other get-a in  from a.yaml:2"}, mocks); diff != "" {
		t.Error(diff)
	}
}

func TestC22_links_are_followed_inside_the_folder_and_never_out_of_it(t *testing.T) {
	t.Parallel()
	outside := tree(t, "-- secret.yaml --\nmocks: [{ request: GET /secret, response: {} }]\n-- more/m.yaml --\nmocks: [{ request: GET /m, response: {} }]\n")
	// The layout is that of a mounted ConfigMap: visible names are links into a hidden folder.
	dir := tree(t, "-- ..data/a.yaml --\nmocks: [{ request: GET /a, response: {} }]\n-- sub/b.yaml --\nmocks: [{ request: GET /b, response: {} }]\n")
	for from, to := range map[string]string{
		"a.yaml": "..data/a.yaml", "out.yaml": filepath.Join(outside, "secret.yaml"), "outdir": filepath.Join(outside, "more"),
		"sub/up.yaml": "../../" + filepath.Base(outside) + "/secret.yaml", "sub/loop": "..", "gone.yaml": "nowhere.yaml",
	} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	_, mocks, faults := load(t, dir, files.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if diff := cmp.Diff([]string{"default get-a in  from a.yaml:1", "default get-b in sub from sub/b.yaml:1"}, mocks); diff != "" {
		t.Error(diff)
	}
}

func TestC22_every_fault_of_every_file_is_listed_with_its_place(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- a.yaml --
mocks:
  - request: GET /a
    respons: { text: hi }
  - request: GET /b
    response: { status: 99 }
-- b.yaml --
mocks: [
-- c.yaml --
-- d.json --
{"mocks": [{"request": "GET /d", "response": {}}]}
`)
	_, mocks, faults := load(t, dir, files.Options{})
	if diff := cmp.Diff([]string{"default get-a in  from a.yaml:2", "default get-b in  from a.yaml:4", "default get-d in  from d.json:1"}, mocks); diff != "" {
		t.Errorf("what can be read is there, to look for more: %s", diff)
	}
	want := []string{
		`a.yaml:3:5: mocks[0].respons: `, `a.yaml:5:25: mocks[1].response.status: `,
		"b.yaml:", "c.yaml:1:1: the file is empty [required]",
	}
	if len(faults) != len(want) {
		t.Fatalf("%d faults:\n%s", len(faults), strings.Join(faults, "\n"))
	}
	for i, prefix := range want {
		if !strings.HasPrefix(faults[i], prefix) {
			t.Errorf("fault %q, want one that begins %q", faults[i], prefix)
		}
	}
}

func TestLoad_says_which_path_is_missing(t *testing.T) {
	t.Parallel()
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), "files_test.go"} {
		if _, err := files.Load(files.Options{Paths: []string{path}}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := files.Load(files.Options{Paths: []string{filepath.Join(t.TempDir(), "none")}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that is not there: %v", err)
	}
}

func TestNames_are_unique_over_all_files_of_a_project(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- a.yaml --
mocks:
  - request: GET /a
    response: { text: first }
  - { name: named, request: GET /n, response: {} }
-- b.yaml --
mocks:
  - request: GET /a
    priority: 5
    response: { text: second }
-- c.yaml --
mocks:
  - { name: get-a, request: GET /c, response: {} }
`)
	set, mocks, faults := load(t, dir, files.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	want := []string{
		"default get-a-2 in  from a.yaml:2", "default named in  from a.yaml:4",
		"default get-a-3 in  from b.yaml:2", "default get-a in  from c.yaml:2",
	}
	if diff := cmp.Diff(want, mocks); diff != "" {
		t.Error(diff)
	}
	if m := set.Projects[0].Definition.Mocks[2]; m.Priority != 5 || string(m.Responses[0].Body.Bytes) != "second" {
		t.Errorf("the renamed mock is %s", m.Document)
	}

	dir = tree(t, "-- a.yaml --\nmocks: [{ name: a, request: GET /a, response: {} }]\n-- b.yaml --\nmocks:\n  - { name: a, request: GET /b, response: {} }\n")
	if _, _, faults = load(t, dir, files.Options{}); len(faults) != 1 || !strings.HasPrefix(faults[0], `b.yaml:2:5: the name "a" is taken by the mock at `) || !strings.HasSuffix(faults[0], "a.yaml:1 [unique]") {
		t.Errorf("faults %q", faults)
	}
}

func TestSections_of_several_files_are_joined(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- a.yaml --
settings: { trailingSlash: ignore }
variables: { a: 1 }
mocks: [{ request: GET /a, response: {} }]
-- b.yaml --
settings: { pathCase: ignore }
variables: { b: 2 }
mocks: [{ request: GET /b, response: {} }]
`)
	set, _, faults := load(t, dir, files.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	config := set.Projects[0].Definition.Config
	if !config.Settings.IgnorePathCase || config.Settings.TrailingSlash != "ignore" || len(config.Variables) != 2 {
		t.Errorf("joined: %+v", config)
	}

	dir = tree(t, "-- a.yaml --\nvariables: { a: 1 }\nmocks: [{ request: GET /a, response: {} }]\n-- b.yaml --\nvariables:\n  b: 1\n  a: 2\nmocks: []\n")
	if _, _, faults = load(t, dir, files.Options{}); len(faults) != 1 || !strings.HasPrefix(faults[0], "b.yaml:3:") || !strings.Contains(faults[0], "variables.a: is also said in ") {
		t.Errorf("faults %q", faults)
	}
}

func TestFinding_leads_back_from_the_joined_definition_to_the_file(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- a.yaml --
settings:
  compress: true
mocks: [{ request: GET /a, response: {} }, { request: GET /b, response: {} }]
-- b.yaml --
mocks:
  - request: GET /c
    response:
      status: 201
`)
	set, _, faults := load(t, dir, files.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	p := set.Projects[0]
	for pointer, want := range map[string]string{
		"#/mocks/2/response/status": "b.yaml:4:",
		"#/mocks/1/request":         "a.yaml:3:",
		"#/settings/compress":       "a.yaml:2:",
		"#/rateLimits":              "a.yaml: ",
	} {
		got := p.Findings(invalid(pointer))
		if len(got) != 1 || !strings.HasPrefix(strings.TrimPrefix(got[0].String(), dir+"/"), want) {
			t.Errorf("%s leads to %v, want %s", pointer, got, want)
		}
	}
	if got := p.Findings(errors.New("no room")); len(got) != 1 || got[0].String() != dir+": no room [internal]" {
		t.Errorf("another error leads to %v", got)
	}
}

func TestLoadFS_reads_a_file_system_that_is_not_on_disk(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{
		"sub/a.yaml": {Data: []byte("mocks: [{ request: GET /a, response: {} }]\n")},
		"sub/bad.go": {Data: []byte("package sub\n")},
	}
	set, err := files.LoadFS(fsys, "built-in", files.Options{Project: "demo"})
	if err != nil || len(set.Faults) > 0 || len(set.Projects) != 1 {
		t.Fatal(set, err)
	}
	if m := set.Projects[0].Definition.Mocks[0]; m.Origin != "built-in/sub/a.yaml:1" || m.Folder != "sub" {
		t.Errorf("loaded %+v", m)
	}
}

func TestReferences_are_judged_by_all_files_of_a_project(t *testing.T) {
	t.Parallel()
	const limits = "-- a.yaml --\nrateLimits: { partner: { limit: 5, window: 1m } }\ncollections: { authors: {} }\ndefaults: { template: true }\n"
	dir := tree(t, limits+"-- b.yaml --\nmocks:\n  - request: GET /b\n    rateLimit: { use: partner }\n    response: { text: '{{ now }}' }\ncollections: { posts: { relations: { authorId: { to: authors } }, rateLimit: { use: partner } } }\n")
	set, mocks, faults := load(t, dir, files.Options{})
	if len(faults)+len(set.Warnings) > 0 || len(mocks) != 1 {
		t.Errorf("%d mocks, faults %q, warnings %v", len(mocks), faults, set.Warnings)
	}

	const wrong = "-- b.yaml --\nmocks:\n  - request: GET /b\n    rateLimit: { use: partners }\n    response: {}\ncollections:\n  posts:\n    relations: { authorId: { to: people } }\n"
	dir = tree(t, limits+wrong)
	want := []string{
		`b.yaml:7:34: collections.posts.relations.authorId.to: there is no collection "people": it has authors or posts [reference]`,
		`b.yaml:3:23: mocks[0].rateLimit.use: rateLimits has no "partners", did you mean "partner"? [reference]`,
	}
	if _, _, faults = load(t, dir, files.Options{}); !slices.Equal(faults, want) {
		t.Errorf("faults %q", faults)
	}
	if _, _, faults = load(t, dir, files.Options{Partial: true}); len(faults) > 0 {
		t.Errorf("of a part of a project: %q", faults)
	}
	for name, broken := range map[string]string{"unreadable": "-- c.yaml --\nmocks: [\n", "another name": "-- c.yaml --\nratelimits: {}\ncollection: {}\n"} {
		dir = tree(t, wrong+broken)
		_, _, faults = load(t, dir, files.Options{})
		if slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, "[reference]") }) {
			t.Errorf("%s: %q", name, faults)
		}
	}
}

func TestFinding_leads_to_the_file_of_the_item(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- a.yaml --
settings: { compress: true }
collections: { posts: {} }
documents:
  - { name: a, inline: {} }
  - { name: b, inline: {} }
-- b.yaml --
settings:
  maxBody: 5
rateLimits:
  p: { limit: 1, window: 1m }
collections:
  authors: { path: /people }
documents:
  - name: c
    inline: {}
-- z.yaml --
openapi: 3.0.3
info: { title: z, version: "1" }
paths:
  /z: {}
`)
	set, _, faults := load(t, dir, files.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	p := set.Projects[0]
	for pointer, want := range map[string]string{
		"#/settings/maxBody":          "b.yaml:2:12: settings.maxBody",
		"#/settings/compress":         "a.yaml:1:23: settings.compress",
		"#/collections/authors/path":  "b.yaml:6:20: collections.authors.path",
		"#/collections/posts":         "a.yaml:2:23: collections.posts",
		"#/rateLimits/p/limit":        "b.yaml:4:15: rateLimits.p.limit",
		"#/documents/1/inline":        "a.yaml:5:24: documents[1].inline",
		"#/documents/2/inline/info":   "b.yaml:9:13: documents[0].inline.info",
		"#/documents/2":               "b.yaml:8:5: documents[0]",
		"#/documents/3/inline/paths":  "z.yaml:4:3: paths",
		"#/collections/unheard/of/it": "a.yaml:2:",
	} {
		got := p.Findings(invalid(pointer))
		if len(got) != 1 || !strings.HasPrefix(strings.TrimPrefix(got[0].String(), dir+"/"), want) {
			t.Errorf("%s leads to %v, want %s", pointer, got, want)
		}
	}

	dir = tree(t, "-- a.yaml --\ndocuments: [{ name: d, inline: {} }]\n-- b.yaml --\nmocks: []\ndocuments:\n  - { name: d, inline: {} }\n")
	if _, _, faults = load(t, dir, files.Options{}); len(faults) != 1 || faults[0] != `b.yaml:3:13: documents[0].name: another document is called "d" [unique]` {
		t.Errorf("faults %q", faults)
	}
}
