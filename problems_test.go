package mockbase_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

// declaredCodes reads the constants of type Code out of a file.
func declaredCodes(tb testing.TB, file string) []mockbase.Code {
	tb.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		tb.Fatal(err)
	}
	var codes []mockbase.Code
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, named := spec.Type.(*ast.Ident); !named || kind.Name != "Code" {
			return true
		}
		for _, value := range spec.Values {
			literal, isLiteral := value.(*ast.BasicLit)
			if !isLiteral {
				tb.Fatalf("%v is no literal", spec.Names)
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				tb.Fatal(err)
			}
			codes = append(codes, mockbase.Code(text))
		}
		return true
	})
	return codes
}

func TestM6_every_code_has_a_page_and_every_page_a_code(t *testing.T) {
	t.Parallel()
	declared := slices.Concat(declaredCodes(t, "errors.go"), declaredCodes(t, "warnings.go"))
	if len(declared) < 50 {
		t.Fatalf("found %d codes", len(declared))
	}
	pages := map[mockbase.Code]mockbase.ProblemPage{}
	for _, p := range mockbase.Problems() {
		if _, twice := pages[p.Code]; twice {
			t.Errorf("%s has two pages", p.Code)
		}
		pages[p.Code] = p
		if !slices.Contains(declared, p.Code) {
			t.Errorf("the page %s belongs to no code", p.Code)
		}
		for name, text := range map[string]string{"meaning": p.Meaning, "fix": p.Fix} {
			if !strings.HasSuffix(text, ".") {
				t.Errorf("the %s of %s is no sentence: %q", name, p.Code, text)
			}
		}
		isWarning := slices.Contains(declaredCodes(t, "warnings.go"), p.Code)
		if p.Title == "" || isWarning != (p.Status == 0) || !isWarning && (p.Status < 400 || p.Status > 599) {
			t.Errorf("the page %s has the title %q and status %d", p.Code, p.Title, p.Status)
		}
	}
	for _, code := range declared {
		if _, found := pages[code]; !found {
			t.Errorf("the code %s has no page", code)
		}
	}
}

func TestProblemsMarkdownHasAnAnchorForEachCode(t *testing.T) {
	t.Parallel()
	text := mockbase.ProblemsMarkdown()
	for _, p := range mockbase.Problems() {
		if strings.Count(text, "\n## "+string(p.Code)+"\n") != 1 {
			t.Errorf("no heading for %s", p.Code)
		}
		if !strings.Contains(text, p.Meaning) || !strings.Contains(text, p.Fix) {
			t.Errorf("%s is not explained", p.Code)
		}
	}
	if !strings.HasPrefix(text, "# Errors\n") || !strings.HasSuffix(text, ".\n") || strings.Contains(text, "\n\n\n") {
		t.Error("the document is not well-formed")
	}
}
