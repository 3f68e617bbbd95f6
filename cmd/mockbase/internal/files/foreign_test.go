package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
)

// C-80: a file of another tool is called what it is, with the command that makes a definition of it.
func TestC80_a_file_of_another_tool_is_told_from_a_faulty_definition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, says string }{
		"wiremock":   {`{"request":{"urlPath":"/a"},"response":{"status":200}}`, "a file of wiremock and no definition: mockbase import"},
		"mappings":   {`{"mappings":[]}`, "a file of wiremock"},
		"har":        {`{"log":{"version":"1.2","creator":{"name":"x"},"entries":[]}}`, "a file of har"},
		"mockserver": {`[{"httpRequest":{"path":"/a"},"httpResponse":{}}]`, "a file of mockserver"},
		"bare mock":  {`{"request":{"method":"GET"},"response":{"status":200}}`, "a document has at least one of mocks"},
		"bare":       {`{"request":"GET /a","response":{"text":"a"}}`, "a document has at least one of mocks"},
		"typo":       {`{"mock":[]}`, "unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.json")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			set, err := files.Load(files.Options{Paths: []string{path}})
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			for _, f := range set.Faults {
				told = append(told, f.String())
			}
			if all := strings.Join(told, "\n"); !strings.Contains(all, c.says) {
				t.Errorf("told %s", all)
			}
		})
	}
}
