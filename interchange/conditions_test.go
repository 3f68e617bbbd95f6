package interchange_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/interchange"
)

// M-78: nothing that cannot be read becomes a mock that answers everything. Each row is an entry that is broken; beside a
// good one it is imported disabled or not at all, with a warning at its place.
func TestM78_broken_entries_never_answer_and_are_always_told_of(t *testing.T) {
	t.Parallel()
	wrap := map[interchange.Format][2]string{
		interchange.FormatWireMock:   {`{"mappings":[{"request":{"method":"GET","urlPath":"/good"},"response":{"status":200}},`, `]}`},
		interchange.FormatMockServer: {`[{"httpRequest":{"method":"GET","path":"/good"},"httpResponse":{"statusCode":200}},`, `]`},
		interchange.FormatSmocker:    {`[{"request":{"method":"GET","path":"/good"},"response":{"status":200}},`, `]`},
		interchange.FormatHoverfly: {
			`{"data":{"pairs":[{"request":{"path":[{"matcher":"exact","value":"/good"}]},"response":{"status":200}},`, `]},"meta":{"schemaVersion":"v5.2"}}`,
		},
		interchange.FormatHAR: {
			`{"log":{"entries":[{"request":{"method":"GET","url":"http://h/good"},"response":{"status":200}},`, `]}}`,
		},
		interchange.FormatPostman: {
			`{"info":{"name":"c","schema":"https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},"item":[{"name":"good","request":{"method":"GET","url":"http://h/good"},"response":[{"name":"r","code":200}]},`, `]}`,
		},
		interchange.FormatMockoon: {
			`{"uuid":"e","lastMigration":33,"routes":[{"method":"get","endpoint":"good","responses":[{"statusCode":200,"body":"x"}]},`, `]}`,
		},
	}
	broken := map[interchange.Format][]string{
		interchange.FormatWireMock: {
			`null`, `5`, `[]`, `{}`, `{"response":{"status":200}}`, `{"request":null,"response":{}}`, `{"request":"x","response":{}}`,
			stub(`{"methodd":"GET","urlPathh":"/typo"}`), stub(`{"method":"GET","urlPath":null}`), stub(`{"urlPath":5}`),
			stub(`{"method":5,"urlPath":"/a"}`), stub(`{"urlPath":"/a","bodyPatterns":"x"}`), stub(`{"urlPath":"/a","headers":[]}`),
			stub(`{"urlPath":"/a","queryParameters":"x"}`), stub(`{"urlPath":"/a","bodyPatterns":[5]}`), stub(`{"urlPath":"/a","headers":{"X":[]}}`),
			stub(`{"urlPath":"/a","headers":{"X":{"equalToo":"x"}}}`), stub(`{"urlPath":"/a","bodyPatterns":[{"equalToJson":{},"typo":1}]}`),
			stub(`{"urlPath":"/a","basicAuth":{"user":"x"}}`), stub(`{"urlPath":"/a","urlPathh":"/b"}`),
			stub(`{"urlPath":"/a","bodyPatterns":[null]}`), stub(`{"urlPath":"/a","headers":{"X":null}}`),
			stub(`{"urlPath":"/a","multipartPatterns":[5]}`), stub(`{"urlPath":"/a","headers":{"X":{"equalTo":{}}}}`),
		},
		interchange.FormatMockServer: {
			`null`, `5`, `{"httpResponse":{}}`, expectationOf(`null`), expectationOf(`{"pathh":"/x"}`), expectationOf(`{"path":null}`),
			expectationOf(`{"path":5}`), expectationOf(`{"method":5,"path":"/a"}`), expectationOf(`{"path":"/a","headers":"x"}`),
			expectationOf(`{"path":"/a","queryStringParameters":5}`), expectationOf(`{"path":"/a","headers":{"X":[[]]}}`),
			expectationOf(`{"path":"/a","headers":[5]}`), expectationOf(`{"path":"/a","body":{"typ":"JSON","type":"NONE"}}`),
		},
		interchange.FormatSmocker: {
			`null`, `5`, `{"response":{}}`, stub(`null`), stub(`{"pathh":"/x"}`), stub(`{"path":null}`), stub(`{"path":5}`), stub(`{"path":"/a","headers":"x"}`),
			stub(`{"path":"/a","query_params":[]}`), stub(`{"path":"/a","body":5}`), stub(`{"path":{"matcherr":"ShouldEqual","value":"/x"}}`),
			stub(`{"path":{"matcher":"ShouldEqual"}}`), stub(`{"path":"/a","headers":{"X":{"value":"y"}}}`),
		},
		interchange.FormatHoverfly: {
			`null`, `5`, `{"response":{}}`, stub(`null`), stub(`{"pathh":[]}`), stub(`{"path":null}`), stub(`{"path":5}`), stub(`{"path":[{"matcherr":"exact","value":"/x"}]}`),
			stub(`{"path":"/a","headers":"x"}`), stub(`{"path":"/a","body":5}`), stub(`{"path":[{"matcher":"exact"}]}`), stub(`{"path":[]}`),
		},
		interchange.FormatHAR: {
			`null`, `5`, `{"response":{"status":200}}`, stub(`{"methodd":"GET","urll":"http://h/x"}`), stub(`{"method":"GET","url":5}`), stub(`{"method":5,"url":"http://h/x"}`),
		},
		interchange.FormatPostman: {
			`null`, `5`, `{"name":"x"}`, `{"name":"x","request":null}`, `{"name":"x","request":{"methodd":"GET","urll":"http://h/x"}}`,
			`{"name":"x","request":{"method":"GET","url":5}}`, `{"name":"x","request":{"method":5,"url":"http://h/x"}}`,
		},
		interchange.FormatMockoon: {
			`null`, `5`, route(`"methodd":"get"`), route(`"method":"get","endpointt":"x"`), route(`"method":"get","endpoint":null`),
			route(`"method":"get","endpoint":5`), route(`"method":5,"endpoint":"x"`),
		},
	}
	for format, entries := range broken {
		for _, entry := range entries {
			t.Run(string(format)+" "+entry, func(t *testing.T) {
				t.Parallel()
				r := importOf(t, wrap[format][0]+entry+wrap[format][1], interchange.Options{Format: format})
				checkBroken(t, r)
			})
		}
	}
}

func stub(request string) string { return `{"request":` + request + `,"response":{"status":200}}` }

func expectationOf(request string) string {
	return `{"httpRequest":` + request + `,"httpResponse":{"statusCode":200}}`
}

func route(members string) string {
	return `{` + members + `,"responses":[{"statusCode":200,"body":"x"}]}`
}

// checkBroken checks that the good entry answers alone, and that something is told of the second.
func checkBroken(t *testing.T, r *interchange.Result) {
	t.Helper()
	definition, err := r.Definition()
	if err != nil {
		t.Fatal(err)
	}
	enabled := 0
	for _, m := range definition.Mocks {
		if !m.Disabled {
			enabled++
		}
	}
	if enabled != 1 {
		t.Errorf("%d mocks are enabled: %s", enabled, r.JSON())
	}
	for _, w := range r.Warnings {
		if strings.Contains(w.Pointer+"/", "/1/") {
			return
		}
	}
	t.Errorf("nothing is told of the broken entry: %+v", r.Warnings)
}

// M-78: what a format says in so many words to mean everything stays a mock that answers everything.
func TestM78_everything_is_matched_where_the_source_says_so(t *testing.T) {
	t.Parallel()
	for format, text := range map[interchange.Format]string{
		interchange.FormatWireMock:   `{"mappings":[` + stub(`{"method":"ANY","urlPattern":".*"}`) + `,` + stub(`{"method":"ANY"}`) + `,` + stub(`{}`) + `]}`,
		interchange.FormatMockServer: `[` + expectationOf(`{}`) + `,` + expectationOf(`{"path":".*"}`) + `]`,
		interchange.FormatSmocker:    `[` + stub(`{"method":{"matcher":"ShouldMatch","value":".*"},"path":{"matcher":"ShouldMatch","value":".*"}}`) + `]`,
		interchange.FormatHoverfly:   `{"data":{"pairs":[` + stub(`{"path":[{"matcher":"glob","value":"*"}]}`) + `]}}`,
	} {
		r := importOf(t, text, interchange.Options{Format: format})
		definition, err := r.Definition()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range definition.Mocks {
			if m.Disabled {
				t.Errorf("%s: %s is disabled: %+v", format, m.Name, r.Warnings)
			}
		}
		if len(definition.Mocks) == 0 || len(r.Warnings) > 0 {
			t.Errorf("%s: %d mocks, warnings %+v", format, len(definition.Mocks), r.Warnings)
		}
	}
}

// M-162: one broken entry does not hide which tool wrote a list.
func TestM162_a_broken_entry_does_not_hide_the_format(t *testing.T) {
	t.Parallel()
	text := `[` + stub(`{"pathh":"/x"}`) + `,` + stub(`{"method":"GET","path":"/x"}`) + `]`
	format, err := interchange.Detect([]interchange.File{{Name: "source", Text: []byte(text)}})
	if err != nil || format != interchange.FormatSmocker {
		t.Fatalf("format %q, %v", format, err)
	}
}
