package jsonvalue_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestG_comparison(t *testing.T) {
	t.Parallel()
	plain, exact := jsonvalue.Options{}, jsonvalue.Options{Exact: true}
	anyOrder, extra := jsonvalue.Options{IgnoreOrder: true}, jsonvalue.Options{IgnoreExtraItems: true}
	anyExtra := jsonvalue.Options{IgnoreOrder: true, IgnoreExtraItems: true}
	loose, strict := jsonvalue.Options{NumbersAsStrings: true}, jsonvalue.Options{Strict: true}
	for _, c := range []struct {
		rule             string
		o                jsonvalue.Options
		expected, actual string
		want             bool
	}{
		{"G1", exact, `{"b":1,"a":[true]}`, `{ "a" : [true], "b":1 }`, true},
		{"G1", exact, `"\u00e9"`, `"é"`, true},
		{"G1", exact, `"\/"`, `"/"`, true},
		{"G2", exact, `1`, `1.0`, true},
		{"G2", exact, `1e0`, `10e-1`, true},
		{"G2", exact, `-0`, `0`, true},
		{"G3", exact, `9007199254740993`, `9007199254740992`, false},
		{"G3", exact, `0.1`, `0.10`, true},
		{"G3", exact, `0.1`, `0.1000000000000000055`, false},
		{"G4", exact, `1e1000000000`, `1e1000000001`, false},
		{"G4", exact, `1e400`, `10e399`, true},
		{"G5", plain, `1`, `"1"`, false},
		{"G5", plain, `true`, `"true"`, false},
		{"G5", plain, `{"a":null}`, `{}`, false},
		{"G5", plain, `[]`, `{}`, false},
		{"G5", plain, `false`, `null`, false},
		{"G5", plain, `true`, `false`, false},
		{"G5", plain, `{"a":1}`, `{"a":"1"}`, false},
		{"G5", loose, `{"a":1}`, `{"a":"1"}`, true},
		{"G5", loose, `{"a":"1.0"}`, `{"a":1}`, true},
		{"G5", loose, `{"a":1}`, `{"a":"one"}`, false},
		{"G5", loose, `{"a":1}`, `{"a":true}`, false},
		{"G6", plain, `[1,2]`, `[2,1]`, false},
		{"G6", plain, `[1,2]`, `[1,2,3]`, false},
		{"G6", plain, `[1,2,3]`, `[1,2]`, false},
		{"G7", plain, `{"a":{"x":1}}`, `{"a":{"x":1,"y":2},"z":0}`, true},
		{"G7", exact, `{"a":{"x":1}}`, `{"a":{"x":1,"y":2},"z":0}`, false},
		{"G7", exact, `{"a":{"x":1}}`, `{"a":{"x":1}}`, true},
		{"G7", plain, `{"a":1,"b":2}`, `{"a":1}`, false},
		{"G7", extra, `[1,3]`, `[1,2,3]`, true},
		{"G7", extra, `[3,1]`, `[1,2,3]`, false},
		{"G7", anyExtra, `[3,1]`, `[1,2,3]`, true},
		{"G7", anyExtra, `[3,3]`, `[1,2,3]`, false},
		{"G7", extra, `[1,2,3]`, `[1,2]`, false},
		{"G7", extra, `[]`, `[1]`, true},
		{"G8", anyOrder, `[1,2,2]`, `[2,1,2]`, true},
		{"G8", anyOrder, `[1,2,2]`, `[1,1,2]`, false},
		{"G8", anyOrder, `[[1,2],[3,4]]`, `[[4,3],[2,1]]`, true},
		{"G8", anyOrder, `[1]`, `[1,1]`, false},
		{"G9", anyOrder, `[{"a":1},{"a":1,"b":2}]`, `[{"a":1,"b":2},{"a":1}]`, true},
		{"G9", anyOrder, `[{"a":1},{"a":1,"b":2},{"b":2}]`, `[{"a":1,"b":2},{"b":2},{"a":1}]`, true},
		{"G9", anyExtra, `[{"a":1},{"a":1,"b":2}]`, `[{"a":1,"b":2},{"c":1},{"a":1}]`, true},
		{"G10", plain, `[]`, `[]`, true},
		{"G10", plain, `{}`, `{"a":1}`, true},
		{"G11", plain, `{"a":2}`, `{"a":1,"a":2}`, true},
		{"G11", exact, `{"a":2}`, `{"a":1,"a":2}`, true},
		{"G11", strict, `{"a":2}`, `{"a":1,"a":2}`, false},
		{"G13", exact, `"\ud800"`, `"\udfff"`, false},
		{"G13", exact, `"\ud800"`, `"\ud800"`, true},
		{"G13", exact, `"\ufffd"`, "\"\xff\"", false},
		{"G13", exact, "\"\xfe\"", "\"\xff\"", false},
		{"G15", exact, `null`, `null`, true},
		{"G15", exact, `null`, `0`, false},
		{"G15", exact, `"a"`, `"a"`, true},
	} {
		p := jsonvalue.Compile(parse(t, c.expected), c.o, nil)
		actual := parse(t, c.actual)
		if got := p.Matches(actual); got != c.want {
			t.Errorf("%s %s against %s with %+v: %t", c.rule, c.expected, c.actual, c.o, got)
		}
		if d := p.Difference(actual); (d == nil) != c.want {
			t.Errorf("%s %s against %s with %+v: difference %+v", c.rule, c.expected, c.actual, c.o, d)
		}
	}
}

func TestG1_to_G5_hold_for_equal_values(t *testing.T) {
	t.Parallel()
	var wide, shuffled strings.Builder
	for i := range 40 {
		fmt.Fprintf(&wide, `"k%d":%d,`, i, i)
		fmt.Fprintf(&shuffled, `"k%d":%d.0,`, 39-i, 39-i)
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":[1,{"b":2}]}`, `{"a":[1.0,{"b":2e0}]}`, true},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":1}`, `{"a":1,"b":1}`, false},
		{`[1]`, `[1,2]`, false},
		{`[1]`, `[2]`, false},
		{`1`, `"1"`, false},
		{`null`, `null`, true},
		{"{" + wide.String() + `"z":1}`, "{" + shuffled.String() + `"z":1}`, true},
		{"{" + wide.String() + `"z":1}`, "{" + shuffled.String() + `"y":1}`, false},
	} {
		if got := jsonvalue.Equal(parse(t, c.a), parse(t, c.b)); got != c.want {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
}

func TestG9_more_than_500_items_a_side_are_too_large(t *testing.T) {
	t.Parallel()
	list := func(n int) *jsonvalue.Value { return parse(t, "["+strings.Repeat("1,", n-1)+"1]") }
	o := jsonvalue.Options{IgnoreOrder: true}
	if d := jsonvalue.Compare(list(500), list(500), o); d != nil {
		t.Errorf("500 items: %+v", d)
	}
	if d := jsonvalue.Compare(list(501), list(501), o); d == nil || d.Actual != "too large" {
		t.Errorf("501 items: %+v", d)
	}
	o.IgnoreExtraItems = true
	if d := jsonvalue.Compare(list(1), list(501), o); d == nil || d.Actual != "too large" {
		t.Errorf("1 of 501 items: %+v", d)
	}
}

// What would take hours is given up.
func TestG9_a_comparison_of_lists_in_lists_ends(t *testing.T) {
	t.Parallel()
	list := func(number func(i int) int) *jsonvalue.Value {
		rows := make([]string, 400)
		for i := range rows {
			rows[i] = "[" + strings.Repeat("[1,2,3,4,5,6,7],", 60) + strconv.Itoa(number(i)) + "]"
		}
		return parse(t, "["+strings.Join(rows, ",")+"]")
	}
	forward := list(func(i int) int { return i })
	backward := list(func(i int) int { return 399 - i })
	testkit.Bounded(t, time.Minute, func() {
		if d := jsonvalue.Compare(forward, backward, jsonvalue.Options{IgnoreOrder: true}); d == nil || d.Actual != "too large" {
			t.Errorf("got %+v", d)
		}
	})
}

// A list of lists of numbers, backwards and with one that is wrong, is given up within a second.
func TestG9_a_miss_of_lists_in_lists_ends_soon(t *testing.T) {
	t.Parallel()
	square := func(number func(i int) int) *jsonvalue.Value {
		rows := make([]string, 160)
		for i := range rows {
			row := make([]string, 160)
			for j := range row {
				row[j] = strconv.Itoa(number(i*160 + j))
			}
			rows[i] = "[" + strings.Join(row, ",") + "]"
		}
		return parse(t, "["+strings.Join(rows, ",")+"]")
	}
	forward := square(func(i int) int { return i })
	o := jsonvalue.Options{IgnoreOrder: true}
	if d := jsonvalue.Compare(forward, forward, o); d != nil {
		t.Errorf("the same: %+v", d)
	}
	wrong := square(func(i int) int {
		if i == 0 {
			return -1
		}
		return 160*160 - 1 - i
	})
	// That it gave up shows in the difference; the time is for a slow machine, and the race detector.
	testkit.Bounded(t, 30*time.Second, func() {
		if d := jsonvalue.Compare(forward, wrong, o); d == nil || d.Actual != "too large" {
			t.Errorf("got %+v", d)
		}
	})
}

func TestADifferenceNamesItsPlace(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	for _, c := range []struct {
		expected, actual string
		o                jsonvalue.Options
		want             jsonvalue.Difference
	}{
		{`{"a":[{"b":1}]}`, `{"a":[{"b":2}]}`, jsonvalue.Options{}, jsonvalue.Difference{Path: "/a/0/b", Operator: "equals", Expected: "1", Actual: "2"}},
		{`{"a/~":1}`, `{"a/~":"1"}`, jsonvalue.Options{}, jsonvalue.Difference{Path: "/a~1~0", Operator: "type", Expected: "number 1", Actual: `string "1"`}},
		{`{"a":{"b":[1]}}`, `{"a":{}}`, jsonvalue.Options{}, jsonvalue.Difference{Path: "/a/b", Operator: "equals", Expected: "[1]", Actual: "(missing)"}},
		{`{"a":1}`, `{"a":1,"b":{"c":true}}`, jsonvalue.Options{Exact: true}, jsonvalue.Difference{Path: "/b", Operator: "exists", Expected: "(missing)", Actual: `{"c":true}`}},
		{`[1,2]`, `[1]`, jsonvalue.Options{}, jsonvalue.Difference{Operator: "length", Expected: "2", Actual: "1"}},
		{`[1,2]`, `[2,3]`, jsonvalue.Options{IgnoreOrder: true}, jsonvalue.Difference{Operator: "ignoreOrder", Expected: "item 0: 1", Actual: "no item left that equals it"}},
		{`[2,1]`, `[1,2,3]`, jsonvalue.Options{IgnoreExtraItems: true}, jsonvalue.Difference{Operator: "equals", Expected: "item 1: 1", Actual: "no such item after those before it"}},
		{`{}`, `{"a":1,"a":2}`, jsonvalue.Options{Strict: true}, jsonvalue.Difference{Operator: "strict", Expected: "every name once", Actual: "the name a twice"}},
		{`"a"`, `"` + long + `"`, jsonvalue.Options{}, jsonvalue.Difference{Operator: "equals", Expected: `"a"`, Actual: `"` + long[:199] + "…"}},
	} {
		got := jsonvalue.Compare(parse(t, c.expected), parse(t, c.actual), c.o)
		if diff := cmp.Diff(&c.want, got); diff != "" {
			t.Errorf("%.60s against %.60s: %s", c.expected, c.actual, diff)
		}
	}
}

// less is a test that holds for numbers below a bound, and for what is missing when the bound is negative.
type less struct{ bound string }

func (l less) Holds(v *jsonvalue.Value) bool {
	if v == nil {
		return l.bound[0] == '-'
	}
	return v.Kind() == jsonvalue.Number && jsonvalue.CompareNumbers(v.Text(), l.bound) < 0
}

func (l less) Failing(*jsonvalue.Value) (operator, operand string) { return "lt", l.bound }

func TestG16_operators_stand_in_place_of_values(t *testing.T) {
	t.Parallel()
	var paths []string
	compile := func(operators *jsonvalue.Value, path []string) jsonvalue.Test {
		paths = append(paths, strings.Join(path, " "))
		bound, _ := operators.Member("lt")
		return less{bound.Text()}
	}
	for _, c := range []struct {
		expected, actual string
		exact, want      bool
	}{
		{`{"id":{"$match":{"lt":8}}}`, `{"id":7}`, true, true},
		{`{"id":{"$match":{"lt":8}}}`, `{"id":8}`, false, false},
		{`{"id":{"$match":{"lt":8}}}`, `{}`, false, false},
		{`{"id":{"$match":{"lt":-1}}}`, `{}`, true, true},
		{`{"id":{"$match":{"lt":-1}}}`, `{"x":1}`, true, false},
		{`[{"$match":{"lt":8}}]`, `[7]`, true, true},
		{`{"$literal":{"$match":1}}`, `{"$match":1}`, true, true},
		{`{"a":{"$literal":{"$literal":2}}}`, `{"a":{"$literal":2}}`, true, true},
		{`{"$match":{"lt":8},"b":1}`, `{"$match":{"lt":8},"b":1}`, true, true},
	} {
		p := jsonvalue.Compile(parse(t, c.expected), jsonvalue.Options{Exact: c.exact}, compile)
		if d := p.Difference(parse(t, c.actual)); (d == nil) != c.want {
			t.Errorf("%s against %s: %+v", c.expected, c.actual, d)
		}
		if p.Matches(parse(t, c.actual)) != c.want {
			t.Errorf("%s against %s: not %t", c.expected, c.actual, c.want)
		}
	}
	if diff := cmp.Diff([]string{"id $match", "id $match", "id $match", "id $match", "id $match", "0 $match"}, paths); diff != "" {
		t.Error(diff)
	}
	p := jsonvalue.Compile(parse(t, `{"id":{"$match":{"lt":8}}}`), jsonvalue.Options{}, compile)
	want := &jsonvalue.Difference{Path: "/id", Operator: "lt", Expected: "8", Actual: "(missing)"}
	if diff := cmp.Diff(want, p.Difference(parse(t, `{}`))); diff != "" {
		t.Error(diff)
	}
	want.Actual = "9"
	if diff := cmp.Diff(want, p.Difference(parse(t, `{"id":9}`))); diff != "" {
		t.Error(diff)
	}
	if d := jsonvalue.Compare(parse(t, `{"$match":1}`), parse(t, `{"$match":1}`), jsonvalue.Options{}); d != nil {
		t.Errorf("without operators $match is a name like others: %+v", d)
	}
}
