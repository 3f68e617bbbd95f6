package operator

import (
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

func (k *compiler[T]) instant(operator string, operand *string, holds func(int) bool) {
	if operand == nil {
		return
	}
	bound, ok := parseInstant(*operand)
	if !ok {
		k.wrong(operator, mockbase.FieldPattern, operator+" needs an HTTP date or an RFC 3339 time")
		return
	}
	k.one(operator, *operand, k.onText(func(value string) bool {
		at, isInstant := parseInstant(value)
		return isInstant && holds(at.Compare(bound))
	}))
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
func (k *compiler[T]) mediaType(operand *string) {
	if operand == nil {
		return
	}
	want, wantParams, err := mime.ParseMediaType(*operand)
	if err != nil || !strings.Contains(want, "/") {
		k.wrong("mediaType", mockbase.FieldPattern, "mediaType needs a type and a subtype, such as application/json")
		return
	}
	k.one("mediaType", *operand, k.onText(func(value string) bool {
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
	}))
}

// hasItem looks for an item of a comma list (rule D4).
func (k *compiler[T]) hasItem(operand *string) {
	if operand == nil {
		return
	}
	want := k.key(*operand)
	k.one("hasItem", *operand, k.onText(func(value string) bool {
		for value != "" {
			var item string
			item, value = cutItem(value)
			if k.key(item) == want {
				return true
			}
		}
		return false
	}))
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
