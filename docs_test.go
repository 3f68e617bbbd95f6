package mockbase_test

import (
	"os"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

// The page is written from the codes themselves, so that no code is without its explanation.
func TestDocs_errors_page(t *testing.T) {
	t.Parallel()
	testkit.Golden(t, "docs/errors.md", []byte(mockbase.ProblemsMarkdown()))
}

// The page for users of the library shows what the tests run (RL113), and says what limits do not do (RL134).
func TestRL134_the_page_of_the_limiter_says_what_it_does_not_do(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/ratelimit.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"volumetric", "bot nets with valid sessions"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/ratelimit.md does not say %q", want)
		}
	}
	example, err := os.ReadFile("ratelimit/httplimit/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	shown, _, _ := strings.Cut(strings.SplitAfterN(string(page), "```go\n", 2)[1], "http.Listen")
	for line := range strings.Lines(shown) {
		if line = strings.TrimSuffix(line, "{Store: store})\n"); !strings.Contains(string(example), strings.TrimSpace(line)) {
			t.Errorf("docs/ratelimit.md shows %q, which no example runs", line)
		}
	}
}
