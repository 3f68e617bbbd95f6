package operator_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/operator"
)

// match decodes what the values of a header must satisfy.
func match(tb testing.TB, text string) mockbase.Match {
	tb.Helper()
	m, err := mockbase.DecodeMock([]byte(`{"request":{"path":"/","headers":{"X":`+text+`}},"response":{}}`), mockbase.FormatJSON)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return m.Request.Headers[0].Match
}

func texts(tb testing.TB, text string) operator.Match[string] {
	tb.Helper()
	var faults mockbase.Faults
	m := operator.Texts(match(tb, text), "#", &faults)
	if err := faults.Err(); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return m
}

func nodes(tb testing.TB, text string) operator.Match[*jsonvalue.Value] {
	tb.Helper()
	var faults mockbase.Faults
	m := operator.Nodes(match(tb, text), "#", &faults)
	if err := faults.Err(); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return m
}

func sent(list ...string) *operator.Values[string] {
	v := &operator.Values[string]{List: list}
	if len(list) > 1 {
		v.Joined, v.Several = strings.Join(list, ", "), true
	}
	return v
}

// selected parses nodes, one a text.
func selected(tb testing.TB, list ...string) *operator.Values[*jsonvalue.Value] {
	tb.Helper()
	v := &operator.Values[*jsonvalue.Value]{}
	for _, text := range list {
		node, err := jsonvalue.Parse([]byte(text), jsonvalue.Limits{})
		if err != nil {
			tb.Fatal(err)
		}
		v.List = append(v.List, node)
	}
	return v
}

func TestOperatorsOnTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, match string
		values      []string
		want        bool
	}{
		{"K1 matches is about the whole", `{"matches":"a.c"}`, []string{"abc"}, true},
		{"K1 matches is not about a part", `{"matches":"a.c"}`, []string{"xabcx"}, false},
		{"K1 search is about a part", `{"search":"a.c"}`, []string{"xabcx"}, true},
		{"K1 alternatives are within the whole", `{"matches":"a|b"}`, []string{"ab"}, false},
		{"K2 inline flags work", `{"matches":"(?i)abc"}`, []string{"ABC"}, true},
		{"K3 the dot matches no newline outside a body", `{"matches":"a.b"}`, []string{"a\nb"}, false},
		{"K4 bytes that are no text are one rune", `{"matches":"."}`, []string{"\xff"}, true},
		{"K5 folding is simple", `{"equals":"straße","ignoreCase":true}`, []string{"STRASSE"}, false},
		{"K5 folding is that of Unicode", `{"equals":"É","ignoreCase":true}`, []string{"é"}, true},
		{"K5 contains folds", `{"contains":"É","ignoreCase":true}`, []string{"xéx"}, true},
		{"K5 patterns fold", `{"matches":"a.c","ignoreCase":true}`, []string{"ABC"}, true},
		{"K5 hasItem folds", `{"hasItem":"GZIP","ignoreCase":true}`, []string{"br, gzip"}, true},
		{"K6 empty is sent", `{"exists":false}`, []string{""}, false},
		{"K6 nothing is not", `{"exists":false}`, nil, true},
		{"K7 a missing value equals nothing", `{"equals":""}`, nil, false},
		{"K7 not holds for what is missing", `{"not":1}`, nil, true},
		{"K7 every needs a value", `{"every":1}`, nil, false},
		{"K7 count needs a value", `{"count":0}`, nil, false},
		{"K8 anyOf holds for what is missing", `{"anyOf":[{"exists":false},"a"]}`, nil, true},
		{"K8 anyOf holds for a", `{"anyOf":[{"exists":false},"a"]}`, []string{"a"}, true},
		{"K8 anyOf does not hold for b", `{"anyOf":[{"exists":false},"a"]}`, []string{"b"}, false},
		{"K8 allOf", `{"allOf":[{"contains":"a"},{"contains":"b"}]}`, []string{"ab"}, true},
		{"K8 allOf fails with one", `{"allOf":[{"contains":"a"},{"contains":"b"}]}`, []string{"a"}, false},
		{"K8 not exists false is exists", `{"not":{"exists":false}}`, []string{""}, true},
		{"K9 every entry holds", `[{"contains":"a"},{"contains":"b"}]`, []string{"ab"}, true},
		{"K9 by any value", `[{"contains":"a"},{"contains":"b"}]`, []string{"a", "b"}, true},
		{"K9 one entry fails", `[{"contains":"a"},{"contains":"b"}]`, []string{"a"}, false},
		{"C7 one value suffices", `"b"`, []string{"a", "b"}, true},
		{"C7 operators hold for one and the same value", `{"startsWith":"a","endsWith":"d"}`, []string{"xd", "ab"}, false},
		{"D3 all lines joined are a value", `"a, b"`, []string{"a", "b"}, true},
		{"C8 all wants a value for each", `{"all":["a","a"]}`, []string{"a", "b"}, false},
		{"C8 all in any order", `{"all":["b","a"]}`, []string{"a", "x", "b"}, true},
		{"C8 all of too few", `{"all":["a","b","c"]}`, []string{"a"}, false},
		{"C8 exactly", `{"exactly":["b","a"]}`, []string{"a", "b"}, true},
		{"C8 exactly refuses more", `{"exactly":["b","a"]}`, []string{"a", "b", "c"}, false},
		{"C8 ordered", `{"ordered":["b","a"]}`, []string{"a", "b"}, false},
		{"C8 a list folds", `{"all":["B"],"ignoreCase":true}`, []string{"b"}, true},
		{"count", `{"count":2}`, []string{"a", "b"}, true},
		{"count is a number", `{"count":{"gt":1.5}}`, []string{"a", "b"}, true},
		{"every", `{"every":{"startsWith":"a"}}`, []string{"ab", "ac"}, true},
		{"every fails with one", `{"every":{"startsWith":"a"}}`, []string{"ab", "b"}, false},
		{"in", `{"in":[1,"two"]}`, []string{"two"}, true},
		{"in has the number as it is written", `{"in":[1.0]}`, []string{"1"}, false},
		{"D11 gt", `{"gt":9007199254740992}`, []string{"9007199254740993"}, true},
		{"D11 no number", `{"gt":0}`, []string{"ten"}, false},
		{"lte", `{"lte":10}`, []string{"1e1"}, true},
		{"lt", `{"lt":10}`, []string{"1e1"}, false},
		{"gte", `{"gte":10}`, []string{"10.0"}, true},
		{"before", `{"before":"2026-01-01T00:00:00Z"}`, []string{"Wed, 31 Dec 2025 23:59:59 GMT"}, true},
		{"after", `{"after":"2026-01-01T00:00:00Z"}`, []string{"2026-01-01T00:00:00+01:00"}, false},
		{"mediaType", `{"mediaType":"application/json; charset=utf-8"}`, []string{"Application/JSON;x=1;Charset=UTF-8"}, true},
		{"mediaType of another type", `{"mediaType":"application/json"}`, []string{"text/json"}, false},
		{"mediaType without its parameter", `{"mediaType":"a/b; c=d"}`, []string{"a/b"}, false},
		{"D4 an item between quotes", `{"hasItem":"b"}`, []string{`"a, \"b, c" , b`}, true},
		{"D4 no such item", `{"hasItem":"b"}`, []string{`"a,b"`}, false},
	} {
		if got := texts(t, c.match).Holds(sent(c.values...)); got != c.want {
			t.Errorf("%s: %s on %q is %t", c.name, c.match, c.values, got)
		}
	}
}

func TestOperatorsOnNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, match string
		nodes       []string
		want        bool
	}{
		{"H4 one equal node", `2`, []string{"1", "2.0"}, true},
		{"H4 every", `{"every":2}`, []string{"1", "2"}, false},
		{"H4 count", `{"count":2}`, []string{"1", "2"}, true},
		{"H5 a list", `{"equals":[1]}`, []string{"[1.0]"}, true},
		{"H5 no list", `{"equals":[1]}`, []string{"1"}, false},
		{"H6 integer", `{"type":"integer"}`, []string{"2.0"}, true},
		{"H6 no integer", `{"type":"integer"}`, []string{"1.5"}, false},
		{"H6 text is no integer", `{"type":"integer"}`, []string{`"2"`}, false},
		{"H6 nothing has a type", `{"type":"integer"}`, nil, false},
		{"H6 every node", `{"type":"string"}`, []string{`"a"`, "1"}, false},
		{"H6 boolean", `{"type":"boolean"}`, []string{"true"}, true},
		{"H2 null exists", `{"exists":true}`, []string{"null"}, true},
		{"H3 an empty list", `{"exists":false}`, nil, true},
		{"G5 a number is no text", `"1"`, []string{"1"}, false},
		{"G5 text is no number", `{"gt":0}`, []string{`"1"`}, false},
		{"G5 a number has no text", `{"matches":".*"}`, []string{"1"}, false},
		{"G3 exact numbers", `{"gt":9007199254740992}`, []string{"9007199254740993"}, true},
		{"G4 huge exponents", `{"lt":1e1000000001}`, []string{"1e1000000000"}, true},
		{"K3 the dot matches a newline", `{"matches":"a.b"}`, []string{`"a\nb"`}, true},
		{"K3 the end is the end of the text", `{"matches":"^a$"}`, []string{`"a\n"`}, false},
		{"K5 equals folds text", `{"equals":"É","ignoreCase":true}`, []string{`"é"`}, true},
		{"in", `{"in":[null,{"a":1}]}`, []string{`{"a":1e0}`}, true},
		{"C8 all", `{"all":[1,2]}`, []string{"2", "3", "1.0"}, true},
		{"C8 exactly", `{"exactly":[1,1]}`, []string{"1", "2"}, false},
		{"C8 ordered", `{"ordered":[3,2]}`, []string{"3", "2.0"}, true},
		{"not", `{"not":{"type":"string"}}`, []string{"1"}, true},
	} {
		if got := nodes(t, c.match).Holds(selected(t, c.nodes...)); got != c.want {
			t.Errorf("%s: %s on %q is %t", c.name, c.match, c.nodes, got)
		}
	}
}

func TestAFailingClauseIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		match            string
		values           []string
		operator, expect string
	}{
		{`"a"`, []string{"b"}, "equals", "a"},
		{`{"startsWith":"a","endsWith":"d"}`, []string{"xd", "ab"}, "endsWith", "d"},
		{`{"startsWith":"a","endsWith":"d"}`, []string{"xd"}, "startsWith", "a"},
		{`{"not":{"in":["a",1]}}`, []string{"1"}, "not", "in a, 1"},
		{`{"anyOf":[{"contains":"a"},"c"]}`, []string{"b"}, "anyOf", "contains a | equals c"},
		{`{"count":{"gt":1}}`, []string{"b"}, "count", "gt 1"},
		{`{"exists":true}`, nil, "exists", "true"},
	} {
		m := texts(t, c.match)
		failing := m.Failing(sent(c.values...))
		if failing == nil {
			t.Errorf("%s holds on %q", c.match, c.values)
			continue
		}
		name, expected := failing.Failing(sent(c.values...))
		if diff := cmp.Diff([2]string{c.operator, c.expect}, [2]string{name, expected}); diff != "" {
			t.Errorf("%s: %s", c.match, diff)
		}
	}
	m := texts(t, `[{"contains":"a","endsWith":"b"},{"exists":true}]`)
	if got := m.String(); got != "contains a, endsWith b; exists true" {
		t.Errorf("the match is described as %q", got)
	}
	if name, _ := m[1].Failing(sent("a")); name != "" {
		t.Errorf("what holds is named as failing: %s", name)
	}
}

func TestFaultsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	number := json.Number("x")
	bad := mockbase.Match{
		{Equals: json.RawMessage(`{}`), Matches: text("("), Before: text("soon"), GT: &number, MediaType: text("json"), Type: text("integer")},
		{Not: &mockbase.Operators{AnyOf: []mockbase.Operators{{In: []json.RawMessage{json.RawMessage(`"`)}}}}},
	}
	var faults mockbase.Faults
	operator.Texts(bad, "#/x", &faults)
	var got []string
	for _, f := range faults.Fields() {
		got = append(got, f.Pointer+" "+string(f.Code))
	}
	want := []string{
		"#/x/0/equals type", "#/x/0/matches syntax", "#/x/0/gt type", "#/x/0/before pattern", "#/x/0/mediaType pattern", "#/x/0/type type",
		"#/x/1/not/anyOf/0/in type",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	faults = mockbase.Faults{}
	clause := operator.Node(&mockbase.Operators{Equals: json.RawMessage(`{`)}, "#", &faults)
	if clause.Holds(selected(t, "1")) || faults.Len() != 1 {
		t.Errorf("%d faults for a value that cannot be read", faults.Len())
	}
}

func TestNumbersAsTextCompareByValue(t *testing.T) {
	t.Parallel()
	var faults mockbase.Faults
	third := operator.Number(&mockbase.Operators{Equals: json.RawMessage("3.0")}, "#", &faults)
	if !third.Holds(sent("3")) || third.Holds(sent("4")) {
		t.Error("the third is not the third")
	}
}

func TestK3_the_dot_matches_a_newline_in_a_body(t *testing.T) {
	t.Parallel()
	var faults mockbase.Faults
	for pattern, want := range map[string]bool{"a.b": true, "(?-s)a.b": false} {
		m := operator.BodyTexts(match(t, `{"matches":"`+pattern+`"}`), "#", &faults)
		if m.Holds(sent("a\nb")) != want {
			t.Errorf("%s: not %t", pattern, want)
		}
	}
	end := operator.BodyTexts(match(t, `{"matches":"^a$"}`), "#", &faults)
	if end.Holds(sent("a\n")) {
		t.Error("$ matches before the last newline")
	}
}

func TestFoldPrefixTellsHowLongThePrefixIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, prefix string
		length       int
		ok           bool
	}{
		{"Kelvin", "kEL", 3, true},
		{"\u212aelvin", "kel", 5, true},
		{"ab", "abc", 0, false},
		{"\xffa", "\xfea", 0, false},
		{"\xffa", "\xffA", 2, true},
		{"abc", "", 0, true},
	} {
		if n, ok := operator.FoldPrefix(c.text, c.prefix); n != c.length || ok != c.ok {
			t.Errorf("%q begins with %q: %d, %t", c.text, c.prefix, n, ok)
		}
	}
	if diff := cmp.Diff([]string{"A", "É", "B"}, operator.FoldAll([]string{"a", "é", "B"})); diff != "" {
		t.Error(diff)
	}
}
