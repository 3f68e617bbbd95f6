package engine

import (
	"encoding/binary"
	"fmt"
	"net/textproto"
	"reflect"
	"slices"

	"github.com/mockbase/mockbase"
)

// traits are what a mock asks of a request, each as a text that is the same for two mocks where they ask the same.
type traits struct {
	*entry
	// statements are the conditions, sorted and without doubles.
	statements []string
}

func traitsOf(e *entry) *traits {
	t := &traits{entry: e}
	if !e.guards.any() {
		return t
	}
	t.names("matrix", e.mock.Request.Matrix)
	c := stated(e.mock)
	c.States = nil // which are compared one by one
	t.condition(c)
	slices.Sort(t.statements)
	t.statements = slices.Compact(t.statements)
	return t
}

// own are the traits by which a mock may be found: its conditions, its host and its expression.
func (t *traits) own() []string {
	list := slices.Clip(t.statements)
	if t.host != nil {
		list = append(list, hostTrait(t.host.name))
	}
	if t.pattern.expr != nil {
		list = append(list, "expression "+t.pattern.expr.String())
	}
	return list
}

// texts are the traits of its own, and the hosts that include its host.
func (t *traits) texts() []string {
	list := t.own()
	if t.host == nil {
		return list
	}
	for i := 1; i < len(t.host.name); i++ {
		list = append(list, hostTrait(t.host.name[i:]))
	}
	return list
}

func hostTrait(name string) string { return "host " + name }

// has tells whether all conditions of another are among the own.
func (t *traits) has(other *traits) bool {
	at := 0
	for _, text := range other.statements {
		for at < len(t.statements) && t.statements[at] < text {
			at++
		}
		if at == len(t.statements) || t.statements[at] != text {
			return false
		}
	}
	return true
}

// condition adds what a condition states, in as many parts as hold each for itself.
func (t *traits) condition(c *mockbase.Condition) {
	t.names("path", c.Path)
	t.names("query", c.Query)
	t.names(partHeaders, c.Headers)
	t.names("cookie", c.Cookies)
	t.bodies(c.Body)
	t.parts("auth", c.Auth)
	t.parts("states", c.States)
	t.parts("call", c.Call)
	t.parts("anyOf", c.AnyOf)
	t.parts("not", c.Not)
	for i := range c.AllOf {
		t.condition(&c.AllOf[i])
	}
}

// names adds the clauses on names.
func (t *traits) names(part string, list []mockbase.NamedMatch) {
	for i := range list {
		name := list[i].Name
		if part == partHeaders {
			name = textproto.CanonicalMIMEHeaderKey(name)
		}
		for j := range list[i].Match {
			t.state(part, name, &list[i].Match[j])
		}
	}
}

func (t *traits) bodies(m *mockbase.BodyMatch) {
	if m == nil {
		return
	}
	t.names("jsonPath", m.JSONPath)
	t.names("form", m.Form)
	for i := range m.XPath {
		t.state("xpath", m.XPath[i], m.Namespaces)
	}
	for i := range m.Text {
		t.state("text", &m.Text[i])
	}
	t.parts("json", m.JSON, m.JSONOptions)
	t.parts("jsonExact", m.JSONExact, m.JSONOptions)
	t.parts("xml", m.XML, m.XMLOptions)
	t.parts("schema", m.Schema)
	t.parts("multipart", m.Multipart)
	t.parts("sha256", m.SHA256)
	t.parts("size", m.Size)
	t.parts("empty", m.Empty)
	t.parts("graphql", m.GraphQL)
	if m.HasBase64 {
		t.state("base64", m.Base64)
	}
}

// parts adds a statement, unless what it is about is not stated.
func (t *traits) parts(part string, about any, more ...any) {
	if !reflect.ValueOf(about).IsNil() {
		t.state(part, append([]any{about}, more...)...)
	}
}

func (t *traits) state(part string, values ...any) {
	text := []byte(part)
	for _, v := range values {
		text = appendTrait(text, reflect.ValueOf(v))
	}
	t.statements = append(t.statements, string(text))
}

// appendTrait appends a value so that two texts are equal where the values are, in all they point to.
func appendTrait(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0)
		}
		return appendTrait(append(b, 1), v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			b = appendTrait(b, field)
		}
		return b
	case reflect.Slice:
		if v.IsNil() {
			return append(b, 0)
		}
		b = binary.AppendVarint(append(b, 1), int64(v.Len()))
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return append(b, v.Bytes()...)
		}
		for i := range v.Len() {
			b = appendTrait(b, v.Index(i))
		}
		return b
	case reflect.String:
		return appendCounted(b, v.String())
	default:
		return append(fmt.Append(b, v), 0)
	}
}
