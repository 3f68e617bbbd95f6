package body_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/theory/jsonpath"

	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// Whatever compiles selects the nodes that the library selects.
func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{
		"$", "$.a[0]['b']", "$..*", "$[?@.a==1 && !@.b]", "$[::-2]", "$['a',\"b\",1,*]", "$[?match(@.s,'a.')]", "$[?count(@..*)>2]", "$.[?(@.a)]",
		"$[?@.a[?@>1]]", "$..[?@.x<$.b[-1]]", "$[?length(@)==2]", "$[", "$['\\ud83d\\ude00']", "$[?value(@..a)=='x']",
	} {
		f.Add(seed)
	}
	doc, err := jsonvalue.Parse([]byte(`{"a":[1,2.5,{"b":"x","s":"ab"},[true,null]],"b":[{"x":1,"a":[1,2]},{"x":3}],"s":"é","":{"":0}}`), jsonvalue.Limits{})
	if err != nil {
		f.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(doc.Append(nil), &plain); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := body.ParsePath(text)
		if err != nil {
			return
		}
		got, err := p.SelectValue(doc)
		if err != nil {
			return
		}
		library, err := jsonpath.Parse(text)
		if err != nil || len(got) > 10_000 {
			return
		}
		var want []string
		for node := range library.Select(plain).All() {
			encoded, err := json.Marshal(node)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(encoded))
		}
		var have []string
		for _, node := range got {
			encoded, err := json.Marshal(node.Any())
			if err != nil {
				t.Fatal(err)
			}
			have = append(have, string(encoded))
		}
		// Members of an object come in any order there.
		slices.Sort(want)
		slices.Sort(have)
		if diff := cmp.Diff(want, have); diff != "" {
			t.Fatalf("%s: %s", text, diff)
		}
	})
}

// No body makes a matcher panic, and its findings agree with it.
func FuzzMatcher(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"x"}],"c":null}`))
	f.Add([]byte(`{a:1}`))
	f.Add([]byte("\xFE\xFF\x00[\x00]"))
	f.Add([]byte(`[1e1000000000,"\ud800"]`))
	var matchers []*body.Matcher
	for _, text := range []string{
		`{"json":{"a":[1,{"b":{"$match":{"search":"x","not":"y"}}}]},"jsonOptions":{"ignoreOrder":true,"ignoreExtraItems":true,"strict":true}}`,
		`{"jsonExact":[1],"jsonOptions":{"numbersAsStrings":true}}`,
		`{"jsonPath":{"$..[?@.b > 1 || match(@.b,'x+')]":{"count":{"lt":5}},"$.*":{"type":"integer"}}}`,
		`{"schema":{"type":["object","array"],"additionalProperties":{"multipleOf":0.1,"minLength":2},"items":{"uniqueItems":true}}}`,
		`{"base64":"AP8=","empty":false}`,
	} {
		matchers = append(matchers, compile(f, text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m := body.New(src, nil)
		for _, matcher := range matchers {
			all := true
			for _, finding := range matcher.Findings(m) {
				all = all && finding.Holds
				if len(finding.Actual)+len(finding.Expected) > 2_000 {
					t.Fatalf("a finding of %d bytes", len(finding.Actual)+len(finding.Expected))
				}
			}
			if all != matcher.Holds(m) {
				t.Fatal("the findings contradict the match")
			}
		}
		m.Notes()
	})
}

func BenchmarkTwoCandidates(b *testing.B) {
	doc := []byte(`{"items":[` + strings.Repeat(`{"sku":"ABC-0001","qty":3,"price":9.99,"tags":["red","large"],"note":"handle with care"},`, 22) + `{}],"currency":"EUR"}`)
	first := compile(b, `{"json":{"currency":"USD"}}`)
	second := compile(b, `{"json":{"currency":"EUR"},"jsonPath":{"$.items[0].qty":{"gt":1}}}`)
	b.Run("match", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			m := body.New(doc, nil)
			if first.Holds(m) || !second.Holds(m) {
				b.Fatal("the second candidate does not match")
			}
		}
	})
	// The measure: what a handler does that reads the same body.
	b.Run("encodingJSON", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			var x any
			if err := json.Unmarshal(doc, &x); err != nil {
				b.Fatal(err)
			}
		}
	})
}
