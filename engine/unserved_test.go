package engine_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// fieldCase says what becomes of one field of the mock format: a case proves that it is served, or it is refused.
type fieldCase struct {
	// proof is a case in testdata/exchange, without its ending.
	proof string
	// refused are the pointers of the refusals, separated by blanks, for the definition.
	refused, definition string
}

func served(proof string) fieldCase { return fieldCase{proof: proof} }

func refused(pointers, definition string) fieldCase {
	return fieldCase{refused: pointers, definition: definition}
}

const oneMock = "mocks: [{ request: GET /a, response: { text: a } }]\n"

func fileFields() map[string]fieldCase {
	return map[string]fieldCase{
		"version":     {definition: "version: 1\n" + oneMock},
		"project":     {definition: "project: shop\n" + oneMock},
		"variables":   served("template/P1-default-renders-everything"),
		"settings":    served("path/B11-case-ignored-on-request"),
		"defaults":    served("answer/O10-null-removes-a-default-header"),
		"rateLimits":  served("limit/X2-keys-and-buckets"),
		"scenarios":   refused("#/scenarios/a/key", "scenarios: { a: { key: \"template:{{ header `X` }}\" } }\n"+oneMock),
		"mocks":       served("route/A7-newest-wins-a-full-tie"),
		"collections": served("collection/V1-mocks-of-equal-path-win"),
		"documents":   served("document/W1-the-path-of-servers-is-a-prefix"),
	}
}

func settingsFields() map[string]fieldCase {
	return map[string]fieldCase{
		"trailingSlash":  served("path/B10-ignore-accepts-both"),
		"pathCase":       served("path/B11-case-ignored-on-request"),
		"emptySegments":  served("path/B9-merge-joins-empty-segments"),
		"strictMethods":  served("method/L1-strict-methods"),
		"cors":           served("cors/off-leaves-every-header-out"),
		"noMatch":        served("miss/M1-the-project-s-own-answer"),
		"fallback":       served("proxy/T14-fallback-is-asked-last"),
		"decisionHeader": served("miss/M7-switched-off"),
		"controlHeaders": served("miss/AA24-control-headers-off"),
		"compress":       served("answer/O14-compression"),
		"seed":           served("fault/Q14-garbage-follows-from-the-seed"),
		"maxBody":        served("answer/N8-body-over-the-limit-is-413"),
		"browserSandbox": served("answer/Y10-a-project-may-switch-the-sandbox-off"),
	}
}

func corsFields() map[string]fieldCase {
	return map[string]fieldCase{
		"origins":        served("cors/L17-origins-compare-exactly"),
		"credentials":    served("cors/L15-origin-is-repeated-with-credentials"),
		"exposeHeaders":  served("cors/L19-the-project-s-own-list"),
		"maxAge":         served("cors/L19-the-project-s-own-list"),
		"privateNetwork": served("cors/L19-the-project-s-own-list"),
	}
}

func noMatchFields() map[string]fieldCase {
	return map[string]fieldCase{
		"status":   served("miss/M1-the-project-s-own-answer"),
		"headers":  served("miss/M1-the-project-s-own-answer"),
		"json":     served("miss/M1-own-answer-without-a-status"),
		"text":     served("miss/M1-the-project-s-own-answer"),
		"base64":   served("miss/M1-own-answer-in-bytes"),
		"template": served("template/no-match-may-be-rendered"),
		"delay":    served("answer/Q2-no-match-may-wait"),
	}
}

func defaultsFields() map[string]fieldCase {
	return map[string]fieldCase{
		"template":  served("template/P1-default-renders-everything"),
		"headers":   served("answer/O10-null-removes-a-default-header"),
		"delay":     served("answer/Q2-delay-replaces-or-adds-to-the-default"),
		"rateLimit": served("limit/AA4-the-mark-may-be-left-out"),
	}
}

func mockFields() map[string]fieldCase {
	in := func(member string) string { return "mocks: [{ request: GET /a, " + member + " }]\n" }
	with := func(member string) string { return in(member + ", response: { text: a }") }
	return map[string]fieldCase{
		"name":        served("miss/M2-members-and-masked-secrets"),
		"description": {definition: with("description: words")},
		"folder":      {definition: with("folder: a/b")},
		"tags":        {definition: with("tags: [a, b]")},
		"enabled":     served("route/A10-disabled-mock-is-no-candidate"),
		"priority":    served("route/A3-larger-priority-wins"),
		"request":     served("route/A1-failing-candidate-does-not-end-the-search"),
		"scenario":    served("state/R4-states-of-a-scenario"),
		"state":       served("state/R4-states-of-a-scenario"),
		"times":       served("state/A11-used-up-mock-lets-the-next-answer"),
		"response":    served("route/A1-failing-candidate-does-not-end-the-search"),
		"responses":   served("state/R10-first-when-that-holds-else-the-default"),
		"select":      served("state/R1-sequence-and-its-ends"),
		"onEnd":       served("state/R1-sequence-and-its-ends"),
		"draw":        served("state/R9-exact-draw-spreads-evenly"),
		"rateLimit":   served("limit/X1-the-sixth-call-is-429-and-moves-nothing"),
		"headCounts":  served("state/L2-derived-head-consumes-like-get"),
		"readBody":    served("answer/N9-unread-body-is-passed-over"),
		"expect":      served("limit/AA32-clients-are-told-apart"),
	}
}

func requestFields() map[string]fieldCase {
	return map[string]fieldCase{
		"method":        served("route/A13-any-token-is-a-method"),
		"path":          served("path/B12-any-number-of-segments"),
		"pathMatches":   served("route/A5-path-matches-ranks-below-every-path"),
		"rawTarget":     served("query/C12-raw-target-compares-as-sent"),
		"host":          served("route/A12-host-ignores-case-port-and-trailing-dot"),
		"query":         served("query/C1-form-decoding-of-names-and-values"),
		"headers":       served("header/D1-names-ignore-case"),
		"cookies":       served("cookie/E1-lines-are-joined-and-split"),
		"matrix":        served("path/B16-matrix-parameters"),
		"strictQuery":   served("query/C10-strict-query-refuses-unmentioned-names"),
		"auth":          served("auth/D7-basic-and-bearer"),
		"body":          served("body/F1-matchers-see-the-whole-body"),
		"trailingSlash": served("path/B10-ignore-in-one-request"),
		"anyOf":         served("query/K8-conditions-nest"),
		"allOf":         served("query/K8-conditions-nest"),
		"not":           served("query/K8-conditions-nest"),
	}
}

func responseFields() map[string]fieldCase {
	return map[string]fieldCase{
		"name":        served("answer/response-name-is-recorded"),
		"when":        served("state/R10-first-when-that-holds-else-the-default"),
		"weight":      served("state/R9-exact-draw-spreads-evenly"),
		"times":       served("state/R1-sequence-and-its-ends"),
		"status":      served("answer/O1-every-status"),
		"headers":     served("answer/O6-names-as-written"),
		"trailers":    served("answer/O20-trailers"),
		"earlyHints":  served("answer/O1-early-hints"),
		"json":        served("answer/O16-json-is-compact-and-verbatim"),
		"text":        served("answer/O5-types-date-and-server"),
		"base64":      served("answer/O19-known-length-is-announced"),
		"file":        served("answer/O17-files-below-the-root"),
		"template":    served("template/P1-default-renders-everything"),
		"delay":       served("answer/Q2-delay-replaces-or-adds-to-the-default"),
		"stream":      served("stream/Q6-chunks-over-time"),
		"encode":      served("answer/O15-own-coding-and-encode"),
		"etag":        served("answer/O12-automatic-tag"),
		"conditional": served("answer/O11-conditional-requests"),
		"range":       served("answer/O13-ranges"),
		"fault":       served("fault/Q8-connection-faults"),
		"proxy":       served("proxy/T10-failures-say-why"),
		"sse":         served("stream/U1-event-stream-head"),
		"webSocket":   served("stream/U8-handshakes-that-are-none"),
		"setState":    served("state/R4-states-of-a-scenario"),
		"webhooks":    served("webhook/S6-addresses-that-may-not-be-called"),
	}
}

func operatorFields() map[string]fieldCase {
	return map[string]fieldCase{
		"equals":     served("query/K5-simple-folding"),
		"not":        served("query/C7-any-value-for-positive-none-for-negated"),
		"in":         served("query/K5-simple-folding"),
		"contains":   served("query/K9-a-list-is-and"),
		"startsWith": served("query/K9-a-list-is-and"),
		"endsWith":   served("query/K9-a-list-is-and"),
		"matches":    served("query/K1-whole-and-part"),
		"search":     served("query/K1-whole-and-part"),
		"exists":     served("query/K6-exists"),
		"gt":         served("query/D11-numbers-and-dates-read-strictly"),
		"gte":        served("query/D11-numbers-and-dates-read-strictly"),
		"lt":         served("query/D11-numbers-and-dates-read-strictly"),
		"lte":        served("query/D11-numbers-and-dates-read-strictly"),
		"before":     served("query/D11-numbers-and-dates-read-strictly"),
		"after":      served("query/D11-numbers-and-dates-read-strictly"),
		"type": refused("#/mocks/0/request/query/a/type",
			"mocks: [{ request: { path: /a, query: { a: { type: string } } }, response: { text: a } }]\n"),
		"mediaType":  served("header/D6-media-type"),
		"hasItem":    served("header/D4-has-item-splits-and-respects-quotes"),
		"every":      served("query/H4-every-and-count"),
		"all":        served("query/C8-list-operators"),
		"exactly":    served("query/C8-list-operators"),
		"ordered":    served("query/C8-list-operators"),
		"count":      served("query/H4-every-and-count"),
		"anyOf":      served("query/K8-logic-nests"),
		"allOf":      served("query/K8-logic-nests"),
		"ignoreCase": served("query/K5-simple-folding"),
	}
}

// Every field of the format is served or refused: nothing may be accepted and ignored.
func TestEveryFieldOfTheFormatIsServedOrRefused(t *testing.T) {
	t.Parallel()
	var schema map[string]any
	if err := json.Unmarshal(mockbase.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		at     string
		fields map[string]fieldCase
	}{
		{"properties", fileFields()},
		{"$defs settings properties", settingsFields()},
		{"$defs settings properties cors oneOf 1 properties", corsFields()},
		{"$defs plainResponse properties", noMatchFields()},
		{"properties defaults properties", defaultsFields()},
		{"$defs mock properties", mockFields()},
		{"$defs request oneOf 1 properties", requestFields()},
		{"$defs response properties", responseFields()},
		{"$defs operators properties", operatorFields()},
	} {
		known := slices.Sorted(maps.Keys(within(t, schema, part.at)))
		if named := slices.Sorted(maps.Keys(part.fields)); !slices.Equal(known, named) {
			t.Errorf("%s: the schema knows %q, the cases %q", part.at, known, named)
		}
		for _, name := range known {
			t.Run(strings.ReplaceAll(part.at, " ", "/")+"/"+name, func(t *testing.T) {
				t.Parallel()
				part.fields[name].check(t)
			})
		}
	}
}

// within follows a path through the schema.
func within(t *testing.T, schema map[string]any, path string) map[string]any {
	t.Helper()
	var value any = schema
	for name := range strings.FieldsSeq(path) {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			value = v[name[0]-'0']
		default:
			t.Fatalf("%s: nothing at %q", path, name)
		}
	}
	found, ok := value.(map[string]any)
	if !ok {
		t.Fatalf("%s: no object", path)
	}
	return found
}

func (f fieldCase) check(t *testing.T) {
	t.Helper()
	if f.proof != "" {
		if _, err := os.Stat("testdata/exchange/" + f.proof + ".txtar"); err != nil {
			t.Error(err)
		}
		return
	}
	var pointers []string
	for _, fault := range faultsOf(t, newEngine(t, engine.Options{}), f.definition) {
		pointers = append(pointers, fault.Pointer)
		name := fault.Pointer[strings.LastIndexByte(fault.Pointer, '/')+1:]
		if fault.Code == mockbase.FieldNotServed && fault.Detail != `"`+name+`" is not served by this version yet; leave it out` {
			t.Errorf("detail %q", fault.Detail)
		}
	}
	if got := strings.Join(pointers, " "); got != f.refused {
		t.Errorf("%s: refused at %q, want %q", f.definition, got, f.refused)
	}
}

// What the decoder lets pass, or a caller made by hand, is still checked before it is published.
func TestOperandsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	number := json.Number("ten")
	for name, c := range map[string]struct {
		operators mockbase.Operators
		want      string
	}{
		"equals an object":     {mockbase.Operators{Equals: json.RawMessage(`{}`)}, "type #/request/query/q/equals"},
		"in with a list":       {mockbase.Operators{In: []json.RawMessage{json.RawMessage(`[1]`)}}, "type #/request/query/q/in"},
		"a broken text":        {mockbase.Operators{Equals: json.RawMessage(`"\x"`)}, "type #/request/query/q/equals"},
		"a broken pattern":     {mockbase.Operators{Matches: text("(")}, "syntax #/request/query/q/matches"},
		"a bound that is none": {mockbase.Operators{GT: &number}, "type #/request/query/q/gt"},
		"a date that is none":  {mockbase.Operators{Before: text("soon")}, "pattern #/request/query/q/before"},
		"a type without slash": {mockbase.Operators{MediaType: text("json")}, "pattern #/request/query/q/mediaType"},
		"below not":            {mockbase.Operators{Not: &mockbase.Operators{Search: text("[")}}, "syntax #/request/query/q/not/search"},
		"below count":          {mockbase.Operators{Count: &mockbase.Operators{LT: &number}}, "type #/request/query/q/count/lt"},
		"below anyOf":          {mockbase.Operators{AnyOf: []mockbase.Operators{{}, {LTE: &number}}}, "type #/request/query/q/anyOf/1/lte"},
	} {
		m := textMock("a", "/a", "a")
		m.Request.Query = []mockbase.NamedMatch{{Name: "q", Match: mockbase.Match{c.operators}}}
		e := newEngine(t, engine.Options{})
		faults := e.CheckMock(&mockbase.Config{}, m)
		if len(faults) != 1 || string(faults[0].Code)+" "+faults[0].Pointer != c.want {
			t.Errorf("%s: %v, want %s", name, faults, c.want)
		}
		if err := e.Publish(&mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1"}, Mocks: []*mockbase.Mock{m}}); err == nil {
			t.Errorf("%s: published", name)
		}
	}
	for name, want := range map[string]string{"/a/{x": "syntax #/request/path", "/a/{x:(}": "syntax #/request/path"} {
		faults := newEngine(t, engine.Options{}).CheckMock(&mockbase.Config{}, textMock("a", name, "a"))
		if len(faults) != 1 || string(faults[0].Code)+" "+faults[0].Pointer != want {
			t.Errorf("%s: %v, want %s", name, faults, want)
		}
	}
	unseen := textMock("a", "/a", "a")
	unseen.Description, unseen.Folder = "one\n\ttwo \x1b[2J", "a\nb"
	if faults := newEngine(t, engine.Options{}).CheckMock(&mockbase.Config{}, unseen); len(faults) != 2 ||
		faults[0].Pointer != "#/description" || faults[1].Pointer != "#/folder" || faults[0].Code != mockbase.FieldPattern {
		t.Errorf("texts that cannot be shown: %v", faults)
	}
	odd := textMock("a", "/a", "a")
	odd.Request.Headers = []mockbase.NamedMatch{{Name: "a/b~c d", Match: mockbase.Match{{Matches: text("(")}}}}
	odd.Request.Shorthand = true
	if faults := newEngine(t, engine.Options{}).CheckMock(&mockbase.Config{}, odd); len(faults) != 1 || faults[0].Pointer != "#/request/headers/a~1b~0c%20d/matches" {
		t.Errorf("pointer of an odd name: %v", faults)
	}
}

func TestDefaultsOfWhatIsNotServedAreAccepted(t *testing.T) {
	t.Parallel()
	definition := `
variables: {}
settings: { compress: false, controlHeaders: true, browserSandbox: true, maxBody: 100 }
defaults: { template: false, rateLimit: none }
rateLimits: {}
mocks:
  - request: { path: /a, cookies: {}, trailingSlash: strict }
    select: rules
    rateLimit: none
    headCounts: true
    readBody: true
    responses:
      - { text: "{{ path.id }}", template: false, conditional: false, range: false, webhooks: [], trailers: {} }
`
	if faults := faultsOf(t, newEngine(t, engine.Options{}), definition); len(faults) > 0 {
		t.Error(faults)
	}
}
