package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxCallbacks is how many calls may follow one answer.
const maxCallbacks = 20

// callback is one call that an operation announces (rule S8).
type callback struct {
	name, method string
	// to is the address, with runtime expressions.
	to []fragment
	// body is nil for a call without one.
	body *requestBody
	// of reads the body's examples.
	of *operation
}

// fragment is a piece of an address: a literal text, or an expression.
type fragment struct {
	text       string
	expression bool
}

// readCallbacks reads the callbacks of 3.0 and 3.1.
func (op *operation) readCallbacks() {
	for _, named := range op.at.find("callbacks").members() {
		at, ok := op.document.source.follow(named.place)
		if !ok || strings.HasPrefix(named.name, "x-") {
			continue
		}
		for _, address := range at.members() {
			if item, found := op.document.source.follow(address.place); found && !strings.HasPrefix(address.name, "x-") {
				op.readCallback(named.name, address.name, item)
			}
		}
	}
}

// readCallback reads the path item of an address.
func (op *operation) readCallback(name, address string, item place) {
	to := fragmentsOf(address)
	for _, f := range to {
		if odd := f.odd(); odd != "" {
			op.document.source.notes.add(item, mockbase.FieldSyntax, "the callback "+quoted(name)+" has "+odd)
		}
	}
	for _, m := range methodsOf() {
		at := item.find(m.key)
		if !at.is(mockbase.NodeObject) || len(op.callbacks) == maxCallbacks {
			continue
		}
		own := &operation{document: op.document, method: m.method, at: at}
		own.readBody()
		op.callbacks = append(op.callbacks, &callback{name: name, method: m.method, to: to, body: own.body, of: own})
	}
}

// fragmentsOf takes an address apart. An address that is one expression needs no braces.
func fragmentsOf(address string) []fragment {
	if strings.HasPrefix(address, "$") {
		return []fragment{{address, true}}
	}
	var list []fragment
	for address != "" {
		literal, rest, found := strings.Cut(address, "{")
		if literal != "" {
			list = append(list, fragment{text: literal})
		}
		if !found {
			break
		}
		expression, after, closed := strings.Cut(rest, "}")
		if !closed {
			return append(list, fragment{text: "{" + rest})
		}
		list = append(list, fragment{expression, true})
		address = after
	}
	return list
}

// odd tells what is wrong with a fragment, "" if nothing is. A brace has no place in a URL (RFC 3986): it is one of an
// expression that lacks the other.
func (f fragment) odd() string {
	switch {
	case !f.expression && strings.Contains(f.text, "{"):
		return "an expression that is not closed, and is sent as it stands: a } is missing behind " + quoted(f.text)
	case !f.expression && strings.Contains(f.text, "}"):
		return "a } that closes nothing, and is sent as it stands: a { is missing before " + quoted(f.text)
	case f.expression && !knownExpression(f.text):
		return "an expression that is none: " + quoted(f.text)
	case f.expression && strings.ContainsAny(f.text, "{}"):
		return "an expression with a brace in it: " + quoted(f.text) + "; a JSON Pointer that means one is rare"
	}
	return ""
}

// knownExpression tells whether a text is a runtime expression (OpenAPI 3.1, section 4.8.20.4).
func knownExpression(text string) bool {
	switch text {
	case "$url", "$method", "$statusCode":
		return true
	}
	rest, ok := strings.CutPrefix(text, "$request.")
	if !ok {
		if rest, ok = strings.CutPrefix(text, "$response."); !ok {
			return false
		}
	}
	kind, name, named := strings.Cut(rest, ".")
	switch {
	case rest == "body", strings.HasPrefix(rest, "body#/"):
		return true
	case !named || name == "":
		return false
	case kind == "header":
		return true
	default:
		return strings.HasPrefix(text, "$request.") && (kind == "query" || kind == "path")
	}
}

// Callbacks are the calls that follow an answer of an operation, where the document is set to make them (rule S8). What
// cannot be called is among them, with the reason.
func (d *Document) Callbacks(op int, q *mockbase.DocumentRequest, a *mockbase.DocumentAnswer) []mockbase.DocumentCallback {
	if !d.options.Callbacks || a.Status >= http.StatusBadRequest {
		return nil
	}
	own := d.operations[op].ready()
	if len(own.callbacks) == 0 {
		return nil
	}
	v := &values{reading: newReading(own, q), answer: a}
	list := make([]mockbase.DocumentCallback, len(own.callbacks))
	for i, c := range own.callbacks {
		list[i] = c.call(v)
	}
	return list
}

// call works out one call.
func (c *callback) call(v *values) mockbase.DocumentCallback {
	made := mockbase.DocumentCallback{Name: c.name, Method: c.method}
	made.URL, made.Missed = c.address(v)
	if made.Missed != "" || c.body == nil || len(c.body.content) == 0 {
		return made
	}
	chosen := byDefault(c.body.content)
	written, refused := c.content(chosen, v)
	if refused != nil {
		made.URL, made.Missed = "", refused.detail
		return made
	}
	made.MediaType, made.Body = chosen.header(media{}, written.text), written.bytes
	return made
}

// content is the body: an example, else a value that the schema allows, drawn where answers are.
func (c *callback) content(t *mediaType, v *values) (made, *refusal) {
	if !c.of.document.options.Dynamic || v.Rand == nil {
		t.cache.once.Do(func() { t.cache.body, t.cache.refused = c.of.static(t) })
		return t.cache.body, t.cache.refused
	}
	drawn := making{reading: v.reading, answer: &mockbase.DocumentAnswer{}}
	drawn.random = func() *rand.Rand { return v.Rand("callback "+c.name+" "+c.method, "") }
	return drawn.body(t)
}

// address writes the values into the address. Within a URL they are escaped; one that begins it is the URL itself.
func (c *callback) address(v *values) (address, missed string) {
	var b strings.Builder
	for i, f := range c.to {
		if !f.expression {
			b.WriteString(f.text)
			continue
		}
		value, ok := v.of(f.text)
		switch {
		case !ok || value == "":
			return "", "the callback " + quoted(c.name) + " is not called: " + f.text + " yields nothing"
		case i == 0:
			b.WriteString(value)
		case strings.Contains(b.String(), "?"):
			b.WriteString(url.QueryEscape(value))
		default:
			b.WriteString(url.PathEscape(value))
		}
	}
	if at, err := url.Parse(b.String()); err != nil || !at.IsAbs() {
		return "", "the callback " + quoted(c.name) + " is not called: " + quoted(b.String()) + " is no absolute URL"
	}
	return b.String(), ""
}

// values are what runtime expressions see.
type values struct {
	*reading

	answer *mockbase.DocumentAnswer
}

// of is the value of an expression; false is none.
func (v *values) of(expression string) (string, bool) {
	switch expression {
	case "$url":
		return v.URL, true
	case "$method":
		return v.Method, true
	case "$statusCode":
		return strconv.Itoa(v.answer.Status), true
	}
	if rest, ok := strings.CutPrefix(expression, "$request."); ok {
		return v.ofRequest(rest)
	}
	if rest, ok := strings.CutPrefix(expression, "$response."); ok {
		if name, header := strings.CutPrefix(rest, "header."); header {
			return v.answerHeader(name)
		}
		return inBody(rest, v.answer.Body)
	}
	return "", false
}

func (v *values) ofRequest(rest string) (string, bool) {
	kind, name, _ := strings.Cut(rest, ".")
	var found []pair
	switch kind {
	case "header":
		lines := v.Header.Values(name)
		return strings.Join(lines, ", "), len(lines) > 0
	case "query":
		if found = named(v.query, name); len(found) > 0 {
			return decodedForm(found[0].value), true
		}
	case "path":
		if found = named(v.path, name); len(found) > 0 {
			return decoded(found[0].value), true
		}
	default:
		return inBody(rest, v.Body)
	}
	return "", false
}

func (v *values) answerHeader(name string) (string, bool) {
	if strings.EqualFold(name, "Content-Type") {
		return v.answer.MediaType, v.answer.MediaType != ""
	}
	at := slices.IndexFunc(v.answer.Header, func(h mockbase.Header) bool { return strings.EqualFold(h.Name, name) })
	if at < 0 {
		return "", false
	}
	return strings.Join(v.answer.Header[at].Values, ", "), true
}

// inBody is the body as it is, or what a JSON Pointer finds in it (RFC 6901).
func inBody(rest string, text []byte) (string, bool) {
	pointer, part := strings.CutPrefix(rest, "body#")
	if !part {
		return string(text), rest == "body" && len(text) > 0
	}
	value, err := parseJSON(text)
	if err != nil {
		return "", false
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if value, err = step(value, strings.NewReplacer("~1", "/", "~0", "~").Replace(token)); err != nil {
			return "", false
		}
	}
	return textOf(value)
}

var errNowhere = errors.New("the pointer leads nowhere")

func step(value any, token string) (any, error) {
	switch v := value.(type) {
	case map[string]any:
		if member, ok := v[token]; ok {
			return member, nil
		}
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) && strconv.Itoa(i) == token {
			return v[i], nil
		}
	}
	return nil, errNowhere
}

// textOf writes a value: a scalar as it is, an object or a list as JSON; null is none.
func textOf(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "", false
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", false
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}
