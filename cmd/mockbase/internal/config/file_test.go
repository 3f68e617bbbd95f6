package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

func show(v any) string { return fmt.Sprint(v) }

func TestNewReader_says_when_the_file_is_not_there(t *testing.T) {
	t.Parallel()
	if _, err := config.NewReader(nil, filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestNewReader_names_the_place_of_what_it_cannot_read(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"# nothing\n":                  "",
		"- addr\n":                     "mockbase.yaml:1:1: a configuration file holds keys and values, not a list [type]",
		"addr: \":1\"\naddr: \":2\"\n": "mockbase.yaml:2:1: ",
		"addr: [\n":                    "mockbase.yaml:",
		"addr: null\n":                 "",
	} {
		got := read(t, text+"\n", nil)
		if all := strings.Join(got.faults, "\n"); !strings.HasPrefix(all, want) || want == "" && all != "" {
			t.Errorf("%q: said %q, want %q", text, all, want)
		}
	}
}

// The configuration file is written by people: nothing in it may do more than be refused.
func FuzzNewReader(f *testing.F) {
	for _, seed := range []string{"addr: :1", "a: [1, 2]", "x: {y: z}", "&a [*a]", "\xff", "engineLimit: 120/60s\n\tmaxBody: 1"} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "fuzz.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		reader, err := config.NewReader(nil, path)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range reader.Faults() {
			if !strings.HasPrefix(fault.String(), path) {
				t.Errorf("a fault without a place: %s", fault)
			}
		}
	})
}
