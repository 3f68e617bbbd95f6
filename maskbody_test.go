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

// M-81: parts of a form are fields too.
func TestM81_secrets_in_parts_are_masked(t *testing.T) {
	t.Parallel()
	const kind = `multipart/form-data; boundary="b-1"`
	part := func(head, content string) string { return "--b-1\r\n" + head + "\r\n\r\n" + content + "\r\n" }
	named := func(name, content string) string {
		return part(`Content-Disposition: form-data; name="`+name+`"`, content)
	}
	file := "Content-Disposition: form-data; name=\"data\"; filename=\"a.json\"\r\nContent-Type: application/json"
	const end = "--b-1--\r\nbehind password"
	for name, c := range map[string]struct{ body, want string }{
		"a field":        {named("user", "ada") + named("password", "s3cret\r\nmore") + end, named("user", "ada") + named("password", "***") + end},
		"the last field": {named("client_secret", "x") + named("a", "b") + end, named("client_secret", "***") + named("a", "b") + end},
		"a JSON file":    {part(file, `{"token":"x","a":1}`) + end, part(file, `{"token":"***","a":1}`) + end},
		"none":           {named("user", "password") + end, named("user", "password") + end},
		"a preamble":     {"password\r\n" + named("password", "x") + end, "password\r\n" + named("password", "***") + end},
		"cut":            {named("a", "b") + "--b-1\r\nContent-Disposition: form-data; name=password\r\n\r\ns3cr", named("a", "b") + "--b-1\r\nContent-Disposition: form-data; name=password\r\n\r\n***"},
		"cut in a head":  {"--b-1\r\nContent-Disposition: form-data; na", "--b-1\r\nContent-Disposition: form-data; na"},
		"bare feeds":     {"--b-1\nContent-Disposition: form-data; name=token\n\nx\n--b-1--", "--b-1\nContent-Disposition: form-data; name=token\n\n***\n--b-1--"},
		"empty":          {named("password", "") + end, named("password", "") + end},
		"no delimiter":   {"password=x", "password=x"},
		"nothing":        {"", ""},
	} {
		if got := mockbase.MaskBody(kind, []byte(c.body)); string(got) != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, kind := range []string{"multipart/form-data", "multipart/mixed; boundary=b-1", "application/xml", "text/xml"} {
		body := named("password", "x") + end
		if got := mockbase.MaskBody(kind, []byte(body)); string(got) != body {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

func FuzzMaskParts(f *testing.F) {
	for _, seed := range []string{"--b\r\nContent-Disposition: form-data; name=token\r\n\r\nx\r\n--b--", "--b\n\n--b", "--b--", "--b\n--b\n\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		once := mockbase.MaskBody("multipart/form-data; boundary=b", bytes.Clone(body))
		if twice := mockbase.MaskBody("multipart/form-data; boundary=b", bytes.Clone(once)); !bytes.Equal(once, twice) {
			t.Errorf("%q: masked %q, and again %q", body, once, twice)
		}
	})
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
