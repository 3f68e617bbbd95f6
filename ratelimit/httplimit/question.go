package httplimit

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase/ratelimit"
)

// maxClaims bounds the part of an unverified token that is decoded.
const maxClaims = 8 << 10

// question is a request whose parts are asked for.
type question struct {
	*Identity

	request    *http.Request
	unverified bool
}

func (i *Identity) ask(r *http.Request) *question { return &question{Identity: i, request: r} }

// claimsKey, formKey and orderKey are the places of what is handed in through a context.
type (
	claimsKey struct{}
	formKey   struct{}
	orderKey  struct{}
)

// WithClaims hands in the claims of a JWT that authentication has verified (rule RL80).
func WithClaims(ctx context.Context, claims map[string]any) context.Context {
	return context.WithValue(ctx, claimsKey{}, claims)
}

// WithForm hands in fields of a body for templates, such as those of a sign-in that came as JSON. Without it templates
// see what r.ParseForm has read before: a key never reads a body by itself (rules RL79, RL113).
func WithForm(ctx context.Context, form url.Values) context.Context {
	return context.WithValue(ctx, formKey{}, form)
}

// WithHeaderOrder hands in the names of the header fields in the order that they were received in (rule RL83).
func WithHeaderOrder(ctx context.Context, names []string) context.Context {
	return context.WithValue(ctx, orderKey{}, names)
}

func (q *question) address() string {
	return q.options.Addresses.Identifier(q.options.Addresses.Client(q.request))
}

// path is the same however its dot segments and letters were written.
func (q *question) path() string {
	resolved, _ := ResolvePath(q.request, q.options.Base)
	if q.options.IgnoreCase != nil && q.options.IgnoreCase(q.request) {
		return ratelimit.FoldPath(resolved)
	}
	return resolved
}

func (q *question) endpoint() string {
	pattern := q.request.Pattern
	if q.options.Pattern != nil {
		pattern = q.options.Pattern(q.request)
	}
	if pattern == "" {
		pattern = q.path()
	}
	return q.request.Method + " " + pattern
}

// bounded returns a value as it is if it is short and does not look like a digest, and its digest if not.
func (q *question) bounded(part, value string) string {
	if len(value) > maxValue || strings.HasPrefix(value, digestMark) {
		return q.digest(part, value)
	}
	return value
}

// readable is the source of a value that is no secret.
func (q *question) readable(part string, find func() (string, bool)) (string, bool) {
	value, ok := find()
	if !ok || value == "" {
		return "", false
	}
	return q.bounded(part, value), true
}

// secret is the source of a value that only its digest may stand for.
func (q *question) secret(part string, find func(*question) (string, bool)) (string, bool) {
	value, ok := find(q)
	if !ok || value == "" {
		return "", false
	}
	return q.digest(part, value), true
}

// named is the source of a header or parameter, which its name tells for a secret or not.
func (q *question) named(part, name string, find func(*question, string) (string, bool)) (string, bool) {
	value, ok := find(q, name)
	switch {
	case !ok || value == "":
		return "", false
	case q.secretName(name):
		return q.digest(part, value), true
	default:
		return q.bounded(part, value), true
	}
}

// secretName says whether values under the name are secrets.
func (i *Identity) secretName(name string) bool {
	same := func(other string) bool { return strings.EqualFold(name, other) }
	if same(i.options.APIKeyHeader) || slices.ContainsFunc(i.options.SecretNames, same) {
		return true
	}
	name = strings.ToLower(name)
	for _, word := range [...]string{"auth", "token", "key", "secret", "cookie", "session", "sid", "passw", "pwd", "sign", "sig", "credential", "jwt", "otp"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func headerOf(q *question, name string) (string, bool) {
	values := q.request.Header.Values(name)
	if name == "Host" && len(values) == 0 { // The server moves it there.
		return q.request.Host, true
	}
	return strings.Join(values, ", "), len(values) > 0
}

func queryOf(q *question, name string) (string, bool) {
	values := q.request.URL.Query()[name]
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

func cookieOf(q *question, name string) (string, bool) {
	cookie, err := q.request.Cookie(name)
	if err != nil {
		return "", false
	}
	return cookie.Value, true
}

// formOf returns a field of a form that somebody else has read.
func formOf(q *question, name string) (string, bool) {
	form, handed := q.request.Context().Value(formKey{}).(url.Values)
	if !handed {
		form = q.request.PostForm
	}
	if len(form[name]) == 0 {
		return "", false
	}
	return form[name][0], true
}

// tokenOf returns the bearer token, or else the API key.
func tokenOf(q *question) (string, bool) {
	if bearer, ok := bearerOf(q.request); ok {
		return bearer, true
	}
	return headerOf(q, http.CanonicalHeaderKey(q.options.APIKeyHeader))
}

func bearerOf(r *http.Request) (string, bool) {
	scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	credentials = strings.TrimSpace(credentials)
	return credentials, credentials != "" && strings.EqualFold(scheme, "Bearer")
}

func (q *question) session(*question) (string, bool) {
	if q.options.Session != nil {
		return q.options.Session(q.request)
	}
	return cookieOf(q, q.options.SessionCookie)
}

// user returns who is asking, as far as that is verified.
func (q *question) user() (string, bool) {
	if q.options.User != nil {
		return q.options.User(q.request)
	}
	return claimText(q.verified()["sub"])
}

func (q *question) verified() map[string]any {
	if q.options.Claims != nil {
		return q.options.Claims(q.request)
	}
	claims, _ := q.request.Context().Value(claimsKey{}).(map[string]any)
	return claims
}

// claim returns a claim of the verified token, and of an unverified one only where the key says so and nothing is
// verified.
func (q *question) claim(name string) (string, bool) {
	claims := q.verified()
	if claims == nil && q.unverified {
		claims = q.unverifiedClaims()
	}
	return claimText(claims[name])
}

// unverifiedClaims reads the payload of a bearer token that is a JWT by its form.
func (q *question) unverifiedClaims() map[string]any {
	bearer, _ := bearerOf(q.request)
	parts := strings.Split(bearer, ".")
	if len(parts) != 3 || len(parts[1]) > maxClaims {
		return nil
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return nil
	}
	var claims map[string]any
	if json.Unmarshal(payload, &claims) != nil {
		return nil
	}
	return claims
}

// claimText returns a claim that is a text, a number or a truth value; others cannot be keys.
func claimText(claim any) (string, bool) {
	switch value := claim.(type) {
	case string:
		return value, value != ""
	case json.Number:
		return value.String(), value != ""
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64), true
	case int:
		return strconv.Itoa(value), true
	case int64:
		return strconv.FormatInt(value, 10), true
	case bool:
		return strconv.FormatBool(value), true
	default:
		return "", false
	}
}
