package mockbase_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/mockbase/mockbase"

// house says which packages there are and what each may import: ours by the path below the module, others by module
// path. The standard library is free to all. A package that stands in no row has no place in the house yet.
var house = []struct {
	pkg    string
	ours   []string
	others []string
}{
	{pkg: "", others: []string{"go.yaml.in/yaml/v3", "github.com/oklog/ulid/v2"}},
	{pkg: "ratelimit"},
	{pkg: "ratelimit/memstore", ours: []string{"ratelimit"}},
	{pkg: "ratelimit/redisstore", ours: []string{"ratelimit"}, others: []string{"github.com/redis/go-redis/v9"}},
	{pkg: "ratelimit/dialect", ours: []string{"ratelimit"}},
	{pkg: "ratelimit/httplimit", ours: []string{"ratelimit", "ratelimit/dialect"}},
	{pkg: "ratelimit/guard", ours: []string{"ratelimit"}},
	{pkg: "ratelimit/storetest", ours: []string{"ratelimit"}},
	{
		pkg: "engine",
		ours: []string{
			"",
			"ratelimit",
			"ratelimit/dialect",
			"engine/body",
			"engine/chance",
			"engine/collection",
			"engine/fault",
			"engine/jsonvalue",
			"engine/operator",
			"engine/outbound",
			"engine/parking",
			"engine/proxy",
			"engine/regex",
			"engine/session",
			"engine/simlimit",
			"engine/sse",
			"engine/tape",
			"engine/template",
			"engine/webhook",
			"engine/websocket",
		},
		others: []string{"github.com/andybalholm/brotli", "github.com/klauspost/compress"},
	},
	{pkg: "engine/body", ours: []string{"", "engine/jsonvalue", "engine/operator", "internal/schemawork"}, others: []string{
		"github.com/theory/jsonpath", "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text", "github.com/andybalholm/brotli",
		"github.com/antchfx/xmlquery", "github.com/antchfx/xpath", "github.com/klauspost/compress",
		"github.com/vektah/gqlparser/v2",
	}},
	{pkg: "engine/collection", ours: []string{"", "engine/body", "engine/jsonvalue", "engine/regex"}},
	{pkg: "engine/chance"},
	{pkg: "engine/fault"},
	{pkg: "engine/journal", ours: []string{""}},
	{
		pkg: "engine/template", ours: []string{"", "engine/chance", "engine/jsonvalue", "engine/regex"},
		others: []string{
			"github.com/antchfx/xpath", "github.com/brianvoe/gofakeit/v7", "github.com/cockroachdb/apd/v3", "github.com/oklog/ulid/v2", "github.com/theory/jsonpath",
		},
	},
	{pkg: "engine/tape", ours: []string{"", "engine/body", "engine/jsonvalue"}},
	{pkg: "engine/session", ours: []string{""}},
	{pkg: "engine/simlimit", ours: []string{"", "ratelimit", "ratelimit/dialect"}},
	{pkg: "engine/parking", ours: []string{"engine/fault"}},
	{pkg: "engine/proxy", ours: []string{"", "engine/outbound"}},
	{pkg: "engine/sse"},
	{pkg: "engine/websocket", ours: []string{"engine/fault"}, others: []string{"github.com/coder/websocket", "golang.org/x/sys"}},
	{pkg: "engine/webhook", ours: []string{"engine/outbound"}},
	{pkg: "engine/outbound", ours: []string{""}},
	{pkg: "engine/jsonvalue", ours: []string{""}},
	{pkg: "engine/operator", ours: []string{"", "engine/jsonvalue", "engine/regex", "internal/cputime"}},
	{pkg: "engine/regex"},
	{pkg: "openapi", ours: []string{"", "internal/schemawork"}, others: []string{"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text"}},
	{pkg: "interchange", ours: []string{"", "openapi", "ratelimit", "ratelimit/dialect", "engine/simlimit", "engine/template"}, others: []string{"golang.org/x/text"}},
	{pkg: "store", ours: []string{""}},
	{pkg: "store/sqlite", ours: []string{"", "store"}, others: []string{"modernc.org/sqlite", "github.com/pressly/goose/v3", "golang.org/x/sys"}},
	{pkg: "store/storetest", ours: []string{"", "store"}},
	{pkg: "management", ours: []string{"", "ratelimit", "interchange", "openapi", "management/auth", "management/catalog", "management/federation", "management/verdict"}, others: []string{"github.com/labstack/echo/v4"}},
	{pkg: "management/auth", ours: []string{""}, others: []string{"github.com/golang-jwt/jwt/v5", "golang.org/x/crypto", "golang.org/x/text"}},
	{pkg: "management/catalog", ours: []string{""}},
	{pkg: "management/federation", others: []string{"github.com/coreos/go-oidc/v3", "golang.org/x/oauth2"}},
	{pkg: "management/verdict", ours: []string{""}},
	{pkg: "web"},
	{pkg: "examples"},
	{pkg: "internal/cputime"},
	{pkg: "internal/schemawork", others: []string{"github.com/santhosh-tekuri/jsonschema/v6"}},
	{pkg: "internal/testkit", ours: []string{"", "internal/cputime"}, others: []string{"github.com/golang-jwt/jwt/v5", "github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "go.uber.org/goleak", "golang.org/x/sys"}},
	{pkg: "cmd/mockbase", ours: []string{"*"}, others: []string{"*"}},
}

// listedPackage is what `go list -json` says, whose capitals the decoder overlooks.
type listedPackage struct {
	ImportPath string   `json:"importPath"`
	Dir        string   `json:"dir"`
	Doc        string   `json:"doc"`
	Imports    []string `json:"imports"`
	GoFiles    []string `json:"goFiles"`
	Module     *struct {
		Path string `json:"path"`
	} `json:"module"`
}

func TestEveryPackageImportsOnlyWhatItsPlaceInTheHouseAllows(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		row := slices.IndexFunc(house, func(h struct {
			pkg    string
			ours   []string
			others []string
		},
		) bool {
			return h.pkg == name || h.pkg == "cmd/mockbase" && strings.HasPrefix(name, "cmd/mockbase/")
		})
		if row < 0 {
			t.Errorf("package %q stands in no row of the table: say in docs/architecture.md what it is for, and add it", name)
			continue
		}
		for _, imported := range p.Imports {
			checkImport(t, name, imported, house[row].ours, house[row].others)
		}
	}
}

func checkImport(t *testing.T, importer, imported string, ours, others []string) {
	t.Helper()
	if own, ok := strings.CutPrefix(imported, module); ok {
		if own = strings.TrimPrefix(own, "/"); !slices.Contains(ours, own) && !slices.Contains(ours, "*") {
			t.Errorf("%q imports %q: the layers allow it only %q", importer, own, ours)
		}
		return
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return
	}
	allowed := slices.ContainsFunc(others, func(o string) bool {
		return o == "*" || imported == o || strings.HasPrefix(imported, o+"/")
	})
	if !allowed {
		t.Errorf("%q imports %q: only %q are its libraries", importer, imported, others)
	}
}

func TestEveryPackageSaysInOneCommentWhatItIsFor(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		var commented []string
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if hasDoc(file) {
				commented = append(commented, name)
			}
		}
		if len(commented) != 1 {
			t.Errorf("package %s has %d package comments %q, want one", p.ImportPath, len(commented), commented)
		}
	}
}

func hasDoc(file *ast.File) bool {
	return file.Doc != nil && strings.TrimSpace(file.Doc.Text()) != ""
}

func TestGoModReplacesNothing(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "replace") || strings.HasPrefix(line, "exclude") {
			t.Errorf("go.mod: %s: whoever imports the limiter alone would not get it", strings.TrimSpace(line))
		}
	}
}

// SQLite is translated from C against one exact version of its C library; any other one corrupts quietly.
func TestTheCLibraryIsTheOneThatSQLiteAsksFor(t *testing.T) {
	t.Parallel()
	var sqlite struct {
		GoMod string `json:"goMod"`
	}
	if err := json.Unmarshal(goCommand(t, "list", "-m", "-json", "modernc.org/sqlite"), &sqlite); err != nil {
		t.Fatal(err)
	}
	wanted, err := os.ReadFile(sqlite.GoMod)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if w, h := requiredVersion(wanted, "modernc.org/libc"), requiredVersion(have, "modernc.org/libc"); w != h || w == "" {
		t.Errorf("modernc.org/libc is %q, and modernc.org/sqlite asks for %q", h, w)
	}
}

func requiredVersion(gomod []byte, path string) string {
	for line := range strings.Lines(string(gomod)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == path {
			return fields[1]
		}
	}
	return ""
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(goCommand(t, "list", "-json=ImportPath,Dir,Doc,Imports,GoFiles,Module", "./..."))))
	var all []listedPackage
	for {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
}

func goCommand(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go %q: %v\n%s", args, err, exit.Stderr)
		}
		t.Fatalf("go %q: %v", args, err)
	}
	return out
}
