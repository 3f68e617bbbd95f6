package interchange_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/template"
	"github.com/mockbase/mockbase/interchange"
	"github.com/mockbase/mockbase/internal/testkit"
)

// importOf imports one file.
func importOf(tb testing.TB, text string, o interchange.Options) *interchange.Result {
	tb.Helper()
	r, err := interchange.Import(tb.Context(), []interchange.File{{Name: "source", Text: []byte(text)}}, o)
	if err != nil {
		tb.Fatalf("import: %v", err)
	}
	return r
}

// M-78: what comes of a file of each tool, and what is told of the rest.
func TestM78_samples_of_each_tool(t *testing.T) {
	t.Parallel()
	samples, err := filepath.Glob("testdata/import/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range samples {
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			r := importOf(t, string(text), interchange.Options{})
			definition, err := r.Definition()
			if err != nil {
				t.Fatalf("the definition does not decode: %v", err)
			}
			checkTemplates(t, definition)
			var got bytes.Buffer
			fmt.Fprintf(&got, "# %s: %d of %d entries\n", r.Format, r.Mocks(), r.Found)
			for _, w := range r.Warnings {
				fmt.Fprintf(&got, "# %d:%d %s [%s] %s\n", w.Line, w.Column, w.Pointer, w.Code, w.Detail)
			}
			yaml, err := mockbase.EncodeMockYAML(r.JSON())
			if err != nil {
				t.Fatal(err)
			}
			got.Write(yaml)
			testkit.Golden(t, name+".golden", got.Bytes())
		})
	}
}

// checkTemplates compiles what was translated: a template that does not compile would be refused when it is saved.
func checkTemplates(t *testing.T, d *mockbase.Definition) {
	t.Helper()
	for _, m := range d.Mocks {
		for i := range m.Responses {
			r := &m.Responses[i]
			if r.Template == nil || !*r.Template {
				continue
			}
			if r.Body.Kind != mockbase.BodyText {
				continue
			}
			if _, err := template.Compile(string(r.Body.Bytes)); err != nil {
				t.Errorf("%s: %v\n%s", m.Name, err, r.Body.Bytes)
			}
		}
	}
}

func TestM162_a_prefix_goes_before_every_path(t *testing.T) {
	t.Parallel()
	r := importOf(t, `{"mappings":[
		{"request":{"urlPath":"/a"},"response":{}},
		{"request":{"url":"/b?x=1"},"response":{}},
		{"request":{"urlPathPattern":"/c|/d"},"response":{"proxyBaseUrl":"https://up.example.com"}}]}`, interchange.Options{Prefix: "/v1"})
	d, err := r.Definition()
	if err != nil {
		t.Fatal(err)
	}
	got := []string{d.Mocks[0].Request.Path, d.Mocks[1].Request.RawTarget, d.Mocks[2].Request.PathMatches, d.Mocks[2].Responses[0].Proxy.StripPrefix}
	if want := "/v1/a /v1/b?x=1 /v1(?:/c|/d) /v1"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
	for _, prefix := range []string{"v1", "/v1/", "/v{1}", "/a?b"} {
		_, err := interchange.Import(t.Context(), []interchange.File{{Text: []byte(`{"mappings":[]}`)}}, interchange.Options{Prefix: prefix})
		if mockbase.ErrorCode(err) != mockbase.CodeInvalidParameter {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}

func TestM162_formats_are_found_out(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]interchange.Format{
		`{"openapi":"3.1.0"}`: interchange.FormatOpenAPI, `swagger: "2.0"`: interchange.FormatOpenAPI,
		`{"info":{"schema":"https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},"item":[]}`: interchange.FormatPostman,
		`{"collection":{"info":{"schema":"https://schema.postman.com/x"},"item":[]}}`:                          interchange.FormatPostman,
		`{"log":{"entries":[]}}`: interchange.FormatHAR, `{"uuid":"1","lastMigration":33,"routes":[]}`: interchange.FormatMockoon,
		`{"data":{"pairs":[]},"meta":{}}`: interchange.FormatHoverfly, `{"httpRequest":{},"httpResponse":{}}`: interchange.FormatMockServer,
		`[{"httpRequest":{}}]`: interchange.FormatMockServer, `{"mappings":[]}`: interchange.FormatWireMock,
		`{"request":{"urlPath":"/a"},"response":{}}`: interchange.FormatWireMock, "- request: {path: /a}\n  response: {}": interchange.FormatSmocker,
		`{"mocks":[]}`: interchange.FormatMockBase, `{"posts":[],"me":{}}`: interchange.FormatJSONServer,
		"curl https://example.com/a": interchange.FormatCURL,
	} {
		if got, err := interchange.Detect([]interchange.File{{Text: []byte(text)}}); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}

// bomb is an archive that unpacks to more than may be.
func bomb(tb testing.TB) []byte {
	tb.Helper()
	return packed(tb, map[string][]byte{"mappings/a.json": bytes.Repeat([]byte(" "), interchange.MaxBytes+1)})
}

func packed(tb testing.TB, files map[string][]byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := f.Write(text); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestM162_hostile_sources_are_bounded(t *testing.T) {
	t.Parallel()
	var aliases bytes.Buffer
	aliases.WriteString("a: &a [x,x,x,x,x,x,x,x,x]\n")
	for c := 'b'; c <= 'j'; c++ {
		fmt.Fprintf(&aliases, "%c: &%c [%s]\n", c, c, strings.Repeat("*"+string(c-1)+",", 9))
	}
	for name, sent := range map[string]struct {
		text []byte
		code mockbase.Code
	}{
		"nothing":               {nil, mockbase.CodeMalformedBody},
		"no document":           {[]byte(`{"mappings":`), mockbase.CodeMalformedBody},
		"no UTF-8":              {[]byte("{\"a\":\"\xff\"}"), mockbase.CodeMalformedBody},
		"a scalar":              {[]byte("words"), mockbase.CodeFormatNotRecognised},
		"too deep":              {[]byte(strings.Repeat("[", 5000) + strings.Repeat("]", 5000)), mockbase.CodeMalformedBody},
		"a YAML bomb":           {aliases.Bytes(), mockbase.CodeMalformedBody},
		"a zip bomb":            {bomb(t), mockbase.CodeBodyTooLarge},
		"a name that leads out": {packed(t, map[string][]byte{"../../etc/passwd": []byte("x")}), mockbase.CodeMalformedBody},
		"a broken archive":      {[]byte("PK\x03\x04rubbish"), mockbase.CodeMalformedBody},
		"too long":              {bytes.Repeat([]byte("x"), interchange.MaxBytes+1), mockbase.CodeBodyTooLarge},
	} {
		_, err := interchange.Import(t.Context(), []interchange.File{{Text: sent.text}}, interchange.Options{})
		if mockbase.ErrorCode(err) != sent.code {
			t.Errorf("%s: %v, want %s", name, err, sent.code)
		}
	}
}

func TestM78_one_entry_never_spoils_the_others(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`{"mappings":[{"request":{"urlPath":"/a"},"response":{}},null,7,"x",[],{"request":3},{"request":{"urlPath":["/a"]},"response":{"status":"abc","headers":7}}]}`: 1,
		`[{"httpRequest":{"path":"/a"},"httpResponse":{}},3,{"httpRequest":7,"httpResponse":{"statusCode":99}}]`:                                                       1,
		`[{"request":{"path":"/a"},"response":{}},{"request":{"path":"/b"},"response":{"delay":"soon"}},5]`:                                                            1,
		`{"data":{"pairs":[{"request":{"path":[{"matcher":"exact","value":"/a"}]},"response":{}},4,{"request":{},"response":{"status":1}}]}}`:                          1,
	} {
		r := importOf(t, text, interchange.Options{})
		if r.Mocks() < want || len(r.Warnings) == 0 {
			t.Errorf("%s: %d mocks, %v", text, r.Mocks(), r.Warnings)
		}
		if _, err := r.Definition(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestM78_a_folder_brings_its_bodies(t *testing.T) {
	t.Parallel()
	files := []interchange.File{
		{Name: "mappings/a.json", Text: []byte(`{"request":{"urlPath":"/a"},"response":{"bodyFileName":"deep/a.bin"}}`)},
		{Name: "mappings/b.json", Text: []byte(`{"request":{"urlPath":"/b"},"response":{"bodyFileName":"../../secret"}}`)},
		{Name: "__files/deep/a.bin", Text: []byte{0xff, 0xfe}},
		{Name: "__files/other.json", Text: []byte(`{"not": "a mapping"}`)},
		{Name: "mappings/broken.json", Text: []byte(`{`)},
	}
	r, err := interchange.Import(t.Context(), files, interchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(r.JSON()); r.Mocks() != 2 || !strings.Contains(text, `"base64":"//4="`) {
		t.Errorf("%s", text)
	}
	if len(r.Warnings) != 2 || r.Warnings[0].File != "mappings/b.json" || r.Warnings[1].File != "mappings/broken.json" {
		t.Errorf("%+v", r.Warnings)
	}
}

func TestM78_an_import_ends_with_its_context(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := interchange.Import(ctx, []interchange.File{{Text: []byte(`{"mappings":[{"request":{"urlPath":"/a"},"response":{}}]}`)}}, interchange.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestM78_what_a_caller_refuses_is_dropped_with_its_place(t *testing.T) {
	t.Parallel()
	r := importOf(t, "{\"mappings\":[{\"request\":{\"urlPath\":\"/a\"},\"response\":{}},\n{\"request\":{\"urlPath\":\"/b\"},\"response\":{}}]}", interchange.Options{})
	if !r.Drop([]mockbase.FieldError{{Pointer: "#/mocks/1/response", Code: mockbase.FieldConflict, Detail: "is not served"}}) || r.Mocks() != 1 {
		t.Errorf("%d mocks", r.Mocks())
	}
	if w := r.Warnings[0]; w.Pointer != "#/mappings/1" || w.Line != 2 || r.Place(0).Pointer != "#/mappings/0" {
		t.Errorf("%+v", w)
	}
	if r.Drop([]mockbase.FieldError{{Pointer: "#/settings/x"}}) {
		t.Error("something was dropped that is not there")
	}
}

// FuzzImport holds every format to its contract: no panic, and a definition that decodes.
func FuzzImport(f *testing.F) {
	samples, err := filepath.Glob("testdata/import/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range samples {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "auto")
	}
	f.Add([]byte(`{"request":{"url":"{{"},"response":{"transformers":["response-template"],"body":"{{#each a}}{{../b.[c d]}}{{else if x}}{{/each}}"}}`), "wiremock")
	f.Fuzz(func(t *testing.T, text []byte, format string) {
		if len(text) > 64<<10 {
			return
		}
		r, err := interchange.Import(t.Context(), []interchange.File{{Text: text}}, interchange.Options{Format: interchange.Format(format)})
		if err != nil {
			if _, known := errors.AsType[*mockbase.Error](err); !known {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		definition, err := r.Definition()
		if err != nil {
			t.Fatalf("the definition does not decode: %v\n%s", err, r.JSON())
		}
		if !json.Valid(r.JSON()) {
			t.Fatal("the definition is no JSON")
		}
		checkTemplates(t, definition)
	})
}
