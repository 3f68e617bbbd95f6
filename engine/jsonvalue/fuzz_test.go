package jsonvalue_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// What encoding/json takes for JSON is JSON here and the other way round, and both read the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.50,-0e1,null,true,"\u00e9\ud83d\ude00\ud800"]}`, `{"a":1,"a":{"b":2}}`, ` [ ] `, `{a:1}`, `[1,]`, `01`, `"\`, "\"\xff\"",
		"\xEF\xBB\xBF[]", "\xFE\xFF\x00[\x00]", "\xFF\xFE\x00\x00[\x00\x00\x00", `[[[[`, `1e999999999999999999999`, "\"\xed\xa0\xbd\xed\xb8\x80\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		v, err := jsonvalue.Parse(src, jsonvalue.Limits{})
		if jsonvalue.Encoding(src) == "" && (err == nil) != json.Valid(src) {
			t.Fatalf("error %v, but encoding/json says valid: %t", err, json.Valid(src))
		}
		if err != nil {
			if e, ok := errors.AsType[*jsonvalue.SyntaxError](err); ok && (e.Line < 1 || e.Column < 1 || e.Offset < 0) {
				t.Fatalf("the place of %v is none", e)
			}
			return
		}
		again, err := jsonvalue.Parse(v.Append(nil), jsonvalue.Limits{})
		if err != nil || !jsonvalue.Equal(v, again) || !bytes.Equal(v.Append(nil), again.Append(nil)) {
			t.Fatalf("%q is read again as %v (%v)", v.Append(nil), again, err)
		}
		if jsonvalue.Encoding(src) == "" && utf8.Valid(src) && !bytes.Contains(bytes.ToLower(src), []byte(`\ud`)) {
			agree(t, src, v)
		}
		if d := jsonvalue.Compare(v, again, jsonvalue.Options{Exact: true}); d != nil {
			t.Fatalf("it does not match itself: %+v", d)
		}
	})
}

func agree(t *testing.T, src []byte, v *jsonvalue.Value) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(src))
	decoder.UseNumber()
	var want any
	if err := decoder.Decode(&want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, v.Any()); diff != "" {
		t.Fatal(diff)
	}
	back, err := jsonvalue.FromAny(want)
	if err != nil || !jsonvalue.Equal(v, back) {
		t.Fatalf("%v is not made of it again (%v)", back, err)
	}
}

// everyOption are all combinations of options.
func everyOption() []jsonvalue.Options {
	var all []jsonvalue.Options
	for bits := range 32 {
		all = append(all, jsonvalue.Options{
			Exact: bits&1 > 0, IgnoreOrder: bits&2 > 0, IgnoreExtraItems: bits&4 > 0, NumbersAsStrings: bits&8 > 0, Strict: bits&16 > 0,
		})
	}
	return all
}

// The laws of rule G10, under every option.
func FuzzCompare(f *testing.F) {
	f.Add(`{"a":[1,2,{"b":null}]}`, `{"a":[2.0,1,{"b":null,"c":1}],"d":"1"}`)
	f.Add(`[[1,2],[2,1]]`, `[[2,1],[1,2],[3]]`)
	f.Add(`{"a":1,"a":2}`, `{"a":2}`)
	f.Add(`["1",1]`, `[1,"1"]`)
	f.Add(`[{"a":1},{"a":1,"b":2}]`, `[{"a":1,"b":2},{"a":1}]`)
	f.Fuzz(func(t *testing.T, one, other string) {
		if len(one)+len(other) > 2_000 {
			return
		}
		a, aErr := jsonvalue.Parse([]byte(one), jsonvalue.Limits{})
		b, bErr := jsonvalue.Parse([]byte(other), jsonvalue.Limits{})
		if aErr != nil || bErr != nil {
			return
		}
		equal := jsonvalue.Equal(a, b)
		if equal != jsonvalue.Equal(b, a) || equal != (jsonvalue.Compare(a, b, jsonvalue.Options{Exact: true}) == nil) {
			t.Fatal("equality is not what exact documents are")
		}
		for _, o := range everyOption() {
			checkLaws(t, a, b, o)
		}
	})
}

func checkLaws(t *testing.T, a, b *jsonvalue.Value, o jsonvalue.Options) {
	t.Helper()
	if d := jsonvalue.Compare(a, a, o); d != nil && (!o.Strict || a.Duplicate() == "") {
		t.Fatalf("%+v: it does not match itself: %+v", o, d)
	}
	p := jsonvalue.Compile(a, o, nil)
	if (p.Difference(b) == nil) != p.Matches(b) {
		t.Fatalf("%+v: the difference contradicts the match", o)
	}
	if !p.Matches(b) {
		return
	}
	for _, looser := range []func(*jsonvalue.Options){
		func(o *jsonvalue.Options) { o.Exact = false },
		func(o *jsonvalue.Options) { o.IgnoreOrder = true },
		func(o *jsonvalue.Options) { o.IgnoreExtraItems = true },
		func(o *jsonvalue.Options) { o.NumbersAsStrings = true },
		func(o *jsonvalue.Options) { o.Strict = false },
	} {
		loose := o
		looser(&loose)
		if d := jsonvalue.Compare(a, b, loose); d != nil && d.Actual != "too large" {
			t.Fatalf("what matches with %+v does not with %+v: %+v", o, loose, d)
		}
	}
}

func TestG9_the_pairing_agrees_with_trying_every_order(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	item := func() string {
		var members []string
		for i := range 3 {
			if r.IntN(2) == 0 {
				members = append(members, `"`+strconv.Itoa(i)+`":`+strconv.Itoa(r.IntN(2)))
			}
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	list := func(n int) []*jsonvalue.Value {
		items := make([]*jsonvalue.Value, n)
		for i := range items {
			items[i] = parse(t, item())
		}
		return items
	}
	found := 0
	for range 5_000 {
		n := r.IntN(5)
		want, have := list(n), list(n+r.IntN(2))
		o := jsonvalue.Options{IgnoreOrder: true, IgnoreExtraItems: len(have) > n}
		got := jsonvalue.Compare(jsonvalue.NewArray(want...), jsonvalue.NewArray(have...), o) == nil
		if expected := someOrder(want, have); got != expected {
			t.Fatalf("%v against %v: %t, want %t", want, have, got, expected)
		}
		if got {
			found++
		}
	}
	if found == 0 || found == 5_000 {
		t.Errorf("%d of 5,000 match: the lists prove nothing", found)
	}
}

// someOrder tries every order.
func someOrder(want, have []*jsonvalue.Value) bool {
	if len(want) == 0 {
		return true
	}
	for i, candidate := range have {
		rest := append(append([]*jsonvalue.Value{}, have[:i]...), have[i+1:]...)
		if jsonvalue.Compare(want[0], candidate, jsonvalue.Options{}) == nil && someOrder(want[1:], rest) {
			return true
		}
	}
	return false
}
