package tape

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// matcher is the request of a recorded mock, as a document.
type matcher struct {
	Method  string         `json:"method"`
	Path    string         `json:"path"`
	Query   map[string]any `json:"query,omitempty"`
	Headers map[string]any `json:"headers,omitempty"`
	Body    map[string]any `json:"body,omitempty"`
}

// asked is a matcher as JSON; guarded tells that it states more than method and path.
type asked struct {
	document json.RawMessage
	guarded  bool
}

// request makes the request of the mock (rule T15).
func (r Rules) request(x *Exchange) (*asked, error) {
	m := matcher{Method: x.Method, Path: literalPath(x.Path), Query: r.values(parsePairs(x.Query)), Headers: map[string]any{}}
	for _, name := range r.Headers {
		name = http.CanonicalHeaderKey(name)
		if lines := x.Header[name]; len(lines) > 0 && !r.secret(name) {
			m.Headers[name] = sameLines(lines)
		}
	}
	if len(x.Body) > 0 {
		m.Body = r.body(x)
	}
	document, err := encode(m)
	if err != nil {
		return nil, fmt.Errorf("write recorded request: %w", err)
	}
	return &asked{document, len(m.Query)+len(m.Headers)+len(m.Body) > 0}, nil
}

func (r Rules) secret(name string) bool { return r.Secret != nil && r.Secret(name) }

// literalPath writes a path so that no segment of it is a pattern.
func literalPath(path string) string {
	return strings.NewReplacer("{", "%7B", "}", "%7D", "*", "%2A", "?", "%3F", "#", "%23").Replace(resolved(path))
}

// resolved is a path without dot segments: the mocks resolve those of requests before they compare (rule B8).
func resolved(path string) string {
	if !strings.Contains(path, "/.") && !strings.Contains(path, "%2") {
		return path
	}
	var kept []string
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain != "." && plain != ".." {
			kept = append(kept, segment)
			continue
		}
		if plain == ".." {
			kept = kept[:max(len(kept)-1, 0)]
		}
		if i == len(segments)-1 {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}

// pair is a name with its value.
type pair struct{ name, value string }

// parsePairs reads form-urlencoded text as the mocks do: a bad escape stays as it is.
func parsePairs(text string) []pair {
	var pairs []pair
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, pair{unescape(name), unescape(value)})
	}
	return pairs
}

func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return strings.ReplaceAll(text, "+", " ")
}

// values makes conditions of pairs: each value by equality, and no secrets.
func (r Rules) values(pairs []pair) map[string]any {
	lists := map[string][]string{}
	for _, p := range pairs {
		// What is no text cannot be written, and a value without a name cannot be asked for.
		if p.name != "" && !r.secret(p.name) && utf8.ValidString(p.name) && utf8.ValidString(p.value) {
			lists[p.name] = append(lists[p.name], p.value)
		}
	}
	conditions := make(map[string]any, len(lists))
	for name, list := range lists {
		conditions[name] = sameLines(list)
	}
	return conditions
}

// sameLines is the condition that the values are these.
func sameLines(list []string) any {
	if len(list) == 1 {
		return list[0]
	}
	return map[string]any{"ordered": list}
}

// body makes the condition on the body, by its kind.
func (r Rules) body(x *Exchange) map[string]any {
	m := body.New(x.Body, x.Header)
	media, _, _ := mime.ParseMediaType(x.Header.Get("Content-Type"))
	if made := r.decodedBody(m, media); made != nil {
		return made
	}
	return map[string]any{"base64": base64.StdEncoding.EncodeToString(x.Body)}
}

// decodedBody makes the condition on a body that can be read; nil where only its bytes can be compared.
func (r Rules) decodedBody(m *body.Message, media string) map[string]any {
	text, err := m.Decoded()
	if err != nil {
		return nil
	}
	switch {
	case media == "" || media == "application/json" || strings.HasSuffix(media, "+json"):
		return r.jsonBody(m, text)
	case m.IsXML() && utf8.Valid(text):
		return map[string]any{"xml": string(text)}
	case media == "application/x-www-form-urlencoded":
		if fields := r.values(parsePairs(string(text))); len(fields) > 0 {
			return map[string]any{"form": fields}
		}
	}
	return nil
}

func (r Rules) jsonBody(m *body.Message, text []byte) map[string]any {
	value, err := m.JSON()
	// A document that looks like operators, or that a definition cannot hold, is compared byte by byte.
	if err != nil || !json.Valid(text) || bytes.Contains(text, []byte(`"$`)) || value.Duplicate() != "" {
		return nil
	}
	plain, dropped := r.withoutSecrets(value)
	if dropped {
		return map[string]any{"json": json.RawMessage(plain.Append(nil))}
	}
	return map[string]any{"jsonExact": json.RawMessage(text)}
}

// withoutSecrets leaves out the members of secret names; the rest of the document stays a condition.
func (r Rules) withoutSecrets(v *jsonvalue.Value) (plain *jsonvalue.Value, dropped bool) {
	switch v.Kind() {
	case jsonvalue.Object:
		var members []jsonvalue.Member
		for name, value := range v.Members() {
			if r.secret(name) {
				dropped = true
				continue
			}
			inner, less := r.withoutSecrets(value)
			dropped = dropped || less
			members = append(members, jsonvalue.Member{Name: name, Value: inner})
		}
		return jsonvalue.NewObject(members...), dropped
	case jsonvalue.Array:
		items := make([]*jsonvalue.Value, v.Len())
		for i := range items {
			inner, less := r.withoutSecrets(v.Item(i))
			items[i], dropped = inner, dropped || less
		}
		return jsonvalue.NewArray(items...), dropped
	default:
		return v, false
	}
}

// encode writes a document with sorted names and without HTML escapes.
func encode(document any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
