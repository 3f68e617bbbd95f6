package operator_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/operator"
)

// said are the contradictions of a match, each with its place, and with a star where it is about a part.
func said(list []operator.Contradiction) string {
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = c.At + " " + c.Detail
		if c.Partial {
			texts[i] = "*" + texts[i]
		}
	}
	return strings.Join(texts, "\n")
}

func TestOperatorsThatExcludeEachOtherAreFound(t *testing.T) {
	t.Parallel()
	many, one := operator.Subject{}, operator.Subject{Single: true}
	for _, c := range []struct {
		subject     operator.Subject
		match, want string
	}{
		{many, `{"gt":5,"lt":3}`, "#/lt lt 3 excludes gt 5"},
		{many, `{"gt":5,"lte":5}`, "#/lte lte 5 excludes gt 5"},
		{many, `{"gte":5,"lte":5}`, ""},
		{many, `{"gt":1e400,"lt":1e399}`, "#/lt lt 1e399 excludes gt 1e400"},
		{many, `{"gt":3,"lt":4}`, ""},
		{many, `{"gt":5,"not":{"gt":3}}`, "#/not not gt 3 excludes gt 5"},
		{many, `{"gt":5,"not":{"gt":7}}`, ""},
		{many, `{"after":"2026-01-02T00:00:00Z","before":"2026-01-01T00:00:00Z"}`, "#/before before 2026-01-01T00:00:00Z excludes after 2026-01-02T00:00:00Z"},
		{many, `{"after":"2026-01-01T00:00:00Z","before":"2026-01-02T00:00:00Z"}`, ""},
		{many, `{"equals":"a","not":"a"}`, "#/not not equals a excludes equals a"},
		{many, `{"equals":"a","not":"b"}`, ""},
		{many, `{"equals":"A","ignoreCase":true,"not":"a"}`, ""},
		{many, `{"equals":"A","ignoreCase":true,"not":{"equals":"a","ignoreCase":true}}`, "#/not not equals a excludes equals A"},
		{many, `{"in":["a","b"],"not":{"in":["b","a","c"]}}`, "#/not not in b, a, c excludes in a, b"},
		{many, `{"in":["a","b"],"not":{"in":["b"]}}`, ""},
		{many, `{"equals":7,"gt":5,"lt":7}`, "#/lt lt 7 excludes equals 7"},
		{many, `{"equals":6,"gt":5,"lt":7}`, ""},
		{many, `{"equals":"x","gt":5}`, "#/gt gt 5 excludes equals x"},
		{many, `{"startsWith":"x","gt":5}`, "#/gt gt 5 excludes startsWith x"},
		{many, `{"startsWith":"-1","gt":-50}`, ""},
		{many, `{"gt":5,"before":"2026-01-01T00:00:00Z"}`, "#/before before 2026-01-01T00:00:00Z excludes gt 5"},
		{many, `{"equals":"abc","startsWith":"b"}`, "#/startsWith startsWith b excludes equals abc"},
		{many, `{"equals":"abc","startsWith":"AB","ignoreCase":true}`, ""},
		{many, `{"matches":"abc","endsWith":"d"}`, "#/endsWith endsWith d excludes matches abc"},
		{many, `{"matches":"abc.*","startsWith":"b"}`, "#/matches matches abc.* excludes startsWith b"},
		{many, `{"matches":"abc.*","startsWith":"abcd"}`, ""},
		{many, `{"startsWith":"abc","not":{"startsWith":"ab"}}`, "#/not not startsWith ab excludes startsWith abc"},
		{many, `{"startsWith":"ab","not":{"startsWith":"abc"}}`, ""},
		{many, `{"contains":"abc","not":{"contains":"B","ignoreCase":true}}`, "#/not not contains B excludes contains abc"},
		{many, `{"matches":"a+","not":{"matches":"a+"}}`, "#/not not matches a+ excludes matches a+"},
		{many, `{"equals":"a","not":{"exists":true}}`, "#/equals equals a excludes exists false"},
		{many, `[{"exists":false},"a"]`, "#/1 equals a excludes exists false"},
		{many, `[{"exists":false},{"not":"a"}]`, ""},
		{many, `{"allOf":[{"exists":false},{"exists":true}]}`, "#/allOf/1/exists exists true excludes exists false"},
		{many, `[{"equals":"a"},{"equals":"b"}]`, ""},
		{one, `[{"equals":"a"},{"equals":"b"}]`, "#/1 equals b excludes equals a"},
		{one, `{"allOf":[{"startsWith":"a"},{"startsWith":"b"}]}`, "#/allOf/1/startsWith startsWith b excludes startsWith a"},
		{many, `[{"equals":"a"},{"every":"b"}]`, "#/1/every equals b excludes equals a"},
		{many, `{"gt":5,"every":{"lt":3}}`, "#/every/lt lt 3 excludes gt 5"},
		{many, `{"every":{"gt":5,"lt":3}}`, "#/every/lt lt 3 excludes gt 5"},
		{many, `{"count":0}`, "#/count count equals 0 never holds for what was not sent; write exists: false for that"},
		{many, `{"count":{"lt":1}}`, "#/count count lt 1 never holds for what was not sent; write exists: false for that"},
		{many, `{"count":{"lte":1}}`, ""},
		{many, `{"count":{"gt":1,"lt":2}}`, "#/count/lt lt 2 excludes gt 1"},
		{many, `{"count":{"equals":1.5}}`, "#/count equals 1.5 never holds: it is a whole number of at least 0"},
		{many, `{"count":2}`, ""},
		{one, `{"count":2}`, "#/count count equals 2 never holds, as there is one value at most"},
		{many, `{"exactly":["a","b"],"count":3}`, "#/count count equals 3 excludes exactly a, b"},
		{many, `{"all":["a","b","c"],"count":2}`, "#/count count equals 2 excludes all a, b, c"},
		{many, `{"all":["a","b"],"count":3}`, ""},
		{many, `{"all":["a","b"],"not":"b"}`, "#/not not equals b excludes all a, b"},
		{many, `{"exactly":["a","b"],"ordered":["a","c"]}`, "#/exactly exactly a, b excludes ordered a, c"},
		{many, `{"exactly":["a","b"],"ordered":["b","a"]}`, ""},
		{many, `{"exactly":["a","b"],"equals":"c"}`, "#/equals equals c excludes exactly a, b"},
		{many, `{"exactly":["a","b"],"startsWith":"b"}`, ""},
		{one, `{"all":["a","b"]}`, "#/all all a, b never holds, as there is one value at most"},
		{many, `{"anyOf":["a","b"],"not":{"in":["a","b"]}}`, "#/anyOf no alternative can hold: not in a, b excludes equals a"},
		{many, `{"anyOf":[{"gt":5,"lt":3},"b"]}`, "*#/anyOf/0/lt lt 3 excludes gt 5, so that this alternative never counts"},
		{many, `{"not":{"gt":5,"lt":3}}`, "*#/not/lt lt 3 excludes gt 5, so that the negation always holds"},
		{many, `{"anyOf":[{"exists":false},"a"]}`, ""},
		{many, `{"hasItem":"a, b"}`, "#/hasItem hasItem a, b never holds: an item has no comma outside of quotes, and no blank at its ends"},
		{many, `{"hasItem":"\"a, b\""}`, ""},
		{many, `{"mediaType":"text/plain","equals":"application/json"}`, "#/mediaType mediaType text/plain excludes equals application/json"},
		{operator.Subject{Single: true, Always: true}, `{"exists":false}`, "#/exists there always is a value here, be it an empty one"},
		{operator.Subject{Joins: true}, `{"equals":"a, b","every":{"in":["a","b"]}}`, ""},
		{operator.Subject{Joins: true}, `{"equals":"a, b","exactly":["a","b"]}`, ""},
	} {
		if got := said(c.subject.Texts(operator.Stated{Match: match(t, c.match), At: "#"})); got != c.want {
			t.Errorf("%s: %q, want %q", c.match, got, c.want)
		}
	}
}

func TestOperatorsOnNodesThatExcludeEachOtherAreFound(t *testing.T) {
	t.Parallel()
	for match0, want := range map[string]string{
		`{"gt":5,"startsWith":"5"}`:                   "#/gt gt 5 excludes startsWith 5",
		`{"gt":5,"type":"string"}`:                    "#/type type string excludes gt 5",
		`{"gt":5,"type":"integer"}`:                   "",
		`{"gt":5,"lt":6,"type":"integer"}`:            "#/lt lt 6 excludes gt 5",
		`{"gt":5,"lt":6,"type":"number"}`:             "",
		`{"equals":"5","gt":1}`:                       "#/gt gt 1 excludes equals \"5\"",
		`{"equals":{"a":1},"type":"array"}`:           "#/type type array excludes equals {\"a\":1}",
		`{"equals":1.0,"not":1}`:                      "#/not not equals 1 excludes equals 1.0",
		`[{"type":"string"},{"type":"null"}]`:         "#/1/type type null excludes type string",
		`[{"type":"boolean"},{"type":"null"}]`:        "#/1/type type null excludes type boolean",
		`{"in":[1,"a"],"type":"string"}`:              "",
		`{"in":[1,2],"type":"string"}`:                "#/type type string excludes in 1, 2",
		`{"count":2,"exactly":[1,1]}`:                 "",
		`{"exactly":[1,2],"type":"string"}`:           "#/type type string excludes exactly 1, 2",
		`{"before":"2026-01-01T00:00:00Z","gt":1}`:    "#/before before 2026-01-01T00:00:00Z excludes gt 1",
		`{"startsWith":"a","mediaType":"text/plain"}`: "",
	} {
		if got := said(operator.Subject{}.Nodes(operator.Stated{Match: match(t, match0), At: "#"})); got != want {
			t.Errorf("%s: %q, want %q", match0, got, want)
		}
	}
}

func TestNumbersThatNothingHasAreFound(t *testing.T) {
	t.Parallel()
	for match0, want := range map[string]string{
		`{"gt":5,"lt":3}`:               "#/lt lt 3 excludes gt 5",
		`{"gt":5,"lt":6}`:               "#/lt lt 6 excludes gt 5",
		`{"gt":5,"lt":7}`:               "",
		`{"gt":5.5,"lt":6.5}`:           "",
		`{"gt":5.5,"lte":5.9}`:          "#/lte lte 5.9 excludes gt 5.5",
		`{"lt":0}`:                      "#/lt lt 0 never holds: it is a whole number of at least 0",
		`{"lt":-1e400}`:                 "#/lt lt -1e400 never holds: it is a whole number of at least 0",
		`{"lte":0}`:                     "",
		`{"equals":-1}`:                 "# equals -1 never holds: it is a whole number of at least 0",
		`{"in":[1.5,-2]}`:               "",
		`{"in":[1.5,2]}`:                "",
		`{"equals":5,"not":5.0}`:        "#/not not equals 5.0 excludes equals 5",
		`{"anyOf":[{"lt":0},{"gt":2}]}`: "*#/anyOf/0/lt lt 0 never holds: it is a whole number of at least 0, so that this alternative never counts",
	} {
		if got := said(operator.Subject{}.Numbers(0, operator.Stated{Match: match(t, match0), At: "#"})); got != want {
			t.Errorf("%s: %q, want %q", match0, got, want)
		}
	}
}
