package mockbase_test

import (
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

// The page is written from the codes themselves, so that no code is without its explanation.
func TestDocs_errors_page(t *testing.T) {
	t.Parallel()
	testkit.Golden(t, "docs/errors.md", []byte(mockbase.ProblemsMarkdown()))
}
