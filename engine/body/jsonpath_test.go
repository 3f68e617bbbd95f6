package body_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestH_JSONPath(t *testing.T) {
	t.Parallel()
	matches{
		{"H2 null exists", `{"jsonPath":{"$.a":{"exists":true}}}`, `{"a":null}`, true},
		{"H2 what is missing does not", `{"jsonPath":{"$.a":{"exists":true}}}`, `{}`, false},
		{"H3 an empty node list", `{"jsonPath":{"$[?@.k>5]":{"exists":false}}}`, `[{"k":1}]`, true},
		{"H3 a node", `{"jsonPath":{"$[?@.k>5]":{"exists":false}}}`, `[{"k":1},{"k":9}]`, false},
		{"H4 one equal node", `{"jsonPath":{"$..id":2}}`, `[{"id":1},{"id":2}]`, true},
		{"H4 every", `{"jsonPath":{"$..id":{"every":2}}}`, `[{"id":1},{"id":2}]`, false},
		{"H4 count", `{"jsonPath":{"$..id":{"count":2}}}`, `[{"id":1},{"id":2}]`, true},
		{"H4 exact", `{"jsonPath":{"$.n":9007199254740993}}`, `{"n":9007199254740992}`, false},
		{"H5 a definite path is a value", `{"jsonPath":{"$.a":{"equals":[1]}}}`, `{"a":[1]}`, true},
		{"H5 and no list of one", `{"jsonPath":{"$.a":{"equals":[1]}}}`, `{"a":1}`, false},
		{"H5 a wildcard compares one by one", `{"jsonPath":{"$.a[*]":{"equals":[1]}}}`, `{"a":[1]}`, false},
		{"H5 a wildcard", `{"jsonPath":{"$.a[*]":{"equals":[1]}}}`, `{"a":[0,[1]]}`, true},
		{"H6 integer", `{"jsonPath":{"$.n":{"type":"integer"}}}`, `{"n":2.0}`, true},
		{"H6 text", `{"jsonPath":{"$.n":{"type":"integer"}}}`, `{"n":"2"}`, false},
		{"H6 missing", `{"jsonPath":{"$.n":{"type":"integer"}}}`, `{}`, false},
		{"H7 no conversion", `{"jsonPath":{"$[?@.n=='1']":{"exists":true}}}`, `[{"n":1}]`, false},
		{"H7 text is text", `{"jsonPath":{"$[?@.n=='1']":{"exists":true}}}`, `[{"n":"1"}]`, true},
		{"H7 an ordering between types", `{"jsonPath":{"$[?@.n>'0']":{"exists":true}}}`, `[{"n":1}]`, false},
		{"H7 an ordering of huge numbers", `{"jsonPath":{"$[?@.n>5]":{"exists":true}}}`, `[{"n":1e400}]`, true},
		{"H8 null is not nothing", `{"jsonPath":{"$[?@.a==null]":{"exists":true}}}`, `[{"z":1}]`, false},
		{"H8 null is null", `{"jsonPath":{"$[?@.a==null]":{"exists":true}}}`, `[{"a":null}]`, true},
		{"H8 nothing is nothing", `{"jsonPath":{"$[?@.a==@.b]":{"exists":true}}}`, `[{"z":1}]`, true},
		{"H8 something is not", `{"jsonPath":{"$[?@.a==@.b]":{"exists":true}}}`, `[{"a":1}]`, false},
		{"H8 a test for existence", `{"jsonPath":{"$[?@.a]":{"exists":true}}}`, `[{"a":null}]`, true},
		{"H8 values deep down", `{"jsonPath":{"$[?@.a==@.b]":{"exists":true}}}`, `[{"a":[1.0,{"x":2}],"b":[1,{"x":2.0}]}]`, true},
		{"H9 the last item", `{"jsonPath":{"$[-1]":3}}`, `[1,2,3]`, true},
		{"H9 out of range", `{"jsonPath":{"$[9]":{"exists":false}}}`, `[1,2,3]`, true},
		{"H9 far below", `{"jsonPath":{"$[-9]":{"exists":false}}}`, `[1,2,3]`, true},
		{"H9 a step of nothing", `{"jsonPath":{"$[0:2:0]":{"exists":false}}}`, `[1,2,3]`, true},
		{"H9 backwards", `{"jsonPath":{"$[::-1]":{"ordered":[3,2,1]}}}`, `[1,2,3]`, true},
		{"H9 a slice", `{"jsonPath":{"$[1:]":{"ordered":[2,3]}}}`, `[1,2,3]`, true},
		{"H9 an index of an object", `{"jsonPath":{"$[0]":{"exists":false}}}`, `{"0":1}`, true},
		{"H10 match is the whole", `{"jsonPath":{"$[?match(@.s,\"a.\")].s":{"exactly":["ab"]}}}`, `[{"s":"ab"},{"s":"xab"}]`, true},
		{"H10 search is a part", `{"jsonPath":{"$[?search(@.s,\"a.\")].s":{"exactly":["ab","xab"]}}}`, `[{"s":"ab"},{"s":"xab"}]`, true},
		{"H10 length counts characters", `{"jsonPath":{"$[?length(@.s)==2]":{"exists":true}}}`, `[{"s":"é😀"}]`, true},
		{"H11 absence in no JSON", `{"jsonPath":{"$.a":{"exists":false}}}`, `<x/>`, false},
		{"G3 filters do not round", `{"jsonPath":{"$[?@.n==9007199254740993]":{"exists":true}}}`, `[{"n":9007199254740992}]`, false},
		{"G3 filters compare exactly", `{"jsonPath":{"$[?@.n > 9007199254740992].n":{"exactly":[9007199254740993]}}}`, `[{"n":9007199254740992},{"n":9007199254740993.0}]`, true},
		{"G3 two nodes", `{"jsonPath":{"$[?@.a < @.b && @.b<=@.c].id":{"exactly":[1]}}}`, `[{"id":1,"a":9007199254740992,"b":9007199254740993,"c":90071992547409930e-1},{"id":2,"a":9007199254740993,"b":9007199254740993,"c":5}]`, true},
		{"G3 a short literal and a long number", `{"jsonPath":{"$[?@.n==0.1]":{"exists":true}}}`, `[{"n":0.1000000000000000055}]`, false},
		{"G3 lists with long numbers", `{"jsonPath":{"$[?@.a==@.b]":{"count":1}}}`, `[{"a":[9007199254740993],"b":[9007199254740993.0]},{"a":[9007199254740993],"b":[9007199254740992]}]`, true},
		{"G4 a huge literal", `{"jsonPath":{"$[?@.n < 1e400 && @.n >= 1e399].id":{"exactly":[2]}}}`, `[{"id":1,"n":1e400},{"id":2,"n":10e398},{"id":3,"n":1},{"id":4}]`, true},
		{"G4 huge numbers", `{"jsonPath":{"$[?@.n==1e1000000000]":{"count":1}}}`, `[{"n":1e1000000001},{"n":10e999999999}]`, true},
		{"literals beside indexes", `{"jsonPath":{"$[?@.a[1]==9007199254740993||@['b',2][0:1]].id":{"exactly":[1]}}}`, `[{"id":1,"a":[0,9007199254740993]},{"id":2,"a":[9007199254740993,9007199254740992]}]`, true},
		{"the root in a filter", `{"jsonPath":{"$.items[?@.id==$.first].n":2}}`, `{"first":7,"items":[{"id":6,"n":1},{"id":7,"n":2}]}`, true},
		{"several selectors", `{"jsonPath":{"$['a',\"b\",0]":{"ordered":[1,2]}}}`, `{"b":2,"a":1}`, true},
		{"members in their order", `{"jsonPath":{"$.*":{"ordered":[1,2]}}}`, `{"b":1,"a":2}`, true},
		{"nested filters", `{"jsonPath":{"$[?@.tags[?@=='x']].id":{"exactly":[2]}}}`, `[{"id":1,"tags":["y"]},{"id":2,"tags":["x"]}]`, true},
		{"everything below", `{"jsonPath":{"$..*":{"count":5}}}`, `{"a":[1,{"b":2}],"c":3}`, true},
		{"a name given twice", `{"jsonPath":{"$.a":{"exactly":[2]}}}`, `{"a":1,"a":2}`, true},
		{"filters of objects", `{"jsonPath":{"$[?@>1]":{"exactly":[2]}}}`, `{"a":1,"b":2}`, true},
	}.run(t)
}

func TestH1_anything_else_than_RFC_9535_is_refused_with_a_column(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$.[?(@.a)]":                       "column 3: unexpected '['",
		"$.items[(@.length-1)]":            "column 9: unexpected '('",
		"$.é[":                             "column 5: unexpected eof",
		"$['a":                             "column 5: unterminated string literal",
		"$[?foo(@.a)]":                     "column 4: unknown function foo()",
		"$[?@.a==1e400 && length(@.b)==1]": "column 9: cannot parse",
		"$[?@.a==1e400 &&]":                "column 9: cannot parse",
		"$,":                               "column 2: unexpected",
		"":                                 "column 1: unexpected end of input",
		"$.a b":                            "column 4: unexpected blank space",
		"$" + strings.Repeat(".a", 600):    "the JSONPath has 1201 bytes",
		"$..a..b..c..d":                    "the JSONPath has 4 descendant segments",
		"$[?@..a && @..b]":                 "the filters of the JSONPath have 2 descendant segments",
		"$[?@[*][*][*][*][*][*][*][*][*]]": "the filters of the JSONPath select many nodes in 9 places",
		"$[?@[?@[?@[?@.a]]]]":              "the JSONPath has filters 4 deep",
		"$[?@['a','b','c','d','e','f','g','h','i','j']]": "the filters of the JSONPath select many nodes in 9 places",
	} {
		if _, err := body.ParsePath(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{
		"$", "$[?@['..',\"*\"]]", "$[?match(@.a,'b') && search(@.a,'c')]", "$[?@.a,?@.b,?@.c,?@.d]", "$[?(@.a==1) || (@.b==2)]", `$["\"?"]`,
		"$..a..b..c", "$[?@[?@[?@.a]]]", "$[?count(@.*) > 1]",
	} {
		if _, err := body.ParsePath(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	got := refused(t, `{"jsonPath":{"$.[?(@.a)]":{"exists":true}}}`)
	want := []string{"#/request/body/jsonPath/$.%5B?(@.a)%5D syntax: column 3: unexpected '[': a JSONPath is written as RFC 9535 says, as in $.items[?@.id == 7]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestH5_a_path_is_definite_or_not(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"$.a[0]['b']": true, "$": true, "$.*": false, "$..a": false, "$[0:1]": false, "$['a','b']": false} {
		p, err := body.ParsePath(text)
		if err != nil || p.Singular() != want {
			t.Errorf("%s: not %t (%v)", text, want, err)
		}
	}
}

// Neither depth nor size makes an expression run for long.
func TestAPathOnAHostileBodyEnds(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":[`, 2_000) + "1" + strings.Repeat("]}", 2_000)
	wide := "[" + strings.Repeat(`{"a":[1,2,3],"b":{"c":"x"}},`, 5_000) + "{}]"
	for _, text := range []string{
		"$..*..*..*", "$..a..a..a", "$..[?@..a]", "$..[?$..a]", "$[?@[*][*,*][*]]", "$..[?@[?@[?@.a==$.b]]]", "$..[*,*,*,*,*,*]..[*,*,*,*]..*",
		"$[?match(@.b.c,'(a*)*b')]", "$..[?$[*].a]", "$..[?count($[*])==count(@..c)]",
	} {
		p, err := body.ParsePath(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, src := range []string{deep, wide} {
			v, err := jsonvalue.Parse([]byte(src), jsonvalue.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			testkit.Bounded(t, time.Minute, func() { _, _ = p.SelectValue(v) })
		}
	}
}
