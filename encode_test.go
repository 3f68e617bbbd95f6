package mockbase_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

// encode writes what was decoded.
func encode(tb testing.TB, d *mockbase.Definition, f mockbase.Format) []byte {
	tb.Helper()
	out, err := mockbase.EncodeDefinition(&mockbase.Project{Slug: d.Project, Config: d.Config}, d.Mocks, f)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// withoutPlaces compares what definitions say and not where they say it.
func withoutPlaces(d *mockbase.Definition) mockbase.Definition {
	plain := mockbase.Definition{Project: d.Project, Config: d.Config}
	for _, m := range d.Mocks {
		same := ignoreHistory(m)
		plain.Mocks = append(plain.Mocks, &same)
	}
	for _, w := range d.Warnings {
		w.Line, w.Column = 0, 0
		plain.Warnings = append(plain.Warnings, w)
	}
	return plain
}

func TestM160_a_definition_comes_back_as_it_was(t *testing.T) {
	t.Parallel()
	for _, file := range definitionFiles(t, "valid") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			d, err := mockbase.DecodeDefinition(readFile(t, file), formatOf(file))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []mockbase.Format{mockbase.FormatJSON, mockbase.FormatYAML} {
				out := encode(t, d, f)
				testkit.Golden(t, filepath.Join("testdata/definitions/encoded", filepath.Base(file)+".golden."+string(f)), out)
				again, err := mockbase.DecodeDefinition(out, f)
				if err != nil {
					t.Fatalf("%s: %v\n%s", f, err, out)
				}
				if diff := cmp.Diff(withoutPlaces(d), withoutPlaces(again)); diff != "" {
					t.Errorf("%s: what was read differs from what was written\n%s", f, diff)
				}
				if diff := cmp.Diff(string(out), string(encode(t, again, f))); diff != "" {
					t.Errorf("%s: written again it differs\n%s", f, diff)
				}
			}
		})
	}
}

func TestEncodeMockYAMLIsReadable(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, doc, want string }{
		{"blocks, not braces", `{"name":"a","request":"GET /users/{id}","tags":["x","z"]}`, "name: a\nrequest: GET /users/{id}\ntags:\n  - x\n  - z\n"},
		{"empty ones in place", `{"a":{},"b":[]}`, "a: {}\nb: []\n"},
		{"numbers keep their text", `[2.50,1e400,-0,1E+5,12345678901234567890]`, "- 2.50\n- 1e400\n- -0\n- 1E+5\n- 12345678901234567890\n"},
		{"what looks like a number is quoted", `["7","2.50","0x1f","1_000","1:30","2026-01-01",".5","+1","-"]`, `- "7"
- "2.50"
- "0x1f"
- "1_000"
- "1:30"
- "2026-01-01"
- ".5"
- "+1"
- "-"
`},
		{"so is what a YAML 1.1 reader takes for a boolean", `["yes","No","off","y","true","null","~",""]`, `- "yes"
- "No"
- "off"
- "y"
- "true"
- "null"
- "~"
- ""
`},
		{"durations and limits have no quotes", `["250ms","1m30s","5/10s","100/m"]`, "- 250ms\n- 1m30s\n- 5/10s\n- 100/m\n"},
		{"several lines are a block", `{"text":"line one\nline two\n"}`, "text: |\n  line one\n  line two\n"},
		{"also without a line break at the end", `{"text":"line one\n\n  line two"}`, "text: |-\n  line one\n\n    line two\n"},
		{"backslashes are not doubled", `{"matches":"[A-Z]{3}-\\d+","x":"a\"b"}`, "matches: '[A-Z]{3}-\\d+'\nx: 'a\"b'\n"},
		{"templates have double quotes", `{"x":"{{ path.id }}"}`, "x: \"{{ path.id }}\"\n"},
		{"what a block would lose is quoted", `["a \nb"," a\nb","\na\nb","a\tb\nc","a\n\n","a\r\nb"]`, `- "a \nb"
- " a\nb"
- "\na\nb"
- "a\tb\nc"
- "a\n\n"
- "a\r\nb"
`},
		{"keys too", `{"$.total":1,"$.a[*]":2,"f[x]":3,"":4,"a b":5,"a\nb":6,"200":7,"//a:b":8}`, `$.total: 1
$.a[*]: 2
f[x]: 3
"": 4
a b: 5
? "a\nb"
: 6
"200": 7
//a:b: 8
`},
		{"colons and comments", `["a: b","a:","a:b","a #b","# a","http://a.test:80/x#y"]`, `- "a: b"
- "a:"
- a:b
- "a #b"
- "# a"
- "http://a.test:80/x#y"
`},
		{"a scalar alone", `"a"`, "a\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := mockbase.EncodeMockYAML(json.RawMessage(c.doc))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if back := parsed(string(got), mockbase.FormatYAML, mockbase.ParseLimits{}); back != c.doc {
				t.Errorf("comes back as %s", back)
			}
		})
	}
}

func TestEncodeSaysWhichPartCannotBeRead(t *testing.T) {
	t.Parallel()
	if _, err := mockbase.EncodeMockYAML(json.RawMessage(`{`)); err == nil || !strings.HasPrefix(err.Error(), "read document: ") {
		t.Errorf("error is %v", err)
	}
	broken := &mockbase.Mock{Name: "a", Document: json.RawMessage(`{`)}
	if _, err := mockbase.EncodeDefinition(&mockbase.Project{}, []*mockbase.Mock{broken}, mockbase.FormatJSON); err == nil ||
		!strings.HasPrefix(err.Error(), "read mock a: ") {
		t.Errorf("error is %v", err)
	}
	for _, section := range []string{"settings", "documents"} {
		p := &mockbase.Project{Config: mockbase.Config{Source: map[string]json.RawMessage{section: json.RawMessage(`x`)}}}
		if _, err := mockbase.EncodeDefinition(p, nil, mockbase.FormatYAML); err == nil || !strings.HasPrefix(err.Error(), "read section "+section+": ") {
			t.Errorf("error is %v", err)
		}
	}
}

func TestAnEmptyProjectIsAValidDefinition(t *testing.T) {
	t.Parallel()
	for f, want := range map[mockbase.Format]string{
		mockbase.FormatJSON: "{\n  \"version\": 1,\n  \"project\": \"shop\",\n  \"mocks\": []\n}\n",
		mockbase.FormatYAML: "version: 1\nproject: shop\nmocks: []\n",
	} {
		out, err := mockbase.EncodeDefinition(&mockbase.Project{Slug: "shop"}, nil, f)
		if err != nil || string(out) != want {
			t.Errorf("%s: %v\n%s", f, err, out)
		}
		if _, err := mockbase.DecodeDefinition(out, f); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestDecodeConfigReadsTheSourceAgain(t *testing.T) {
	t.Parallel()
	for _, file := range definitionFiles(t, "valid") {
		d, err := mockbase.DecodeDefinition(readFile(t, file), formatOf(file))
		if err != nil {
			t.Fatal(err)
		}
		again, err := mockbase.DecodeConfig(d.Config.Source)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if diff := cmp.Diff(d.Config, again); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

func TestDecodeConfigFaultsHavePointersOfADefinition(t *testing.T) {
	t.Parallel()
	_, err := mockbase.DecodeConfig(map[string]json.RawMessage{
		"settings":   json.RawMessage(`{"trailingslash":"strict","maxBody":-1}`),
		"defaults":   json.RawMessage(`{"rateLimit":{"use":"nobody"}}`),
		"mocks":      json.RawMessage(`[]`),
		"rateLimits": json.RawMessage(`{"a":{"limit":1,"limit":2,"window":"1s"}}`),
	})
	want := `0:0: #/defaults/rateLimit/use: rateLimits has no "nobody": it has a [reference]
0:0: #/mocks: unknown key: known here are variables, settings, defaults, rateLimits, scenarios, collections, documents [unknown_key]
0:0: #/rateLimits/a/limit: the key "limit" is given twice, first in line 1, column 7 [duplicate_key]
0:0: #/settings/maxBody: must be at least 0, found -1 [range]
0:0: #/settings/trailingslash: unknown key, did you mean "trailingSlash"? [unknown_key]
`
	checkFields(t, err, want)
	_, err = mockbase.DecodeConfig(map[string]json.RawMessage{"settings": json.RawMessage(`{`)})
	if code := mockbase.ErrorCode(err); code != mockbase.CodeMalformedBody {
		t.Errorf("error is %v", err)
	}
}

func TestDecodeSettings(t *testing.T) {
	t.Parallel()
	c, err := mockbase.DecodeSettings(json.RawMessage(`{ "compress" : true }`))
	if err != nil || !c.Settings.Compress || string(c.Source["settings"]) != `{"compress":true}` {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = mockbase.DecodeSettings(json.RawMessage(`{"compres":true}`))
	checkFields(t, err, "0:0: #/settings/compres: unknown key, did you mean \"compress\"? [unknown_key]\n")
}

// checkFields compares the faults of an error.
func checkFields(tb testing.TB, err error, want string) {
	tb.Helper()
	if diff := cmp.Diff(want, string(faultLines(fieldsOf(tb, err)))); diff != "" {
		tb.Error(diff)
	}
}
