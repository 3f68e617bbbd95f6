package jsonvalue

import (
	"slices"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// Append appends the value as compact JSON: numbers as they were written, members in their order and of a name given twice
// the last, no HTML escaping. Parsing it gives an equal value.
func (v *Value) Append(dst []byte) []byte {
	switch v.kind {
	case String:
		return appendQuoted(dst, v.text)
	case Array:
		dst = append(dst, '[')
		for i, item := range v.Items() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.Append(dst)
		}
		return append(dst, ']')
	case Object:
		return v.appendMembers(dst)
	case Null:
		return append(dst, "null"...)
	default:
		return append(dst, v.text...)
	}
}

func (v *Value) appendMembers(dst []byte) []byte {
	dst = append(dst, '{')
	first := true
	for name, value := range v.Members() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendQuoted(dst, name), ':')
		dst = value.Append(dst)
	}
	return append(dst, '}')
}

// String returns the value as compact JSON.
func (v *Value) String() string { return string(v.Append(nil)) }

// Preview returns the value as compact JSON of at most about limit bytes, with an ellipsis where it is cut. It does not
// read more of a large value than it shows, and masks members that are named like secrets (rule M2).
func (v *Value) Preview(limit int) string {
	w := preview{limit: limit}
	w.value(v)
	if len(w.text) <= limit {
		return string(w.text)
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(w.text[cut]) {
		cut--
	}
	return string(w.text[:cut]) + "…"
}

// preview writes a value until there is more than is shown.
type preview struct {
	text  []byte
	limit int
}

func (w *preview) full() bool { return len(w.text) > w.limit }

func (w *preview) value(v *Value) {
	switch {
	case w.full():
	case v.kind == Array:
		w.text = append(w.text, '[')
		for i, item := range v.Items() {
			if w.separate(i > 0); w.full() {
				return
			}
			w.value(item)
		}
		w.text = append(w.text, ']')
	case v.kind == Object:
		w.object(v)
	case v.kind == String:
		w.text = appendQuoted(w.text, w.cut(v.text))
	case v.kind == Number:
		w.text = append(w.text, w.cut(v.text)...)
	default:
		w.text = v.Append(w.text)
	}
}

// object writes an object. What is named like a secret is masked.
func (w *preview) object(v *Value) {
	w.text = append(w.text, '{')
	first := true
	for name, value := range v.Members() {
		if w.separate(!first); w.full() {
			return
		}
		first = false
		w.text = append(appendQuoted(w.text, w.cut(name)), ':')
		if value.kind != Null && mockbase.IsSecretName(name) {
			w.text = append(w.text, `"`+mockbase.Mask+`"`...)
			continue
		}
		w.value(value)
	}
	w.text = append(w.text, '}')
}

// cut returns no more of a text than can be shown and a little more, so that it is seen to be cut.
func (w *preview) cut(text string) string { return text[:min(len(text), w.limit+utf8.UTFMax)] }

func (w *preview) separate(again bool) { //nolint:revive // a comma between two, none before the first
	if again {
		w.text = append(w.text, ',')
	}
}

// appendQuoted appends a text in double quotes. Half of a surrogate pair is written as an escape; bytes that are no text
// at all are left as they are.
func appendQuoted(dst []byte, text string) []byte {
	dst = slices.Grow(dst, len(text)+2)
	dst = append(dst, '"')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = appendControl(dst, c)
		case c == 0xED:
			var size int
			dst, size = appendHalves(dst, text[i:])
			i += size - 1
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

const hex = "0123456789abcdef"

func appendControl(dst []byte, c byte) []byte {
	switch c {
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	default:
		return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
}

// appendHalves appends what a text begins with, and returns how many of its bytes that took: half of a pair as an escape,
// bytes that only look like a pair as they are.
func appendHalves(dst []byte, text string) ([]byte, int) {
	r, ok := halfPair(text)
	switch {
	case ok && wholePair(text):
		return append(dst, text[:6]...), 6
	case ok:
		return append(dst, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15]), 3
	default:
		return append(dst, text[0]), 1
	}
}
