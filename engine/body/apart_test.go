package body_test

import "testing"

func TestA2_matches_are_told_apart_by_values_that_differ(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"json":{"kind":"a"}}`, `{"json":{"kind":"b","x":1}}`, true},
		{`{"json":{"kind":"a"}}`, `{"json":{"other":"b"}}`, false},
		{`{"json":{"n":1}}`, `{"jsonExact":{"n":1.0}}`, false},
		{`{"json":{"n":1}}`, `{"json":{"n":"1"}}`, true},
		{`{"json":{"n":1}}`, `{"json":{"n":"1"},"jsonOptions":{"numbersAsStrings":true}}`, false},
		{`{"json":{"a":{"b":[1]}}}`, `{"json":{"a":{"b":[2]}}}`, false},
		{`{"json":{"a":{"b":true}}}`, `{"json":{"a":{"b":false}}}`, true},
		{`{"json":{"a":{"$match":{"gt":1}}}}`, `{"json":{"a":1}}`, false},
		{`{"json":{"a":{"$literal":1}}}`, `{"json":{"a":2}}`, false},
		{`{"text":"a"}`, `{"text":[{"contains":"b"},"b"]}`, true},
		{`{"text":"a"}`, `{"text":{"equals":"A","ignoreCase":true}}`, false},
		{`{"text":"a"}`, `{"text":{"not":"a"}}`, false},
		{`{"base64":""}`, `{"base64":"YQ=="}`, true},
		{`{"sha256":"` + zeros + `"}`, `{"sha256":"` + zeros[1:] + `1"}`, true},
		{`{"sha256":"` + zeros + `"}`, `{"sha256":"` + zeros + `"}`, false},
		{`{"empty":true}`, `{"empty":false}`, true},
		{`{"empty":true}`, `{"text":"a"}`, false},
		{`{"graphql":{"operationName":"A"}}`, `{"graphql":{"operationName":"B"}}`, true},
		{`{"graphql":{"operationName":"A"}}`, `{"graphql":{"operationName":{"startsWith":"A"}}}`, false},
		{`{"graphql":{"operation":"query"}}`, `{"graphql":{"operation":"mutation"}}`, true},
		{`{"graphql":{"query":"{a}"}}`, `{"graphql":{"query":"{ a }"}}`, false},
		{`{"graphql":{"query":"{a}"}}`, `{"graphql":{"query":"{ b }"}}`, true},
		{`{"graphql":{"query":"{a}"}}`, `{"graphql":{"operationName":"A"}}`, true},
		{`{"graphql":{"query":"query A {a}"}}`, `{"graphql":{"operationName":"A","operation":"query"}}`, false},
		{`{"graphql":{"query":"{a}"}}`, `{"graphql":{"operation":"mutation"}}`, true},
		{`{"graphql":{"fields":"a"}}`, `{"graphql":{"fields":"b"}}`, false},
	} {
		a, b := compile(t, c.a), compile(t, c.b)
		if a.Apart(b) != c.want || b.Apart(a) != c.want {
			t.Errorf("%s and %s: want %t", c.a, c.b, c.want)
		}
		if a.Apart(a) {
			t.Errorf("%s is apart from itself", c.a)
		}
	}
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"
