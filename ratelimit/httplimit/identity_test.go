package httplimit_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

var digest = regexp.MustCompile(`^34~d_[0-9a-f]{32}$`)

func newIdentity(tb testing.TB, change func(*httplimit.IdentityOptions)) *httplimit.Identity {
	tb.Helper()
	o := httplimit.IdentityOptions{Secret: []byte("a secret of thirty-two bytes, yes"), Addresses: clients(), SessionCookie: "sid"}
	if change != nil {
		change(&o)
	}
	i, err := httplimit.NewIdentity(o)
	if err != nil {
		tb.Fatal(err)
	}
	return i
}

func newKey(tb testing.TB, i *httplimit.Identity, text string) *httplimit.Key {
	tb.Helper()
	k, err := i.Key(httplimit.KeyOptions{Key: text})
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

func keyOf(tb testing.TB, i *httplimit.Identity, text string, r *http.Request) string {
	tb.Helper()
	identifier, ok := newKey(tb, i, text).Identifier(r)
	if !ok {
		tb.Errorf("%s: no key", text)
	}
	return identifier
}

// known is a request with everything that keys ask for.
func known(target string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader("email=body@example.org"))
	r.RemoteAddr = "192.0.2.1:4711"
	r.Pattern = "/orders/{id}"
	for name, value := range map[string]string{
		"X-Client": "203.0.113.9", "X-Tenant": "acme", "Authorization": "bearer tok-5ecret", "X-Api-Key": "key-5ecret",
		"Cookie": "sid=sid-5ecret; theme=theme-5ecret", "User-Agent": "curl/8", "Content-Type": "application/x-www-form-urlencoded",
	} {
		r.Header.Set(name, value)
	}
	ctx := httplimit.WithClaims(r.Context(), map[string]any{"sub": "ada", "org": 7.0, "root": true, "groups": []any{"a"}})
	return r.WithContext(httplimit.WithForm(ctx, url.Values{"email": {"ADA@example.org"}}))
}

func TestRL78_keys_of_a_request(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, nil)
	for text, want := range map[string]string{
		"":                                       "203.0.113.9",
		"ip":                                     "203.0.113.9",
		"global":                                 "global",
		"header:x-tenant":                        "4~acme",
		"query:page":                             "1~2",
		"jwt:sub":                                "3~ada",
		"jwt:org":                                "1~7",
		"jwt:root":                               "4~true",
		"user":                                   "3~ada",
		"path":                                   "9~/orders/7",
		"endpoint":                               "17~POST /orders/{id}", // RL80: not the raw path, so that ids do not multiply keys.
		"ip+header:X-Tenant":                     "11~203.0.113.94~acme",
		"header:X-Tenant+ip":                     "4~acme11~203.0.113.9",
		"{{ip}}:{{upper (header \"X-Tenant\")}}": "16~203.0.113.9:ACME",
		"{{header \"X-Tenant\" | upper | lower}}/{{method}}/{{\"v1\"}}": "12~acme/POST/v1",
		"{{jwt \"sub\"}}@{{trim (query \"page\")}}{{endpoint}}":         "22~ada@2POST /orders/{id}",
	} {
		if got := keyOf(t, i, text, known("/orders/7?page=2")); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestRL81_secrets_are_digests_in_keys(t *testing.T) {
	t.Parallel()
	i, twin := newIdentity(t, nil), newIdentity(t, nil)
	other := newIdentity(t, func(o *httplimit.IdentityOptions) { o.Secret = []byte("another secret of some bytes") })
	random := newIdentity(t, func(o *httplimit.IdentityOptions) { o.Secret = nil })
	seen := map[string]string{}
	for _, text := range []string{
		"token", "session", "cookie:sid", "cookie:theme", "header:Authorization", "header:X-Api-Key", "header:Cookie", "query:access_token",
		"fingerprint", "fingerprint:strict", "fingerprint:relaxed", `{{ip}}:{{lower (formField "email")}}`, `{{formField "email"}}`,
	} {
		got := keyOf(t, i, text, known("/?access_token=query-5ecret"))
		if !digest.MatchString(got) || seen[got] != "" {
			t.Errorf("%s: %q, and %q has it too", text, got, seen[got])
		}
		seen[got] = text
		if again := keyOf(t, twin, text, known("/?access_token=query-5ecret")); again != got {
			t.Errorf("%s: replicas with one secret have %q and %q", text, got, again)
		}
		for _, foreign := range []*httplimit.Identity{other, random} {
			if keyOf(t, foreign, text, known("/?access_token=query-5ecret")) == got {
				t.Errorf("%s: the digest does not depend on the secret", text)
			}
		}
	}
	mixed := keyOf(t, i, `{{token}}/{{cookie "sid"}}`, known("/"))
	if strings.Contains(mixed, "5ecret") {
		t.Errorf("a template shows a secret: %s", mixed)
	}
	mine := newIdentity(t, func(o *httplimit.IdentityOptions) { o.SecretNames = []string{"X-TENANT"} })
	if got := keyOf(t, mine, "header:X-Tenant", known("/")); !digest.MatchString(got) {
		t.Errorf("a name that the options call secret: %q", got)
	}
}

func TestRL80_the_token_is_the_bearer_token_or_the_api_key(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, nil)
	bearer := keyOf(t, i, "token", known("/"))
	r := known("/")
	r.Header.Set("Authorization", "Bearer  tok-5ecret")
	if got := keyOf(t, i, "token", r); got != bearer {
		t.Errorf("the scheme's case and blanks do not matter: %q and %q", got, bearer)
	}
	r.Header.Set("Authorization", "Basic tok-5ecret")
	apiKey := keyOf(t, i, "token", r)
	if apiKey == bearer {
		t.Error("basic credentials are no token, the API key is")
	}
	r.Header.Del("X-Api-Key")
	if got, ok := newKey(t, i, "token").Identifier(r); got != "203.0.113.9" || !ok {
		t.Errorf("RL79 without a token the address stands in: %q %t", got, ok)
	}
}

func TestRL80_claims_count_when_they_are_verified(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, nil)
	token := func(payload string) *http.Request {
		return requestFrom("198.51.100.1:9", [2]string{"Authorization", "Bearer e30." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c2ln"})
	}
	for _, c := range []struct {
		name       string
		r          *http.Request
		unverified bool
		want       string
	}{
		{"a claim that nobody verified is none", token(`{"sub":"eve"}`), false, "198.51.100.1"},
		{"unless the policy says so", token(`{"sub":"eve"}`), true, "3~eve"},
		{"and then a verified one wins", token(`{"sub":"eve"}`).WithContext(httplimit.WithClaims(t.Context(), map[string]any{"sub": "ada"})), true, "3~ada"},
		{"verified claims without it are the last word", token(`{"sub":"eve"}`).WithContext(httplimit.WithClaims(t.Context(), map[string]any{})), true, "198.51.100.1"},
		{"a list is no key", token(`{"sub":["eve"]}`), true, "198.51.100.1"},
		{"a payload that is no object has no claims", token(`[]`), true, "198.51.100.1"},
		{"nor has one of bad base64", requestFrom("198.51.100.1:9", [2]string{"Authorization", "Bearer a.!.b"}), true, "198.51.100.1"},
		{"nor a giant one", token(`{"sub":"` + strings.Repeat("x", 9000) + `"}`), true, "198.51.100.1"},
	} {
		k, err := i.Key(httplimit.KeyOptions{Key: "jwt:sub", Unverified: c.unverified})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := k.Identifier(c.r); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	asked := newIdentity(t, func(o *httplimit.IdentityOptions) {
		o.Claims = func(*http.Request) map[string]any { return map[string]any{"sub": "of the option"} }
		o.User = func(*http.Request) (string, bool) { return "somebody", true }
	})
	if got := keyOf(t, asked, "jwt:sub+user", known("/")); got != "13~of the option8~somebody" {
		t.Errorf("options that know: %q", got)
	}
}

func TestRL78_options_say_where_parts_are_found(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, func(o *httplimit.IdentityOptions) {
		o.Pattern = func(r *http.Request) string { return r.Header.Get("X-Route") }
		o.Session = func(r *http.Request) (string, bool) { return "session of " + r.Method, true }
		o.APIKeyHeader = "X-My-Access"
	})
	claims := map[string]any{"int": 7, "int64": int64(8), "number": json.Number("9"), "float": 1.5, "no": false, "none": nil}
	r := requestFrom("198.51.100.1:9", [2]string{"X-Route", "/routes/{id}"}, [2]string{"X-My-Access", "key-5ecret"})
	r = r.WithContext(httplimit.WithClaims(r.Context(), claims))
	for text, want := range map[string]string{
		"endpoint": "16~GET /routes/{id}", "header:Host": "11~example.com", "jwt:int": "1~7", "jwt:int64": "1~8", "jwt:number": "1~9",
		"jwt:float": "3~1.5", "jwt:no": "5~false", "jwt:none": "198.51.100.1",
	} {
		if got := keyOf(t, i, text, r); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"session", "token", "header:x-my-access"} {
		if got := keyOf(t, i, text, r); !digest.MatchString(got) {
			t.Errorf("%s: %q", text, got)
		}
	}
	if got := keyOf(t, newIdentity(t, nil), "endpoint", r); got != "5~GET /" {
		t.Errorf("RL80 without a route the path stands in: %q", got)
	}
}

func TestRL79_a_missing_part_falls_back_to_the_address(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, nil)
	bare := requestFrom("198.51.100.1:9", [2]string{"X-Empty", ""}, [2]string{"X-Address", "198.51.100.1"})
	for _, text := range []string{
		"header:X-Tenant", "header:X-Empty", "token", "jwt:sub", "user", "cookie:sid", "session", "query:page", "ip+token", "global+header:X-Tenant",
		`{{ip}}:{{lower (formField "email")}}`, `{{header "X-Tenant"}}`,
	} {
		for missing, want := range map[httplimit.Missing]bool{"": true, httplimit.MissingIP: true, httplimit.MissingSkip: false, httplimit.MissingDeny: false} {
			k, err := i.Key(httplimit.KeyOptions{Key: text, OnMissing: missing})
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := k.Identifier(bare); got != "198.51.100.1" || ok != want {
				t.Errorf("%s, %q: %q %t", text, missing, got, ok)
			}
		}
	}
	if got := keyOf(t, i, "header:X-Address", bare); got != "12~198.51.100.1" {
		t.Errorf("a value poses as the address of somebody: %q", got)
	}
}

func TestRL78_long_and_odd_values_are_bounded(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, nil)
	for name, value := range map[string]string{
		"a megabyte":               strings.Repeat("x", 1<<20),
		"129 bytes":                strings.Repeat("x", 129),
		"what looks like a digest": "d_" + strings.Repeat("0", 32),
	} {
		if got := keyOf(t, i, "header:X-Tenant", requestFrom("192.0.2.1:1", [2]string{"X-Tenant", value})); !digest.MatchString(got) {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
	if got := keyOf(t, i, "header:X-Tenant", requestFrom("192.0.2.1:1", [2]string{"X-Tenant", "a:{b}\x00\n"})); got != "7~a:{b}\x00\n" {
		t.Errorf("%q", got)
	}
}

func TestRL79_templates_are_bounded_and_read_nothing(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, nil)
	key := `{{formField "email"}}`
	read := func(r *http.Request) string {
		identifier, _ := newKey(t, i, key).Identifier(r)
		return identifier
	}
	form := func() *http.Request { r := known("/"); return r.WithContext(t.Context()) }
	unread := form()
	if got := read(unread); got != "203.0.113.9" {
		t.Errorf("a body that nobody has read is not there: %q", got)
	}
	if err := unread.ParseForm(); err != nil || unread.PostForm.Get("email") != "body@example.org" {
		t.Errorf("the key has read the body: %v %v", unread.PostForm, err)
	}
	if got := read(unread); !digest.MatchString(got) {
		t.Errorf("a form that the handler has read: %q", got)
	}
	for size, want := range map[int]bool{4096 - 12: true, 4097 - 12: false} {
		r := form().WithContext(httplimit.WithForm(t.Context(), url.Values{"email": {strings.Repeat("x", size)}}))
		if got := keyOf(t, i, `{{ip}}:{{formField "email"}}`, r); digest.MatchString(got) != want {
			t.Errorf("output of %d bytes: %q", size+12, got)
		}
	}
}

func TestRL78_keys_that_cannot_be_are_refused(t *testing.T) {
	t.Parallel()
	bare := newIdentity(t, func(o *httplimit.IdentityOptions) { o.SessionCookie = "" })
	for _, text := range []string{
		"+", "ip+", "+ip", "ip,token", " ip", "IP", "header", "header:", "header:a b", "cookie:a=b", "query:", "jwt:", "jwt:\x00", "team:x",
		"fingerprint:", "fingerprint:loose", strings.Repeat("ip+", 16) + "ip", strings.Repeat("x", 5000),
		"session", "ip+session", "fingerprint:custom", `{{session}}`, `{{fingerprint "custom"}}`,
		"{{", "{{}}", "{{nope}}", "{{.}}", "{{.Host}}", "{{$x := ip}}{{$x}}", "{{$}}", "{{1}}", "{{nil}}", "{{true}}", "{{print ip}}", "{{len ip}}",
		"{{if ip}}a{{end}}", "{{range 1000000000}}{{end}}", "{{with ip}}a{{end}}", `{{template "key"}}`, `{{define "a"}}b{{end}}`, `{{block "a" .}}b{{end}}`,
		`{{header}}`, `{{header "a b"}}`, `{{header "A" "B"}}`, `{{header ip}}`, `{{"A" | header}}`, `{{ip "a"}}`, `{{ip | ip}}`, `{{lower}}`, `{{lower header}}`,
		`{{"a" "b"}}`, `{{ip | "a"}}`, `{{(ip).X}}`, `{{break}}`, `{{/* nothing */}}`, strings.Repeat("{{ip}}", 65), strings.Repeat("{{(", 1000),
	} {
		if _, err := bare.Key(httplimit.KeyOptions{Key: text}); !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%.40q: %v, want ErrConfig", text, err)
		}
	}
	if _, err := bare.Key(httplimit.KeyOptions{OnMissing: "ignore"}); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("an answer to missing keys that is none: %v", err)
	}
	err := bare.Check("ip", "token", "team:x", "session")
	if err == nil || !errors.Is(err, ratelimit.ErrConfig) || !strings.Contains(err.Error(), "team:x") || !strings.Contains(err.Error(), "session") {
		t.Errorf("all faults at once: %v", err)
	}
	if value, ok := bare.Part(known("/"), "team:x"); ok || value != "" {
		t.Errorf("a part that cannot be is missing: %q %t", value, ok)
	}
}

func TestRL81_identities_that_cannot_be_are_refused(t *testing.T) {
	t.Parallel()
	_, err := httplimit.NewIdentity(httplimit.IdentityOptions{
		Secret: []byte("5hort"), APIKeyHeader: "a b", JA3Header: "c d", SessionCookie: "e=f", FingerprintParts: []string{"address", "shoe size", "header:"},
	})
	if !errors.Is(err, ratelimit.ErrConfig) {
		t.Fatal(err)
	}
	for _, part := range []string{"5 bytes", "a b", "c d", "e=f", "shoe size", `"header:"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v lacks %s", err, part)
		}
	}
	if strings.Contains(err.Error(), "5hort") {
		t.Errorf("the secret is shown: %v", err)
	}
}

// split undoes JoinKey.
func split(t *testing.T, joined string) []string {
	t.Helper()
	var parts []string
	for joined != "" {
		digits, rest, _ := strings.Cut(joined, "~")
		size := 0
		for _, d := range digits {
			size = 10*size + int(d-'0')
		}
		if size > len(rest) {
			t.Fatalf("%q is no list", joined)
		}
		parts, joined = append(parts, rest[:size]), rest[size:]
	}
	return parts
}

func FuzzRL142_joined_parts_cannot_run_together(f *testing.F) {
	f.Add("a", "b", "c")
	f.Add("", "1~", "~1")
	f.Add("11~203.0.113.9", "4~", strings.Repeat("x", 200))
	f.Fuzz(func(t *testing.T, a, b, c string) {
		for _, parts := range [][]string{{a}, {a, b}, {a, b, c}, {a + b, c}, {a, b + c}} {
			if diff := cmp.Diff(parts, split(t, httplimit.JoinKey(parts...))); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func FuzzRL142_key_specifications(f *testing.F) {
	for _, text := range []string{
		"ip", "ip+token+header:X-Tenant", "jwt:sub", "fingerprint:relaxed", `{{ip}}:{{lower (formField "email")}}`, `{{header "A" | upper}}`, "{{range 9}}{{end}}",
		"{{(((ip)))}}", "{{/* c */}}", "{{- ip -}}", "{{`x`}}", "query:a[b]",
	} {
		f.Add(text, "value")
	}
	i, err := httplimit.NewIdentity(httplimit.IdentityOptions{SessionCookie: "sid", FingerprintParts: []string{"ja3"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		parts, err := httplimit.ParseKey(text)
		k, keyErr := i.Key(httplimit.KeyOptions{Key: text})
		if text == "" {
			return
		}
		if (err == nil) != (keyErr == nil) {
			t.Fatalf("%v and %v", err, keyErr)
		}
		if err != nil {
			if !errors.Is(err, ratelimit.ErrConfig) {
				t.Fatal(err)
			}
			return
		}
		r := known("/orders/7?page=2")
		r.Header.Set("X-Tenant", value)
		identifier, ok := k.Identifier(r)
		if !ok || identifier == "" || len(identifier) > 133*len(parts) || strings.Contains(identifier, "5ecret") {
			t.Fatalf("%q: %t", identifier, ok)
		}
	})
}
