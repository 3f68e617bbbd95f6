package auth_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

func TestM31_a_token_says_who_signed_in_when(t *testing.T) {
	t.Parallel()
	w := newWatch()
	ring := openRing(t, "", w)
	token, err := ring.Issue(auth.Claims{UserID: "usr_1", SignInID: "sgn_1", AuthTime: w.now.Add(-time.Hour), Epoch: 3})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ring.Verify(token)
	if err != nil {
		t.Fatal(err)
	}
	want := auth.Claims{
		UserID: "usr_1", SignInID: "sgn_1", TokenID: got.TokenID, IssuedAt: w.now, ExpiresAt: w.now.Add(600 * time.Second),
		AuthTime: w.now.Add(-time.Hour), Epoch: 3,
	}
	if diff := cmp.Diff(want, got); diff != "" || got.TokenID == "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	header, claims := decodeToken(t, token)
	if diff := cmp.Diff(map[string]any{"alg": "EdDSA", "typ": "at+jwt", "kid": ring.Keys()[0].ID}, header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	names := []string{"aud", "auth_time", "epoch", "exp", "iat", "iss", "jti", "nbf", "sid", "sub"}
	for _, name := range names {
		if _, found := claims[name]; !found {
			t.Errorf("no claim %s", name)
		}
	}
	if len(claims) != len(names) {
		t.Errorf("claims %v", claims)
	}
}

func TestM31_a_token_lives_600_seconds_and_30_more(t *testing.T) {
	t.Parallel()
	w := newWatch()
	ring := openRing(t, "", w)
	token, err := ring.Issue(auth.Claims{UserID: "usr_1", SignInID: "sgn_1", AuthTime: w.now})
	if err != nil {
		t.Fatal(err)
	}
	start := w.now
	for _, c := range []struct {
		after time.Duration
		code  mockbase.Code
	}{
		{-31 * time.Second, mockbase.CodeUnauthenticated},
		{-30 * time.Second, ""},
		{0, ""},
		{629 * time.Second, ""},
		{630 * time.Second, mockbase.CodeTokenExpired},
	} {
		w.now = start.Add(c.after)
		if _, err := ring.Verify(token); mockbase.ErrorCode(err) != c.code {
			t.Errorf("after %v: %v, want code %q", c.after, err, c.code)
		}
	}
}

// forge writes a token of these parts, signed by sign.
func forge(t *testing.T, header, claims map[string]any, sign func(text string) []byte) string {
	t.Helper()
	part := func(m map[string]any) string {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(header) + "." + part(claims)
	return text + "." + base64.RawURLEncoding.EncodeToString(sign(text))
}

func decodeToken(t *testing.T, token string) (header, claims map[string]any) {
	t.Helper()
	for i, into := range []*map[string]any{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	return header, claims
}

func privateKey(t *testing.T, dir string) ed25519.PrivateKey {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "keyring.json"))
	if err != nil {
		t.Fatal(err)
	}
	var stored struct {
		Keys []struct {
			PEM string `json:"pem"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode([]byte(stored.Keys[0].PEM))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key.(ed25519.PrivateKey)
}

func with(m map[string]any, name string, value any) map[string]any {
	m = maps.Clone(m)
	if value == nil {
		delete(m, name)
	} else {
		m[name] = value
	}
	return m
}

// Every token below is made with the instance's own private key, except where the case is about another key: only the
// named change makes it invalid.
func TestM32_odd_tokens_are_refused(t *testing.T) {
	t.Parallel()
	dir, w := t.TempDir(), newWatch()
	ring, other := openRing(t, dir, w), openRing(t, "", w)
	own := privateKey(t, dir)
	sign := func(text string) []byte { return ed25519.Sign(own, []byte(text)) }
	none := func(string) []byte { return nil }
	hs256 := func(text string) []byte {
		mac, err := jwt.SigningMethodHS256.Sign(text, []byte(own.Public().(ed25519.PublicKey)))
		if err != nil {
			t.Fatal(err)
		}
		return mac
	}
	good, err := ring.Issue(auth.Claims{UserID: "usr_1", SignInID: "sgn_1", AuthTime: w.now})
	if err != nil {
		t.Fatal(err)
	}
	h, c := decodeToken(t, good)
	if _, err := ring.Verify(forge(t, h, c, sign)); err != nil {
		t.Fatalf("the unchanged forgery: %v", err)
	}
	foreign, err := other.Issue(auth.Claims{UserID: "usr_1", SignInID: "sgn_1", AuthTime: w.now})
	if err != nil {
		t.Fatal(err)
	}
	stranger := ed25519.NewKeyFromSeed(make([]byte, 32))
	for name, token := range map[string]string{
		"empty":                        "",
		"no token":                     "abc",
		"two parts":                    strings.Join(strings.Split(good, ".")[:2], "."),
		"four parts":                   good + ".x",
		"alg none":                     forge(t, with(h, "alg", "none"), c, none),
		"alg None":                     forge(t, with(h, "alg", "None"), c, none),
		"no alg":                       forge(t, with(h, "alg", nil), c, sign),
		"alg number":                   forge(t, with(h, "alg", 7), c, sign),
		"HS256 with the public key":    forge(t, with(h, "alg", "HS256"), c, hs256),
		"EdDSA label on an HMAC":       forge(t, h, c, hs256),
		"RS256":                        forge(t, with(h, "alg", "RS256"), c, sign),
		"no signature":                 forge(t, h, c, none),
		"another key under our kid":    forge(t, h, c, func(text string) []byte { return ed25519.Sign(stranger, []byte(text)) }),
		"another instance":             foreign,
		"no kid":                       forge(t, with(h, "kid", nil), c, sign),
		"kid of another instance":      forge(t, with(h, "kid", other.Keys()[0].ID), c, sign),
		"kid of the next key":          forge(t, with(h, "kid", ring.Keys()[1].ID), c, sign),
		"kid as a path":                forge(t, with(h, "kid", "../../dev/null"), c, sign),
		"kid as SQL":                   forge(t, with(h, "kid", "x' or '1'='1"), c, sign),
		"kid in other case":            forge(t, with(h, "kid", strings.ToLower(h["kid"].(string))), c, sign),
		"kid with a blank":             forge(t, with(h, "kid", h["kid"].(string)+" "), c, sign),
		"kid list":                     forge(t, with(h, "kid", []any{h["kid"]}), c, sign),
		"typ JWT":                      forge(t, with(h, "typ", "JWT"), c, sign),
		"no typ":                       forge(t, with(h, "typ", nil), c, sign),
		"jwk":                          forge(t, with(h, "jwk", map[string]any{"kty": "OKP"}), c, sign),
		"jku":                          forge(t, with(h, "jku", "http://127.0.0.1/keys"), c, sign),
		"x5u":                          forge(t, with(h, "x5u", "http://127.0.0.1/keys"), c, sign),
		"x5c":                          forge(t, with(h, "x5c", []any{"MIIB"}), c, sign),
		"crit":                         forge(t, with(h, "crit", []any{"exp"}), c, sign),
		"unknown header":               forge(t, with(h, "zip", "DEF"), c, sign),
		"issuer of another instance":   forge(t, h, with(c, "iss", other.InstanceID()), sign),
		"no issuer":                    forge(t, h, with(c, "iss", nil), sign),
		"another audience":             forge(t, h, with(c, "aud", "mockbase-engine"), sign),
		"no audience":                  forge(t, h, with(c, "aud", nil), sign),
		"no subject":                   forge(t, h, with(c, "sub", nil), sign),
		"no sign-in":                   forge(t, h, with(c, "sid", nil), sign),
		"no id":                        forge(t, h, with(c, "jti", nil), sign),
		"no iat":                       forge(t, h, with(c, "iat", nil), sign),
		"iat in the future":            forge(t, h, with(c, "iat", w.now.Add(time.Hour).Unix()), sign),
		"no nbf":                       forge(t, h, with(c, "nbf", nil), sign),
		"no exp":                       forge(t, h, with(c, "exp", nil), sign),
		"exp as text":                  forge(t, h, with(c, "exp", "never"), sign),
		"no auth_time":                 forge(t, h, with(c, "auth_time", nil), sign),
		"no epoch":                     forge(t, h, with(c, "epoch", nil), sign),
		"longer than 4 KiB":            forge(t, h, with(c, "pad", strings.Repeat("x", 4096)), sign),
		"padded base64":                good + "==",
		"standard base64":              strings.NewReplacer("-", "+", "_", "/").Replace(good) + "+",
		"line end in the signature":    good[:len(good)-4] + "\n" + good[len(good)-4:],
		"stray bits in the signature":  strayBits(good),
		"another claim, old signature": swapClaims(t, good, with(c, "sub", "usr_2")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ring.Verify(token)
			if mockbase.ErrorCode(err) != mockbase.CodeUnauthenticated {
				t.Errorf("got %v, want %s", err, mockbase.CodeUnauthenticated)
			}
		})
	}
}

// strayBits changes the bits of the last character that carry no data.
func strayBits(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	return token[:len(token)-1] + string(alphabet[last^1])
}

func swapClaims(t *testing.T, token string, claims map[string]any) string {
	t.Helper()
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(token, ".")
	return parts[0] + "." + base64.RawURLEncoding.EncodeToString(text) + "." + parts[2]
}

func TestM32_the_reason_of_a_refusal_stays_private(t *testing.T) {
	t.Parallel()
	_, err := openRing(t, "", newWatch()).Verify("a.b.c")
	if strings.Contains(err.Error(), "base64") {
		t.Errorf("the public message says why: %v", err)
	}
}

func FuzzVerify(f *testing.F) {
	w := newWatch()
	ring, err := auth.OpenKeyRing("", w.Now)
	if err != nil {
		f.Fatal(err)
	}
	good, err := ring.Issue(auth.Claims{UserID: "usr_1", SignInID: "sgn_1", AuthTime: w.now})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("a.b.c")
	f.Add("..")
	f.Add(strings.Repeat(".", 5000))
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := ring.Verify(token); err == nil && token != good {
			t.Errorf("accepted %q", token)
		}
	})
}

// Tokens are signed and checked while keys change under them.
func TestM33_rotation_disturbs_nobody(t *testing.T) {
	t.Parallel()
	w := newWatch()
	ring := openRing(t, t.TempDir(), w)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				token, err := ring.Issue(auth.Claims{UserID: "usr_1", SignInID: "sgn_1", AuthTime: w.now})
				if err == nil {
					_, err = ring.Verify(token)
				}
				if err != nil {
					t.Error(err)
				}
				if len(ring.JWKS().Keys) < 2 || len(ring.Keys()) < 2 {
					t.Error("a key is missing")
				}
			}
		})
	}
	group.Go(func() {
		for range 10 {
			if err := ring.Rotate(); err != nil {
				t.Error(err)
			}
		}
	})
	group.Wait()
}

func TestM32_a_token_that_is_known_is_refused_when_its_time_or_its_key_ends(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after func(*watch, *auth.KeyRing) error
		want  mockbase.Code
	}{
		"nothing happens":      {func(*watch, *auth.KeyRing) error { return nil }, ""},
		"the key is retired":   {func(_ *watch, k *auth.KeyRing) error { return k.Rotate() }, ""},
		"all keys are revoked": {func(_ *watch, k *auth.KeyRing) error { return k.Replace() }, mockbase.CodeUnauthenticated},
		"its time has come": {func(w *watch, _ *auth.KeyRing) error {
			w.now = w.now.Add(auth.AccessLife + auth.Leeway + time.Second)
			return nil
		}, mockbase.CodeTokenExpired},
		"it is within leeway": {func(w *watch, _ *auth.KeyRing) error {
			w.now = w.now.Add(auth.AccessLife + auth.Leeway - time.Second)
			return nil
		}, ""},
		"the clock is put back": {func(w *watch, _ *auth.KeyRing) error { w.now = w.now.Add(-auth.Leeway - time.Second); return nil }, mockbase.CodeUnauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatch()
			ring := openRing(t, "", w)
			token, err := ring.Issue(auth.Claims{UserID: "usr_1", SignInID: "sgn_1", AuthTime: w.now, Epoch: 1})
			if err != nil {
				t.Fatal(err)
			}
			first, err := ring.Verify(token)
			if err != nil {
				t.Fatal(err)
			}
			forged := []byte(token)
			forged[len(forged)-20] ^= 1
			if _, err := ring.Verify(string(forged)); mockbase.ErrorCode(err) != mockbase.CodeUnauthenticated {
				t.Errorf("another signature: %v", err)
			}
			if err := c.after(w, ring); err != nil {
				t.Fatal(err)
			}
			again, err := ring.Verify(token)
			if mockbase.ErrorCode(err) != c.want {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if err == nil && again != first {
				t.Errorf("claims %v, then %v", first, again)
			}
		})
	}
}
