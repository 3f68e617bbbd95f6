package testkit

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// IdentityProvider is an OpenID Connect provider on a real socket, with one person who is always signed in there. It checks
// what its client sends: the client's secret, the redirect address, the code, which works once, and the verifier of PKCE.
type IdentityProvider struct {
	*httptest.Server

	ClientID, ClientSecret string

	mu     sync.Mutex
	key    ed25519.PrivateKey
	claims map[string]any
	info   map[string]any
	codes  map[string]url.Values
}

// NewIdentityProvider starts a provider, and stops it with the test. Times are those of clock.
func NewIdentityProvider(t *testing.T, clock func() time.Time) *IdentityProvider {
	t.Helper()
	open, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &IdentityProvider{ClientID: "mockbase", ClientSecret: "client secret", key: key, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) { p.token(w, r, clock()) })
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		about := map[string]any{"sub": p.claims["sub"]}
		maps.Copy(about, p.info)
		answerJSON(w, http.StatusOK, about)
	})
	mux.HandleFunc("GET /jwks", func(w http.ResponseWriter, _ *http.Request) {
		public := base64.RawURLEncoding.EncodeToString(open)
		answerJSON(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{"kty": "OKP", "crv": "Ed25519", "kid": "k1", "alg": "EdDSA", "use": "sig", "x": public}}})
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// Vouch makes claims those of the person; they replace iss, aud, times and nonce where they name them, and a nil takes a claim
// away. What is in info is answered by the address for more about a person.
func (p *IdentityProvider) Vouch(claims, info map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims, p.info = claims, info
}

func (p *IdentityProvider) discovery(w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, http.StatusOK, map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/jwks",
		"userinfo_endpoint": p.URL + "/userinfo", "id_token_signing_alg_values_supported": []string{"EdDSA"},
	})
}

// authorize sends the browser back with a code.
func (p *IdentityProvider) authorize(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = asked
	p.mu.Unlock()
	back := url.Values{"code": {code}, "state": {asked.Get("state")}, "iss": {p.URL}, "hd": {"example.com"}}
	w.Header().Set("Location", asked.Get("redirect_uri")+"?"+back.Encode())
	w.WriteHeader(http.StatusFound)
}

func (p *IdentityProvider) token(w http.ResponseWriter, r *http.Request, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	code := r.PostFormValue("code")
	asked, known := p.codes[code]
	delete(p.codes, code)
	digest := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	secret, _ = url.QueryUnescape(secret)
	if !known || id != p.ClientID || secret != p.ClientSecret || asked.Get("redirect_uri") != r.PostFormValue("redirect_uri") ||
		asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(digest[:]) {
		answerJSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	claims := jwt.MapClaims{
		"iss": p.URL, "aud": p.ClientID, "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "nonce": asked.Get("nonce"), "auth_time": now.Unix(),
	}
	maps.Copy(claims, p.claims)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	made := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
	made.Header["kid"] = "k1"
	text, err := made.SignedString(p.key)
	if err != nil {
		answerJSON(w, http.StatusInternalServerError, map[string]any{"error": err.Error()})
		return
	}
	answerJSON(w, http.StatusOK, map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "expires_in": 60, "id_token": text})
}

func answerJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // a client that left needs no answer
}
