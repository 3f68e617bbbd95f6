package interchange_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
)

var golden = flag.Bool("golden", false, "write the golden files anew")

// told writes down what an import made: the definition as YAML, then each warning with its place.
func told(t *testing.T, r *interchange.Result) string {
	t.Helper()
	definition, err := mockbase.EncodeMockYAML(json.RawMessage(r.JSON()))
	if err != nil {
		t.Fatalf("write the definition: %v", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s %q, %d found\n%s", r.Format, r.Title, r.Found, definition)
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "# %s:%d: %s [%s]\n", w.Pointer, w.Line, w.Detail, w.Code)
	}
	return b.String()
}

// compareGolden imports a sample and compares what came of it with the file beside it. With the flag golden it writes
// that file.
func compareGolden(t *testing.T, format interchange.Format, sample string) {
	t.Helper()
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	r, err := interchange.Import(t.Context(), []interchange.File{{Name: filepath.Base(sample), Text: text}}, interchange.Options{})
	if err != nil {
		t.Fatalf("import: %v", err)
	}
	if r.Format != format {
		t.Errorf("taken for %s, want %s", r.Format, format)
	}
	if _, err := r.Definition(); err != nil {
		t.Errorf("the definition is not valid: %v", err)
	}
	got, file := told(t, r), strings.TrimSuffix(sample, filepath.Ext(sample))+".golden"
	if *golden {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestM78_samples_of_saved_requests_become_what_is_written_beside_them(t *testing.T) {
	t.Parallel()
	for _, format := range []interchange.Format{interchange.FormatPostman, interchange.FormatHAR, interchange.FormatMockoon, interchange.FormatCURL} {
		samples, err := filepath.Glob(filepath.Join("testdata", string(format), "*"))
		if err != nil || len(samples) == 0 {
			t.Fatalf("%s has no samples: %v", format, err)
		}
		for _, sample := range samples {
			if filepath.Ext(sample) == ".golden" {
				continue
			}
			t.Run(sample, func(t *testing.T) {
				t.Parallel()
				compareGolden(t, format, sample)
			})
		}
	}
}

func FuzzSavedRequests(f *testing.F) {
	for _, format := range []interchange.Format{interchange.FormatPostman, interchange.FormatHAR, interchange.FormatMockoon, interchange.FormatCURL} {
		samples, err := filepath.Glob(filepath.Join("testdata", string(format), "*"))
		if err != nil {
			f.Fatal(err)
		}
		for _, sample := range samples {
			if filepath.Ext(sample) == ".golden" {
				continue
			}
			text, err := os.ReadFile(sample)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(format), text)
		}
	}
	f.Add("curl", []byte(`curl 'http://x/$(y)' -d @- --json '{"a":`))
	f.Add("postman", []byte(`{"info":{},"item":[{"request":"{{a}}/{{b}}{{c}}/:/x"}]}`))
	f.Add("mockoon", []byte(`{"uuid":"","routes":[{"endpoint":"(a|b)/:x?","responses":[{"body":"{{#repeat 2}}{{faker 'x'}}"}]}]}`))
	f.Fuzz(func(t *testing.T, format string, text []byte) {
		r, err := interchange.Import(t.Context(), []interchange.File{{Text: text}}, interchange.Options{Format: interchange.Format(format)})
		if err != nil {
			return
		}
		if _, err := r.Definition(); err != nil {
			t.Errorf("the definition is not valid: %v\n%s", err, r.JSON())
		}
	})
}

func TestM78_sources_that_grow_when_they_are_read_stay_within_bounds(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`{{data 'b'}}`, 1000)
	for name, text := range map[string]string{
		"variables that name themselves": `{"info":{},"variable":[{"key":"a","value":"` + strings.Repeat("{{a}}", 2000) + `"}],"item":[{"request":"http://x/{{a}}"}]}`,
		"buckets that name each other": `{"uuid":"e","data":[{"id":"b","value":"` + many + `"}],"routes":[{"endpoint":"a","responses":[{"default":true,"body":"` +
			many + `"}]}]}`,
		"a command of many words": "curl http://x/ " + strings.Repeat("-d a ", 200_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := interchange.Import(t.Context(), []interchange.File{{Text: []byte(text)}}, interchange.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Definition(); err != nil {
				t.Error(err)
			}
		})
	}
}
