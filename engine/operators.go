package engine

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// values are what a request sent under one name.
type values struct {
	list []string
	// joined is all field lines of a header as one; several tells that there is more than one line (rule D3).
	joined  string
	several bool
}

// sent tells whether the name was there at all, be it with an empty value (rules D5 and K6).
func (v *values) sent() bool { return len(v.list) > 0 }

// some tells whether any value satisfies holds: a line, or all lines joined.
func (v *values) some(holds func(string) bool) bool {
	return slices.ContainsFunc(v.list, holds) || v.several && holds(v.joined)
}

// clause is a compiled object of operators.
type clause struct {
	// each must all hold for one and the same value, set for the values as a whole.
	each []eachTest
	set  []setTest
}

// eachTest is an operator about one value.
type eachTest struct {
	operator, operand string
	holds             func(value string) bool
}

// setTest is an operator about all values of a name.
type setTest struct {
	operator, operand string
	holds             func(v *values) bool
}

// holds tells whether the values satisfy the clause. For a name that was not sent, every operator is false but exists:
// false and the negation of what is false (rule K7).
func (c *clause) holds(v *values) bool {
	for i := range c.set {
		if !c.set[i].holds(v) {
			return false
		}
	}
	return len(c.each) == 0 || v.some(c.satisfied)
}

func (c *clause) satisfied(value string) bool {
	for i := range c.each {
		if !c.each[i].holds(value) {
			return false
		}
	}
	return true
}

// failing returns the operator to name when the clause does not hold.
func (c *clause) failing(v *values) (operator, operand string) {
	for i := range c.set {
		if t := &c.set[i]; !t.holds(v) {
			return t.operator, t.operand
		}
	}
	for i := range c.each {
		if t := &c.each[i]; i == len(c.each)-1 || !v.some(t.holds) {
			return t.operator, t.operand
		}
	}
	return "", ""
}

// String describes the clause: contains a, endsWith b.
func (c *clause) String() string {
	parts := make([]string, 0, len(c.each)+len(c.set))
	for i := range c.each {
		parts = append(parts, c.each[i].operator+" "+c.each[i].operand)
	}
	for i := range c.set {
		parts = append(parts, c.set[i].operator+" "+c.set[i].operand)
	}
	return strings.Join(parts, ", ")
}

// clauseCompiler compiles one object of operators.
type clauseCompiler struct {
	operators *mockbase.Operators
	// at is the JSON pointer of the object.
	at     string
	faults *mockbase.Faults
	clause clause
	// numbers compares values as numbers: below count.
	numbers bool
	// folding is ignoreCase (rule K5).
	folding bool
}

// compileMatch compiles what the values of one name must satisfy: every clause (rule K9).
func compileMatch(match mockbase.Match, at string, faults *mockbase.Faults) []clause {
	compiled := make([]clause, 0, len(match))
	for i := range match {
		place := at
		if len(match) > 1 {
			place = pointerTo(at, strconv.Itoa(i))
		}
		k := clauseCompiler{operators: &match[i], at: place, faults: faults}
		compiled = append(compiled, k.compile())
	}
	return compiled
}

func (k *clauseCompiler) compile() clause {
	o := k.operators
	k.folding = o.IgnoreCase != nil && *o.IgnoreCase
	k.equality()
	k.text("contains", o.Contains, strings.Contains)
	k.text("startsWith", o.StartsWith, strings.HasPrefix)
	k.text("endsWith", o.EndsWith, strings.HasSuffix)
	k.pattern("matches", o.Matches, `\A(?:`, `)\z`)
	k.pattern("search", o.Search, `(?:`, `)`)
	k.number("gt", o.GT, func(c int) bool { return c > 0 })
	k.number("gte", o.GTE, func(c int) bool { return c >= 0 })
	k.number("lt", o.LT, func(c int) bool { return c < 0 })
	k.number("lte", o.LTE, func(c int) bool { return c <= 0 })
	k.instant("before", o.Before, func(c int) bool { return c < 0 })
	k.instant("after", o.After, func(c int) bool { return c > 0 })
	k.mediaType(o.MediaType)
	k.hasItem(o.HasItem)
	k.list("all", o.All, k.all)
	k.list("exactly", o.Exactly, k.exactly)
	k.list("ordered", o.Ordered, k.ordered)
	k.logic()
	if o.Type != nil {
		// A query or header has text only, so there is nothing to tell apart.
		k.faults.Append(notServed(pointerTo(k.at, "type"), "type"))
	}
	return k.clause
}

func (k *clauseCompiler) one(operator, operand string, holds func(string) bool) {
	k.clause.each = append(k.clause.each, eachTest{operator: operator, operand: operand, holds: holds})
}

func (k *clauseCompiler) whole(operator, operand string, holds func(*values) bool) {
	k.clause.set = append(k.clause.set, setTest{operator: operator, operand: operand, holds: holds})
}

func (k *clauseCompiler) wrong(operator string, code mockbase.Code, detail string) {
	k.faults.Append(mockbase.FieldError{Pointer: pointerTo(k.at, operator), Code: code, Detail: detail})
}

// key is the form in which texts compare.
func (k *clauseCompiler) key(s string) string {
	if k.folding {
		return fold(s)
	}
	return s
}

// operandText is the text that a scalar operand stands for: that of a string, and the spelling of any other scalar.
func (k *clauseCompiler) operandText(operator string, operand json.RawMessage) string {
	if len(operand) == 0 || operand[0] == '{' || operand[0] == '[' {
		k.wrong(operator, mockbase.FieldType, operator+" compares text here; write a text, a number or a boolean")
		return ""
	}
	if operand[0] != '"' {
		return string(operand)
	}
	var text string
	if err := json.Unmarshal(operand, &text); err != nil {
		k.wrong(operator, mockbase.FieldType, "the text cannot be read: "+err.Error())
	}
	return text
}

// equals returns the test for one operand.
func (k *clauseCompiler) equals(text string) func(string) bool {
	if n, ok := parseDecimal(text); ok && k.numbers {
		return func(value string) bool {
			got, isNumber := parseDecimal(value)
			return isNumber && got.compare(&n) == 0
		}
	}
	if k.folding {
		want := fold(text)
		return func(value string) bool { return fold(value) == want }
	}
	return func(value string) bool { return value == text }
}

func (k *clauseCompiler) equality() {
	if operand := k.operators.Equals; operand != nil {
		text := k.operandText("equals", operand)
		k.one("equals", text, k.equals(text))
	}
	if k.operators.In == nil {
		return
	}
	texts := k.operandTexts("in", k.operators.In)
	tests := make([]func(string) bool, len(texts))
	for i, text := range texts {
		tests[i] = k.equals(text)
	}
	k.one("in", strings.Join(texts, ", "), func(value string) bool {
		for _, holds := range tests {
			if holds(value) {
				return true
			}
		}
		return false
	})
}

func (k *clauseCompiler) operandTexts(operator string, operands []json.RawMessage) []string {
	texts := make([]string, len(operands))
	for i, operand := range operands {
		texts[i] = k.operandText(operator, operand)
	}
	return texts
}

func (k *clauseCompiler) text(operator string, operand *string, holds func(value, operand string) bool) {
	if operand == nil {
		return
	}
	if want := k.key(*operand); k.folding {
		k.one(operator, *operand, func(value string) bool { return holds(fold(value), want) })
		return
	}
	want := *operand
	k.one(operator, want, func(value string) bool { return holds(value, want) })
}

func (k *clauseCompiler) pattern(operator string, operand *string, before, after string) {
	if operand == nil {
		return
	}
	if k.folding {
		before = "(?i)" + before
	}
	compiled, err := regexp.Compile(before + *operand + after)
	if err != nil {
		k.wrong(operator, mockbase.FieldSyntax, "the pattern does not compile: "+err.Error())
		return
	}
	k.one(operator, *operand, compiled.MatchString)
}

func (k *clauseCompiler) number(operator string, operand *json.Number, holds func(int) bool) {
	if operand == nil {
		return
	}
	bound, ok := parseDecimal(operand.String())
	if !ok {
		k.wrong(operator, mockbase.FieldType, operator+" needs a number")
		return
	}
	k.one(operator, operand.String(), func(value string) bool {
		n, isNumber := parseDecimal(value)
		return isNumber && holds(n.compare(&bound))
	})
}
