package interchange

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// hbDialect is what a tool adds to the language: the values that its paths reach, and its helpers.
type hbDialect interface {
	// path returns the expression of a path, such as header "X-Key".
	path(segments []string) (string, bool)
	// helper returns the expression of a helper. Its operands are made with the writer.
	helper(w *hbWriter, c *hbCall) (string, error)
}

// listDialect is a dialect in which a name may stand for several values, of which a text takes the first.
type listDialect interface {
	// list returns the expression of all values of a path, or of a call in parentheses.
	list(a hbArg) (string, bool)
}

// errNoEquivalent is the reason why an expression stays as it is.
var errNoEquivalent = errors.New("has no equivalent")

func noEquivalent(what string) error { return fmt.Errorf("%s %w", quoted(what), errNoEquivalent) }

// hbWriter writes a parsed template in the language of the format.
type hbWriter struct {
	dialect hbDialect
	b       strings.Builder
	scopes  []hbScope
	// assigned holds the variables that the template sets.
	assigned map[string]bool
	// lost are the expressions that stay as they are, with their reasons.
	lost  []string
	names int
}

// hbScope is a block that changes what names mean.
type hbScope struct {
	this, index string
	// last tells of the last round of a loop, "" where nothing asks for it.
	last string
	// params are names that the block gives.
	params map[string]string
}

// translated is a text in the language of the format.
type translatedText struct {
	text string
	// lost are the expressions that have no equivalent; the text shows them as they were written.
	lost []string
	// dynamic tells that something is left to render.
	dynamic bool
}

// translateHandlebars translates a text. One that does not parse is returned as it is, with the reason in lost.
func translateHandlebars(text string, d hbDialect) translatedText {
	if !strings.Contains(text, "{{") {
		return translatedText{text: text}
	}
	nodes, err := parseHandlebars(text)
	if err != nil {
		return translatedText{text: literalBraces(text), lost: []string{err.Error()}, dynamic: true}
	}
	w := &hbWriter{dialect: d, assigned: map[string]bool{}}
	for _, n := range nodes {
		before := w.b.Len()
		if err := w.node(n); err != nil {
			kept := w.b.String()[:before]
			w.b.Reset()
			w.b.WriteString(kept)
			w.b.WriteString(literalBraces(n.raw))
			w.lost = append(w.lost, err.Error())
		}
	}
	return translatedText{text: w.b.String(), lost: w.lost, dynamic: true}
}

// literalBraces writes a text so that its braces are text.
func literalBraces(text string) string {
	return strings.ReplaceAll(text, "{{", `{{ "{{" }}`)
}

func (w *hbWriter) all(nodes []hbNode) error {
	for _, n := range nodes {
		if err := w.node(n); err != nil {
			return err
		}
	}
	return nil
}

func (w *hbWriter) node(n hbNode) error {
	switch {
	case n.block:
		return w.block(n)
	case n.call == nil:
		w.b.WriteString(literalBraces(n.text))
		return nil
	}
	if done, err := w.assignment(n.call); done || err != nil {
		return err
	}
	expression, err := w.call(n.call)
	if err != nil {
		return err
	}
	w.action(expression)
	return nil
}

func (w *hbWriter) action(text string) { w.b.WriteString("{{ " + text + " }}") }

// call writes an expression.
func (w *hbWriter) call(c *hbCall) (string, error) {
	if len(c.args) == 0 && len(c.hash) == 0 {
		if c.head.kind != hbPath {
			return w.operand(c.head)
		}
		if text, ok := w.path(c.head.text); ok {
			return text, nil
		}
	}
	if c.head.kind != hbPath {
		return "", noEquivalent(c.head.text)
	}
	if text, ok, err := w.common(c); ok || err != nil {
		return text, err
	}
	return w.dialect.helper(w, c)
}

// operand writes an argument so that it can stand among others.
func (w *hbWriter) operand(a hbArg) (string, error) {
	switch a.kind {
	case hbString:
		return strconv.Quote(a.text), nil
	case hbNumber, hbBool:
		return a.text, nil
	case hbSub:
		text, err := w.call(a.sub)
		return parenthesised(text), err
	default:
		text, ok := w.path(a.text)
		if !ok {
			return "", noEquivalent(a.text)
		}
		return parenthesised(text), nil
	}
}

// listOperand writes an argument that is gone through or counted: all values of a parameter, not the first alone.
func (w *hbWriter) listOperand(a hbArg) (string, error) {
	if d, has := w.dialect.(listDialect); has && !w.shadowed(a) {
		if text, ok := d.list(a); ok {
			return "(" + text + ")", nil
		}
	}
	return w.operand(a)
}

// shadowed tells whether a path begins with a name that the template itself gives.
func (w *hbWriter) shadowed(a hbArg) bool {
	segments := pathSegments(a.text)
	if a.kind != hbPath || len(segments) == 0 {
		return false
	}
	_, found, _ := w.local(segments, len(w.scopes)-1)
	return found
}

// operands writes all arguments of a call, of which there must be between least and most.
func (w *hbWriter) operands(c *hbCall, least, most int) ([]string, error) {
	if len(c.args) < least || len(c.args) > most {
		return nil, fmt.Errorf("%s with %d arguments %w", quoted(c.head.text), len(c.args), errNoEquivalent)
	}
	// What is gone through, counted or joined are all values of the first argument.
	lists := slices.Contains([]string{"each", "size", "join"}, c.head.text)
	texts := make([]string, len(c.args))
	for i, a := range c.args {
		write := w.operand
		if lists && i == 0 {
			write = w.listOperand
		}
		text, err := write(a)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return texts, nil
}

func parenthesised(text string) string {
	if strings.Contains(text, " ") && !strings.HasPrefix(text, `"`) {
		return "(" + text + ")"
	}
	return text
}

// path writes a path: a name of the scope, a variable that was assigned, or a value of the dialect.
func (w *hbWriter) path(text string) (string, bool) {
	segments := pathSegments(text)
	if len(segments) == 0 {
		return "", false
	}
	scope := len(w.scopes) - 1
	for len(segments) > 1 && segments[0] == ".." {
		segments, scope = segments[1:], scope-1
	}
	scope = max(scope, -1)
	if text, found, ok := w.local(segments, scope); found {
		return text, ok
	}
	if text, ok := w.dialect.path(segments); ok {
		return text, true
	}
	if scope >= 0 {
		return member(w.scopes[scope].this, segments)
	}
	return "", false
}

// local writes a path that begins with a name which the template itself gives: a parameter of a block, a variable, or what
// a loop goes through. It is found when the name is one, and ok when it can be written.
func (w *hbWriter) local(segments []string, scope int) (text string, found, ok bool) {
	for i := scope; i >= 0; i-- {
		if base, is := w.scopes[i].params[segments[0]]; is {
			text, ok = member(base, segments[1:])
			return text, true, ok
		}
	}
	if w.assigned[segments[0]] {
		text, ok = member("$"+segments[0], segments[1:])
		return text, true, ok
	}
	if scope < 0 {
		return "", false, false
	}
	switch s := w.scopes[scope]; segments[0] {
	case "this", ".":
		text, ok = member(s.this, segments[1:])
		return text, true, ok
	case "@index", "@key":
		return s.index, true, s.index != ""
	case "@first":
		return "eq " + s.index + " 0", true, s.index != ""
	case "@last":
		return s.last, true, s.last != ""
	}
	return "", strings.HasPrefix(segments[0], "@"), false
}

// member reaches into a value: fields by name, items by number.
func member(base string, names []string) (string, bool) {
	if base == "" {
		return "", false
	}
	for _, name := range names {
		switch {
		case name == "length":
			base = "(length " + base + ")"
		case isDigits(name):
			base = "(index " + base + " " + name + ")"
		case isIdentifier(name) && !strings.HasPrefix(base, "("):
			base += "." + name
		default:
			base = "(index " + base + " " + strconv.Quote(name) + ")"
		}
	}
	return base, true
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isIdentifier(s string) bool {
	if s == "" || '0' <= s[0] && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		if !wordChar(s[i]) {
			return false
		}
	}
	return true
}

// comparisons are helpers that read the same in both languages.
func comparison(name string) (string, bool) {
	names := map[string]string{
		"eq": "eq", "neq": "ne", "ne": "ne", "gt": "gt", "gte": "ge", "ge": "ge", "lt": "lt", "lte": "le", "le": "le", "and": "and", "or": "or", "not": "not",
	}
	found, ok := names[name]
	return found, ok
}

// common writes the helpers that every dialect has.
func (w *hbWriter) common(c *hbCall) (text string, ok bool, err error) {
	name, ok := comparison(c.head.text)
	if !ok {
		return "", false, nil
	}
	least := 2
	if name == "not" {
		least = 1
	}
	const most = 20
	operands, err := w.operands(c, least, most)
	if err != nil {
		return "", false, err
	}
	return name + " " + strings.Join(operands, " "), true, nil
}
