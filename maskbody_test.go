package mockbase_test

import (
	"bytes"
	"testing"

	"github.com/mockbase/mockbase"
)

// M-81: what is called like a secret is masked in the bodies that people are shown; all else stays byte for byte.
func TestM81_secrets_in_bodies_are_masked(t *testing.T) {
	t.Parallel()
	const form, text = "application/x-www-form-urlencoded", "application/json; charset=utf-8"
	for name, c := range map[string]struct{ kind, body, want string }{
		"a member":          {text, `{ "user" : "ada",  "password" : "s3cret", "n": 1.0 }`, `{ "user" : "ada",  "password" : "***", "n": 1.0 }`},
		"deep inside":       {text, `[{"a":{"client_secret":"x\"y","b":1}}]`, `[{"a":{"client_secret":"***","b":1}}]`},
		"a number":          {text, `{"token":123,"b":2}`, `{"token":"***","b":2}`},
		"an object":         {text, `{"token":{"a":["}"]},"b":2}`, `{"token":"***","b":2}`},
		"nothing":           {text, `{"token":null,"password":true}`, `{"token":null,"password":true}`},
		"another name":      {text, `{"key":5,"a":"password"}`, `{"key":5,"a":"password"}`},
		"an escaped name":   {text, `{"pass\u0077ord":"x"}`, `{"pass\u0077ord":"***"}`},
		"cut":               {text, `{"a":1,"password":"s3cr`, `{"a":1,"password":"***"`},
		"cut before":        {text, `{"a":1,"password":`, `{"a":1,"password":`},
		"no kind":           {"", `{"password":"x"}`, `{"password":"***"}`},
		"a kind of JSON":    {"application/problem+json", `{"password":"x"}`, `{"password":"***"}`},
		"a form":            {form, `user=ada&password=s3cret&b=+1`, `user=ada&password=***&b=+1`},
		"a form without":    {form, `user=ada`, `user=ada`},
		"something else":    {"application/octet-stream", `{"password":"x"}`, `{"password":"x"}`},
		"no JSON":           {text, `"password": x`, `"password": "***"`},
		"nothing at all":    {text, ``, ``},
		"quotes that stay":  {text, `"`, `"`},
		"a colon too many":  {text, `{"password"::1}`, `{"password":"***"}`},
		"brackets too many": {text, `{"password":}]`, `{"password":}]`},
	} {
		if got := mockbase.MaskBody(c.kind, []byte(c.body)); string(got) != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func FuzzMaskBody(f *testing.F) {
	for _, seed := range []string{`{"password":"x"}`, `{"a":[{"token":{"b":1}}]}`, `{"password":"\`, `"token":[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		once := mockbase.MaskBody("application/json", bytes.Clone(body))
		if twice := mockbase.MaskBody("application/json", bytes.Clone(once)); !bytes.Equal(once, twice) {
			t.Errorf("%q: masked %q, and again %q", body, once, twice)
		}
	})
}
