package template

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// The values of the language are, as any: nil for missing and null, bool, string, number, *jsonvalue.Value for arrays and
// objects of documents, list, view for objects that are looked up, and instant.
type (
	// number is the text of a JSON number (rule P12).
	number string
	// list is a list made by a function.
	list []any
	// instant is a point in time; as text it is RFC 3339 in UTC.
	instant struct{ time time.Time }
	// view is an object whose members are looked up by name.
	view interface {
		member(name string) (any, bool)
		names() []string
	}
)

// record is an object made by a function, with the order of its members.
type record struct {
	order  []string
	values map[string]any
}

func (o *record) member(name string) (any, bool) { v, ok := o.values[name]; return v, ok }
func (o *record) names() []string                { return o.order }

func (o *record) set(name string, v any) {
	if _, ok := o.values[name]; !ok {
		o.order = append(o.order, name)
	}
	o.values[name] = v
}

func (t instant) String() string { return t.time.UTC().Format(time.RFC3339) }

func integer(n int64) number { return number(strconv.FormatInt(n, 10)) }

// fromJSON gives a value of a document: scalars as Go's, so that functions meet one form only.
func fromJSON(v *jsonvalue.Value) any {
	if v == nil {
		return nil
	}
	switch v.Kind() {
	case jsonvalue.Null:
		return nil
	case jsonvalue.Bool:
		return v.Bool()
	case jsonvalue.Number:
		return number(v.Text())
	case jsonvalue.String:
		return v.Text()
	default:
		return v
	}
}

// member looks a name up in a value of any kind (rule P5): what has no members has none of that name.
func member(v any, name string) (any, bool) {
	switch v := v.(type) {
	case view:
		return v.member(name)
	case *jsonvalue.Value:
		if m, ok := v.Member(name); ok {
			return fromJSON(m), true
		}
	}
	return nil, false
}

// truth is the truth of rule P5: false for missing, null, false, 0, and empty text, list or object.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case number:
		return !isZero(string(v))
	case instant:
		return true
	default:
		return size(v) > 0
	}
}

// isZero says whether a JSON number is zero, however it is written.
func isZero(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c == 'e' || c == 'E':
			return true
		case c >= '1' && c <= '9':
			return false
		}
	}
	return true
}

// size is the number of items or members, or the bytes of a text; 0 for what has none.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case list:
		return len(v)
	case *jsonvalue.Value:
		return v.Len()
	case view:
		return len(v.names())
	default:
		return 0
	}
}

// itemOf gives item i of a list, counted from 0.
func itemOf(v any, i int) (any, bool) {
	if i < 0 || i >= size(v) {
		return nil, false
	}
	switch v := v.(type) {
	case list:
		return v[i], true
	case *jsonvalue.Value:
		if v.Kind() == jsonvalue.Array {
			return fromJSON(v.Item(i)), true
		}
	}
	return nil, false
}

// isList says whether a value has items.
func isList(v any) bool {
	switch v := v.(type) {
	case list:
		return true
	case *jsonvalue.Value:
		return v.Kind() == jsonvalue.Array
	default:
		return false
	}
}

// kindOf names the kind of a value in messages.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "a boolean"
	case string:
		return "a text"
	case number:
		return "a number"
	case instant:
		return "a time"
	case list:
		return "a list"
	case *jsonvalue.Value:
		if v.Kind() == jsonvalue.Array {
			return "a list"
		}
	}
	return "an object"
}

// appendText appends a value as it is printed in text: nothing for missing and null, JSON for lists and objects (rules P5
// and P15). It stops beyond the largest output.
func appendText(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return dst
	case string:
		return append(dst, v...)
	case instant:
		return v.time.UTC().AppendFormat(dst, time.RFC3339)
	default:
		return appendJSON(dst, v)
	}
}

// appendJSON appends a value as compact JSON. It stops beyond the largest output, as lists may hold one list many times:
// what it returns then is longer than [MaxOutput], and no JSON.
func appendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendQuoted(dst, v)
	case number:
		return append(dst, v...)
	case instant:
		return appendQuoted(dst, v.String())
	case *jsonvalue.Value:
		return v.Append(dst)
	case list:
		return appendList(dst, v)
	case view:
		return appendView(dst, v)
	default:
		return dst
	}
}

func appendList(dst []byte, items list) []byte {
	dst = append(dst, '[')
	for i, item := range items {
		if len(dst) > MaxOutput {
			return dst
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSON(dst, item)
	}
	return append(dst, ']')
}

func appendView(dst []byte, v view) []byte {
	dst = append(dst, '{')
	for i, name := range v.names() {
		if len(dst) > MaxOutput {
			return dst
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(dst, name), ':')
		value, _ := v.member(name)
		dst = appendJSON(dst, value)
	}
	return append(dst, '}')
}

// appendQuoted appends a text as a JSON string. Most texts need no escaping at all.
func appendQuoted(dst []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return jsonvalue.NewString(text).Append(dst)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

// textOf is a value as text.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case number:
		return string(v)
	case instant:
		return v.String()
	default:
		return string(appendText(nil, v))
	}
}

// listOf gives a list's items; nothing for missing.
func listOf(v any) (list, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case list:
		return v, nil
	case *jsonvalue.Value:
		if v.Kind() == jsonvalue.Array {
			items := make(list, v.Len())
			for i := range items {
				items[i] = fromJSON(v.Item(i))
			}
			return items, nil
		}
	}
	return nil, failuref("it needs a list, not %s", kindOf(v))
}

// texts gives a list of texts as a list of values.
func texts(from []string) list {
	items := make(list, len(from))
	for i, text := range from {
		items[i] = text
	}
	return items
}

// shorten cuts a text for a message.
func shorten(text string) string {
	const most = 40
	text = strings.ToValidUTF8(text, "\uFFFD")
	if utf8.RuneCountInString(text) <= most {
		return strconv.Quote(text)
	}
	return strconv.Quote(string([]rune(text[:min(len(text), 4*most)])[:most]) + "…")
}
