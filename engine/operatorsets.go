package engine

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

func (k *clauseCompiler) instant(operator string, operand *string, holds func(int) bool) {
	if operand == nil {
		return
	}
	bound, ok := parseInstant(*operand)
	if !ok {
		k.wrong(operator, mockbase.FieldPattern, operator+" needs an HTTP date or an RFC 3339 time")
		return
	}
	k.one(operator, *operand, func(value string) bool {
		at, isInstant := parseInstant(value)
		return isInstant && holds(at.Compare(bound))
	})
}

// parseInstant reads an HTTP date in its three forms, or RFC 3339 (rule D11).
func parseInstant(text string) (time.Time, bool) {
	if at, err := http.ParseTime(text); err == nil {
		return at, true
	}
	// Unlike time.Parse, this reads RFC 3339 strictly.
	var at time.Time
	err := at.UnmarshalText([]byte(text))
	return at, err == nil
}

// mediaType compares type, subtype and the stated parameters (rule D6).
func (k *clauseCompiler) mediaType(operand *string) {
	if operand == nil {
		return
	}
	want, wantParams, err := mime.ParseMediaType(*operand)
	if err != nil || !strings.Contains(want, "/") {
		k.wrong("mediaType", mockbase.FieldPattern, "mediaType needs a type and a subtype, such as application/json")
		return
	}
	k.one("mediaType", *operand, func(value string) bool {
		// A value whose parameters are broken still has a type.
		got, params, _ := mime.ParseMediaType(value)
		if got != want {
			return false
		}
		for name, text := range wantParams {
			have, ok := params[name]
			if !ok || have != text && (name != "charset" || !strings.EqualFold(have, text)) {
				return false
			}
		}
		return true
	})
}

// hasItem looks for an item of a comma list (rule D4).
func (k *clauseCompiler) hasItem(operand *string) {
	if operand == nil {
		return
	}
	want := k.key(*operand)
	k.one("hasItem", *operand, func(value string) bool {
		for value != "" {
			var item string
			item, value = cutItem(value)
			if k.key(item) == want {
				return true
			}
		}
		return false
	})
}

// cutItem cuts the first item off a comma list. A comma between quotes belongs to its item; a backslash there takes the
// next byte along.
func cutItem(list string) (item, rest string) {
	quoted := false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			return strings.Trim(list[:i], " \t"), list[i+1:]
		}
	}
	return strings.Trim(list, " \t"), ""
}

// list compiles an operator about the list of values; for headers that is the field lines (rules C8 and D3).
func (k *clauseCompiler) list(operator string, operands []json.RawMessage, holds func(want, got []string) bool) {
	if operands == nil {
		return
	}
	texts := k.operandTexts(operator, operands)
	want := make([]string, len(texts))
	for i, text := range texts {
		want[i] = k.key(text)
	}
	k.whole(operator, strings.Join(texts, ", "), func(v *values) bool {
		got := v.list
		if k.folding {
			got = foldAll(got)
		}
		return v.sent() && holds(want, got)
	})
}

// all wants a value of its own for each listed one, in any order.
func (*clauseCompiler) all(want, got []string) bool {
	left := make(map[string]int, len(got))
	for _, value := range got {
		left[value]++
	}
	for _, value := range want {
		if left[value]--; left[value] < 0 {
			return false
		}
	}
	return true
}

// exactly wants the same multiset.
func (k *clauseCompiler) exactly(want, got []string) bool {
	return len(want) == len(got) && k.all(want, got)
}

// ordered wants the same list.
func (*clauseCompiler) ordered(want, got []string) bool {
	return slices.Equal(want, got)
}

// logic compiles the operators that hold others, and exists.
func (k *clauseCompiler) logic() {
	o := k.operators
	if o.Exists != nil {
		want := *o.Exists
		k.whole("exists", strconv.FormatBool(want), func(v *values) bool { return v.sent() == want })
	}
	if o.Not != nil {
		inner := k.nested("not", o.Not)
		k.whole("not", inner.String(), func(v *values) bool { return !inner.holds(v) })
	}
	if o.Every != nil {
		inner := k.nested("every", o.Every)
		k.whole("every", inner.String(), inner.everyHolds)
	}
	if o.Count != nil {
		k.count(o.Count)
	}
	if o.AnyOf != nil {
		inner := k.nestedAll("anyOf", o.AnyOf)
		k.whole("anyOf", describeAll(inner), func(v *values) bool {
			return slices.ContainsFunc(inner, func(c clause) bool { return c.holds(v) })
		})
	}
	if o.AllOf != nil {
		inner := k.nestedAll("allOf", o.AllOf)
		k.whole("allOf", describeAll(inner), func(v *values) bool {
			return !slices.ContainsFunc(inner, func(c clause) bool { return !c.holds(v) })
		})
	}
}

// nested compiles the operators below one of this object's keys. ignoreCase does not reach them: it is about the
// operators beside it.
func (k *clauseCompiler) nested(key string, o *mockbase.Operators) *clause {
	inner := clauseCompiler{operators: o, at: pointerTo(k.at, key), faults: k.faults, numbers: k.numbers}
	compiled := inner.compile()
	return &compiled
}

func (k *clauseCompiler) nestedAll(key string, list []mockbase.Operators) []clause {
	compiled := make([]clause, len(list))
	for i := range list {
		compiled[i] = *k.nested(key+"/"+strconv.Itoa(i), &list[i])
	}
	return compiled
}

// everyHolds tells whether there is a value and each satisfies the clause by itself.
func (c *clause) everyHolds(v *values) bool {
	for _, value := range v.list {
		if !c.holds(&values{list: []string{value}}) {
			return false
		}
	}
	return v.sent()
}

// count compares the number of values.
func (k *clauseCompiler) count(o *mockbase.Operators) {
	inner := clauseCompiler{operators: o, at: pointerTo(k.at, "count"), faults: k.faults, numbers: true}
	compiled := inner.compile()
	k.whole("count", compiled.String(), func(v *values) bool {
		return v.sent() && compiled.holds(&values{list: []string{strconv.Itoa(len(v.list))}})
	})
}

// compileCount compiles what a number must satisfy.
func compileCount(o *mockbase.Operators, at string, faults *mockbase.Faults) clause {
	k := clauseCompiler{operators: o, at: at, faults: faults, numbers: true}
	return k.compile()
}

func describeAll(clauses []clause) string {
	texts := make([]string, len(clauses))
	for i := range clauses {
		texts[i] = clauses[i].String()
	}
	return strings.Join(texts, " | ")
}
