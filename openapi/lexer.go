package openapi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// lexer turns the raw text of a parameter into a value, strictly by the types of its schema (rules W7 to W9). Everything
// is split on raw text before the pieces are decoded.
type lexer struct {
	parameter *parameter
	schemas   *schemas
	faults    []mockbase.Violation
	// texts reads what may be a text as one, also where it could be a number; chosen tells that something was.
	texts, chosen bool
}

func (l *lexer) fault(at spot, code, message string) {
	l.faults = append(l.faults, at.violation(code, message)...)
}

// value reads the whole parameter.
func (l *lexer) value(sent []pair) any {
	p := l.parameter
	kinds := l.schemas.kinds(p.schema.place)
	switch {
	case p.style == styleDeep:
		return l.deep(sent)
	case kinds.only("object") || kinds.has("object") && !kinds.scalar():
		return l.object(sent)
	case l.listed(kinds, sent):
		return l.list(sent)
	case len(sent) > 1:
		l.fault(p.spot(), "type", "the parameter is given "+strconv.Itoa(len(sent))+" times and is no list")
		return nil
	default:
		return l.scalar(p.decode(l.bare(sent[0].value)), p.schema.place, p.spot())
	}
}

// listed tells whether a parameter of these types was sent as a list. What may be anything may be one.
func (l *lexer) listed(own kinds, sent []pair) bool {
	if !own.has("array") {
		return len(own) == 0 && len(sent) > 1
	}
	return !own.scalar() || len(sent) > 1 || strings.Contains(sent[0].value, l.delimiter())
}

// bare takes the prefix of label and matrix off a single value.
func (l *lexer) bare(raw string) string {
	switch l.parameter.style {
	case styleLabel:
		return strings.TrimPrefix(raw, ".")
	case styleMatrix:
		// An empty value has no sign of equality (RFC 6570, section 3.2.7).
		return strings.TrimPrefix(strings.TrimPrefix(raw, ";"+l.parameter.name), "=")
	default:
		return raw
	}
}

// delimiter is what stands between the pieces of a value in one parameter.
func (l *lexer) delimiter() string {
	p := l.parameter
	switch {
	case p.style == styleLabel && p.explode:
		return "."
	case p.style == styleMatrix && p.explode:
		return ";"
	default:
		return delimiterOf(p.style)
	}
}

// delimiterOf is what a style puts between the pieces of a value that is not exploded.
func delimiterOf(style string) string {
	switch style {
	case styleSpace:
		return "%20"
	case stylePipe:
		return "|"
	case tabDelimited:
		return "%09"
	default:
		return ","
	}
}

// plainDelimiters writes the delimiters of a style in one way.
func plainDelimiters(style, raw string) string {
	switch style {
	case styleSpace:
		return strings.ReplaceAll(raw, "+", "%20")
	case stylePipe:
		return strings.ReplaceAll(strings.ReplaceAll(raw, "%7C", "|"), "%7c", "|")
	default:
		return raw
	}
}

// split takes the raw pieces of one value apart.
func (l *lexer) split(raw string) []string {
	p := l.parameter
	switch p.style {
	case styleSpace, stylePipe:
		raw = plainDelimiters(p.style, raw)
	case styleMatrix:
		if p.explode {
			raw = strings.TrimPrefix(raw, ";")
			break
		}
		raw = l.bare(raw)
	default:
		raw = l.bare(raw)
	}
	pieces := strings.Split(raw, l.delimiter())
	if p.in == inHeader {
		for i := range pieces {
			pieces[i] = strings.Trim(pieces[i], " \t")
		}
	}
	return pieces
}

// list reads a list: several parameters, or one that is divided.
func (l *lexer) list(sent []pair) any {
	p := l.parameter
	var pieces []string
	switch {
	case p.explode && (p.in == inQuery || p.in == inCookie || p.in == inForm):
		for _, one := range sent {
			pieces = append(pieces, one.value)
		}
	case len(sent) > 1:
		l.fault(p.spot(), "type", "the parameter is given "+strconv.Itoa(len(sent))+" times")
		return nil
	default:
		pieces = l.split(sent[0].value)
		if p.style == styleMatrix && p.explode {
			for i := range pieces {
				pieces[i] = strings.TrimPrefix(pieces[i], p.name+"=")
			}
		}
	}
	values := make([]any, len(pieces))
	for i, piece := range pieces {
		values[i] = l.item(piece, l.schemas.item(p.schema.place, i), p.spot().item(i), 0)
	}
	return values
}

// item reads one piece of a list. Lists within lists are those of OpenAPI 2.0, which says how each of them is divided.
func (l *lexer) item(raw string, at place, own spot, depth int) any {
	if l.schemas.source.dialect != dialect20 || depth > maxDeep || !l.schemas.kinds(at).only("array") {
		return l.scalar(l.parameter.decode(raw), at, own)
	}
	style := styleOf20(at.text("collectionFormat"))
	pieces := strings.Split(plainDelimiters(style, raw), delimiterOf(style))
	values := make([]any, len(pieces))
	for i, piece := range pieces {
		values[i] = l.item(piece, l.schemas.item(at, i), own.item(i), depth+1)
	}
	return values
}

// object reads the members of an object.
func (l *lexer) object(sent []pair) any {
	p := l.parameter
	var members []pair
	switch {
	case p.spreads():
		members = sent
	case p.explode:
		for _, piece := range l.split(sent[0].value) {
			name, value, stated := strings.Cut(piece, "=")
			if !stated && p.style != styleMatrix {
				l.fault(p.spot(), codeCoercion, "an exploded object is name=value, and "+quoted(p.decode(piece))+" is not")
				return nil
			}
			members = append(members, pair{name: p.decode(name), value: value})
		}
	default:
		pieces := l.split(sent[0].value)
		if len(pieces)%2 != 0 {
			l.fault(p.spot(), codeCoercion, "an object is names and values in turn, and one of them is missing")
			return nil
		}
		for pairOf := range slices.Chunk(pieces, 2) {
			members = append(members, pair{name: p.decode(pairOf[0]), value: pairOf[1]})
		}
	}
	declared := l.schemas.properties(p.schema.place)
	object := map[string]any{}
	for _, m := range members {
		object[m.name] = l.scalar(p.decode(m.value), declared[m.name], p.spot().child(m.name))
	}
	return object
}

// deep reads name[a][b]=value. A list is written name[a][]=value or name[a][0]=value.
func (l *lexer) deep(sent []pair) any {
	root := &deepNode{}
	for _, one := range sent {
		at := root
		for key := range strings.SplitSeq(strings.TrimSuffix(one.name[len(l.parameter.name)+1:], "]"), "][") {
			at = at.child(key)
		}
		at.values = append(at.values, one.value)
	}
	return l.deepValue(root, l.parameter.schema.place, l.parameter.spot(), 0)
}

// deepNode is one name in brackets.
type deepNode struct {
	keys     []string
	children map[string]*deepNode
	values   []string
}

func (n *deepNode) child(key string) *deepNode {
	if n.children == nil {
		n.children = map[string]*deepNode{}
	}
	if n.children[key] == nil {
		n.children[key] = &deepNode{}
		n.keys = append(n.keys, key)
	}
	return n.children[key]
}

func (l *lexer) deepValue(n *deepNode, at place, own spot, depth int) any {
	switch kinds := l.schemas.kinds(at); {
	case depth > maxDeep:
		l.fault(own, codeCoercion, "the object is nested too deep")
		return nil
	case len(n.keys) == 0 && !kinds.has("array"):
		if len(n.values) > 1 {
			l.fault(own, "type", "the member is given several times and is no list")
			return nil
		}
		return l.scalar(l.parameter.decode(n.values[0]), at, own)
	case kinds.has("array") && !kinds.has("object"):
		values := []any{}
		for _, raw := range n.values {
			values = append(values, l.scalar(l.parameter.decode(raw), l.schemas.item(at, len(values)), own.item(len(values))))
		}
		for _, key := range n.keys {
			for _, item := range n.children[key].apart() {
				values = append(values, l.deepValue(item, l.schemas.item(at, len(values)), own.item(len(values)), depth+1))
			}
		}
		return values
	}
	declared, object := l.schemas.properties(at), map[string]any{}
	for _, key := range n.keys {
		object[key] = l.deepValue(n.children[key], declared[key], own.child(key), depth+1)
	}
	return object
}

// maxDeep bounds the brackets of a name.
const maxDeep = 20

// apart gives each value of a list a node of its own.
func (n *deepNode) apart() []*deepNode {
	if len(n.keys) > 0 {
		return []*deepNode{n}
	}
	list := make([]*deepNode, len(n.values))
	for i, value := range n.values {
		list[i] = &deepNode{values: []string{value}}
	}
	return list
}

// scalar reads a decoded text by the types of a schema.
func (l *lexer) scalar(text string, at place, own spot) any {
	kinds := l.schemas.kinds(at)
	if l.texts && len(kinds) > 1 && kinds.has("string") {
		l.chosen = true
		return text
	}
	value, ok := kinds.read(text)
	if !ok {
		l.fault(own, codeCoercion, quoted(text)+" is no "+strings.Join(kinds, " or "))
	}
	return value
}

// kinds are the types that a schema allows; none allows all.
type kinds []string

func (k kinds) has(name string) bool { return slices.Contains(k, name) }

func (k kinds) only(name string) bool { return len(k) == 1 && k[0] == name }

// scalar tells whether a single text can be a value.
func (k kinds) scalar() bool {
	return len(k) == 0 || k.has("string") || k.has("integer") || k.has("number") || k.has("boolean")
}

// isNumber tells whether a text is a number as JSON writes it.
func isNumber(text string) bool {
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	last := text[len(text)-1]
	return '0' <= last && last <= '9' && json.Valid([]byte(text))
}

// read reads a text as one of the types, the strictest first (rule W9).
func (k kinds) read(text string) (any, bool) {
	switch {
	case text == "" && k.has("null"):
		return nil, true
	case (k.has("number") || k.has("integer")) && isNumber(text):
		return bounded(json.Number(text)), true
	case k.has("boolean") && (text == "true" || text == "false"):
		return text == "true", true
	case len(k) == 0 || k.has("string"):
		return text, true
	default:
		return k.readWhole(text)
	}
}

// readWhole reads a text as a list of one, or as the JSON of an object.
func (k kinds) readWhole(text string) (any, bool) {
	switch {
	case k.has("array") && !k.has("object"):
		return []any{text}, true
	case k.has("object"):
		value, err := parseJSON([]byte(text))
		return value, err == nil
	default:
		return nil, false
	}
}
