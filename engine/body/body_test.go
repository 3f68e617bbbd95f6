package body_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/body"
)

// decode reads a body match from its JSON text.
func decode(tb testing.TB, text string) *mockbase.BodyMatch {
	tb.Helper()
	m, err := mockbase.DecodeMock([]byte(`{"request":{"method":"POST","path":"/","body":`+text+`},"response":{}}`), mockbase.FormatJSON)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return m.Request.Body
}

func compile(tb testing.TB, text string) *body.Matcher {
	tb.Helper()
	var faults mockbase.Faults
	m := body.Compile(decode(tb, text), "#/request/body", &faults)
	if err := faults.Err(); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return m
}

// refused returns the faults of a match as lines.
func refused(tb testing.TB, text string) []string {
	tb.Helper()
	var faults mockbase.Faults
	body.Compile(decode(tb, text), "#/request/body", &faults)
	var lines []string
	for _, f := range faults.Fields() {
		lines = append(lines, f.Pointer+" "+string(f.Code)+": "+f.Detail)
	}
	return lines
}

func message(text string) *body.Message { return body.New([]byte(text), nil) }

// matches is a table of bodies and whether a match holds for them.
type matches []struct {
	rule, match, body string
	want              bool
}

func (list matches) run(t *testing.T) {
	t.Helper()
	for _, c := range list {
		m := compile(t, c.match)
		if got := m.Holds(message(c.body)); got != c.want {
			t.Errorf("%s: %s on %.80q is %t", c.rule, c.match, c.body, got)
		}
		all := true
		for _, f := range m.Findings(message(c.body)) {
			all = all && f.Holds
			if !f.Holds && (f.Operator == "" || f.Part != "body" || f.Name == "") {
				t.Errorf("%s: %s on %.80q is explained by %+v", c.rule, c.match, c.body, f)
			}
		}
		if all != c.want {
			t.Errorf("%s: %s on %.80q: the findings say %t", c.rule, c.match, c.body, all)
		}
	}
}

func TestF_bodies_and_bytes(t *testing.T) {
	t.Parallel()
	matches{
		{"F6 a byte order mark is ignored", `{"jsonExact":{"a":1}}`, "\xEF\xBB\xBF{\"a\":1}", true},
		{"F6 UTF-16 with a mark", `{"jsonExact":{"a":1}}`, "\xFE\xFF\x00{\x00\"\x00a\x00\"\x00:\x001\x00}", true},
		{"F6 UTF-16 without a mark", `{"jsonExact":{"a":1}}`, "\x00{\x00\"\x00a\x00\"\x00:\x001\x00}", false},
		{"F7 there is no normalisation", `{"json":"é"}`, "\"e\u0301\"", false},
		{"F8 nothing is empty", `{"empty":true}`, "", true},
		{"F8 a blank is not", `{"empty":true}`, " ", false},
		{"F8 something is not empty", `{"empty":false}`, "x", true},
		{"F8 nothing is not something", `{"empty":false}`, "", false},
		{"F10 bytes", `{"base64":"AP8="}`, "\x00\xFF", true},
		{"F10 newlines are not converted", `{"base64":"DQo="}`, "\n", false},
		{"F10 no bytes", `{"base64":""}`, "", true},
		{"G12 invalid JSON", `{"json":{}}`, `{a:1}`, false},
		{"G12 trailing data", `{"json":{}}`, `{} x`, false},
		{"G12 NaN", `{"json":{}}`, `{"a":NaN}`, false},
		{"G12 comments", `{"json":{}}`, `{"a":1/*c*/}`, false},
		{"G14 too deep", `{"json":[]}`, strings.Repeat("[", 10_001), false},
		{"G7 json", `{"json":{"a":{"x":1}}}`, `{"a":{"x":1,"y":2},"z":0}`, true},
		{"G7 jsonExact", `{"jsonExact":{"a":{"x":1}}}`, `{"a":{"x":1,"y":2},"z":0}`, false},
		{"G8 ignoreOrder", `{"json":[1,2,2],"jsonOptions":{"ignoreOrder":true}}`, `[2,1,2]`, true},
		{"G7 ignoreExtraItems", `{"json":[1,3],"jsonOptions":{"ignoreExtraItems":true}}`, `[1,2,3]`, true},
		{"G5 numbersAsStrings", `{"json":{"a":1},"jsonOptions":{"numbersAsStrings":true}}`, `{"a":"1"}`, true},
		{"G11 the last counts", `{"json":{"a":2}}`, `{"a":1,"a":2}`, true},
		{"G11 strict", `{"json":{"a":2},"jsonOptions":{"strict":true}}`, `{"a":1,"a":2}`, false},
		{"G15 null", `{"jsonExact":null}`, `null`, true},
		{"G15 nothing is not null", `{"jsonExact":null}`, ``, false},
		{"G16 operators in place", `{"json":{"id":{"$match":{"type":"integer"}}}}`, `{"id":7}`, true},
		{"G16 operators that fail", `{"json":{"id":{"$match":{"type":"integer"}}}}`, `{"id":"7"}`, false},
		{"G16 a missing member fails", `{"json":{"id":{"$match":{"type":"integer"}}}}`, `{}`, false},
		{"G16 a member that must not be sent", `{"jsonExact":{"id":{"$match":{"exists":false}}}}`, `{}`, true},
		{"G16 a member that was sent", `{"jsonExact":{"id":{"$match":{"exists":false}}}}`, `{"id":null}`, false},
		{"G16 a literal", `{"json":{"$literal":{"$match":1}}}`, `{"$match":1}`, true},
		{"G16 operators within a list in any order", `{"json":[{"$match":{"gt":1}},1],"jsonOptions":{"ignoreOrder":true}}`, `[1,2]`, true},
	}.run(t)
}

func TestF2_the_base64_is_that_of_the_coded_bytes(t *testing.T) {
	t.Parallel()
	m := body.New([]byte("x"), http.Header{"Content-Encoding": {"gzip"}})
	if !compile(t, `{"base64":"eA=="}`).Holds(m) {
		t.Error("the coded bytes are not compared")
	}
	identity := body.New([]byte("[]"), http.Header{"Content-Encoding": {"identity, , Identity"}})
	if !compile(t, `{"json":[]}`).Holds(identity) {
		t.Error("the identity does something")
	}
}

func TestF9_JSON_does_not_look_at_the_content_type(t *testing.T) {
	t.Parallel()
	for _, contentType := range []string{"text/plain", "application/xml", "nonsense", ""} {
		m := body.New([]byte(`{"a":1}`), http.Header{"Content-Type": {contentType}})
		if !compile(t, `{"json":{"a":1}}`).Holds(m) {
			t.Errorf("no match with %q", contentType)
		}
	}
}

func TestF3_an_undecodable_body_fails_body_conditions_alone(t *testing.T) {
	t.Parallel()
	m := body.New([]byte(`{"a":1}`), http.Header{"Content-Encoding": {"sdch"}})
	for _, match := range []string{`{"json":{"a":1}}`, `{"jsonPath":{"$.a":{"exists":false}}}`, `{"schema":true}`, `{"empty":false}`} {
		found := compile(t, match).Findings(m)
		if len(found) != 1 || found[0].Holds || !strings.Contains(found[0].Actual, "sdch") {
			t.Errorf("%s: %+v", match, found)
		}
	}
}

func TestAFindingNamesThePlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		match, body string
		want        mockbase.MissedPart
	}{
		{`{"json":{"a":[1,{"b":2}]}}`, `{"a":[1,{"b":3}]}`, mockbase.MissedPart{Name: "json /a/1/b", Operator: "equals", Expected: "2", Actual: "3"}},
		{`{"json":{"a":1}}`, `{a:1}`, mockbase.MissedPart{Name: "json", Operator: "equals", Expected: `{"a":1}`, Actual: "invalid JSON at 1:2: a name in double quotes is expected"}},
		{`{"json":[]}`, strings.Repeat("[", 10_001), mockbase.MissedPart{Name: "json", Operator: "equals", Expected: `[]`, Actual: "too deep"}},
		{`{"jsonExact":{"id":{"$match":{"in":[1,2]}}}}`, `{"id":3}`, mockbase.MissedPart{Name: "jsonExact /id", Operator: "in", Expected: "1, 2", Actual: "3"}},
		{`{"jsonPath":{"$.a":{"gt":5}}}`, `{"a":3}`, mockbase.MissedPart{Name: "jsonPath $.a", Operator: "gt", Expected: "5", Actual: "3"}},
		{`{"jsonPath":{"$..a":7}}`, `[{"a":3},{"a":[4]}]`, mockbase.MissedPart{Name: "jsonPath $..a", Operator: "equals", Expected: "7", Actual: "3, [4]"}},
		{`{"jsonPath":{"$.a":7}}`, `{}`, mockbase.MissedPart{Name: "jsonPath $.a", Operator: "equals", Expected: "7", Actual: "(no node)"}},
		{`{"jsonPath":{"$.a":{"exists":false}}}`, `<x/>`, mockbase.MissedPart{Name: "jsonPath $.a", Operator: "exists", Expected: "exists false", Actual: "not JSON: invalid JSON at 1:1: a value is expected"}},
		{`{"empty":true}`, `x`, mockbase.MissedPart{Name: "empty", Operator: "empty", Expected: "true", Actual: "1 byte"}},
		{`{"base64":"AP8="}`, "ab", mockbase.MissedPart{Name: "base64", Operator: "equals", Expected: "AP8=", Actual: "YWI="}},
		{`{"schema":{"properties":{"a":{"type":"string"}}}}`, `{"a":1}`, mockbase.MissedPart{Name: "schema /a", Operator: "type", Expected: "got number, want string", Actual: "1"}},
	} {
		found := compile(t, c.match).Findings(message(c.body))
		c.want.Part = "body"
		if diff := cmp.Diff([]body.Finding{{MissedPart: c.want}}, found); diff != "" {
			t.Errorf("%s on %.60s: %s", c.match, c.body, diff)
		}
	}
}

func TestAFindingIsBounded(t *testing.T) {
	t.Parallel()
	long := `{"a":["` + strings.Repeat("x", 50_000) + `",` + strings.Repeat("1,", 50_000) + `1]}`
	for _, match := range []string{
		`{"json":{"a":1}}`, `{"jsonExact":` + strings.ReplaceAll(long, "x", "y") + `}`, `{"jsonPath":{"$.a":1}}`, `{"jsonPath":{"$.a[*]":true}}`,
		`{"base64":"AP8="}`, `{"schema":{"properties":{"a":{"type":"string"}}}}`, `{"schema":{"const":1}}`,
	} {
		for _, f := range compile(t, match).Findings(message(long)) {
			if f.Holds || len(f.Name)+len(f.Expected)+len(f.Actual) > 900 {
				t.Errorf("%.60s: %d bytes in %.200s", match, len(f.Name)+len(f.Expected)+len(f.Actual), f.Actual)
			}
		}
	}
}

func TestNotesTellWhatIsOdd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, contentType, body string
		want                    []string
	}{
		{"F12 a charset", "application/json; charset=latin1", `{"a":"é"}`, []string{`the charset "latin1" is ignored: JSON is UTF-8`}},
		{"F12 UTF-8", "application/json; charset=UTF-8", `{"a":"é"}`, nil},
		{"G11 a name given twice", "", `{"a":1,"a":2}`, []string{`the name "a" is given twice; the last counts`}},
		{"F6 UTF-16", "", "\xFF\xFE[\x00]\x00", []string{"the JSON is coded in UTF-16LE, not in UTF-8"}},
		{"F6 a mark of UTF-8", "", "\xEF\xBB\xBF[]", nil},
		{"no JSON", "application/json; charset=latin1", `{`, nil},
	} {
		m := body.New([]byte(c.body), http.Header{"Content-Type": {c.contentType}})
		if notes := m.Notes(); notes != nil {
			t.Errorf("%s: %q before anybody asked", c.name, notes)
		}
		_, _ = m.JSON()
		if diff := cmp.Diff(c.want, m.Notes()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if m := message("x"); string(m.Raw()) != "x" || m.ContentType() != "" {
		t.Error("the message is not what was received")
	}
}

func TestWebSocketMessagesMatchLikeBodies(t *testing.T) {
	t.Parallel()
	var faults mockbase.Faults
	when := &mockbase.WebSocketWhen{JSON: []byte(`{"type":"ping"}`), JSONPath: []mockbase.NamedMatch{{Name: "$.n", Match: mockbase.Match{{Equals: []byte("1")}}}}}
	m := body.CompileMessage(when, "#/when", &faults)
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	if !m.Holds(message(`{"type":"ping","n":1.0}`)) || m.Holds(message(`{"type":"ping"}`)) || m.Holds(message(`bye`)) {
		t.Error("a message does not match like a body")
	}
}

func TestM6_an_explanation_takes_over_what_matching_has_found_out(t *testing.T) {
	t.Parallel()
	match := compile(t, `{"size":{"gt":1},"text":{"search":"((a{1,30}){1,30})b"}}`)
	sent := message(strings.Repeat("a", 70_000))
	for _, f := range match.Findings(sent) {
		if !f.Unknown || f.Holds {
			t.Errorf("a large body that nobody compared: %+v", f)
		}
	}
	if match.Holds(sent) {
		t.Error("the text has no b")
	}
	found := match.Findings(sent)
	if !found[0].Holds || found[1].Holds || found[1].Unknown || found[1].Operator != "search" {
		t.Errorf("what was found out: %+v", found)
	}
	if found := match.Findings(message("aa")); found[1].Unknown || found[1].Actual != "aa" {
		t.Errorf("a small body: %+v", found)
	}
}
