package template

import (
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase/engine/regex"
)

// textFunctions change texts. Numbers, booleans and times count as their text, lists and objects as JSON.
var textFunctions = map[string]*function{
	"upper":     ofText(surely(strings.ToUpper)),
	"lower":     ofText(surely(strings.ToLower)),
	"trim":      ofText(surely(strings.TrimSpace)),
	"replace":   {least: 3, most: 3, call: replace},
	"split":     {least: 2, most: 2, call: split},
	"join":      {least: 2, most: 2, call: join},
	"substr":    {least: 3, most: 3, call: substr},
	"regexFind": {least: 2, most: 2, call: regexFind, verify: verifyPattern},
}

// replace measures the result before it makes it.
func replace(r *run, arguments []any) (any, error) {
	if arguments[2] == nil {
		return nil, nil
	}
	old, with, text := textOf(arguments[0]), textOf(arguments[1]), textOf(arguments[2])
	length := len(text) + strings.Count(text, old)*(len(with)-len(old))
	if err := r.produce(length); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(text, old, with), nil
}

func split(r *run, arguments []any) (any, error) {
	if arguments[1] == nil {
		return nil, nil
	}
	separator, text := textOf(arguments[0]), textOf(arguments[1])
	if err := r.produceList(strings.Count(text, separator) + 1); err != nil {
		return nil, err
	}
	return texts(strings.Split(text, separator)), nil
}

func join(r *run, arguments []any) (any, error) {
	items, err := listOf(arguments[1])
	if err != nil || items == nil {
		return nil, err
	}
	separator := textOf(arguments[0])
	var joined []byte
	for i, item := range items {
		if i > 0 {
			joined = append(joined, separator...)
		}
		joined = appendText(joined, item)
		if len(joined) > MaxOutput {
			return nil, r.produce(len(joined))
		}
	}
	return string(joined), nil
}

// substr counts characters, from the first at 0. Ends outside the text are the text's own; a negative end is its end.
func substr(_ *run, arguments []any) (any, error) {
	from, err := toInt(arguments[0])
	if err != nil {
		return nil, err
	}
	to, err := toInt(arguments[1])
	if err != nil || arguments[2] == nil {
		return nil, err
	}
	text := textOf(arguments[2])
	begin := offsetOf(text, max(from, 0))
	if to < 0 {
		return text[begin:], nil
	}
	return text[begin:max(begin, offsetOf(text, to))], nil
}

// offsetOf gives the byte offset of a character.
func offsetOf(text string, character int64) int {
	offset := 0
	for ; character > 0 && offset < len(text); character-- {
		_, width := utf8.DecodeRuneInString(text[offset:])
		offset += width
	}
	return offset
}

// compiling is what an instruction of a pattern costs before any text is matched, in bytes of text: a pattern of the request
// may be a new one each time.
const compiling = 16

// regexFind gives the first match. RE2 takes time with the product of text and pattern, so that is bounded.
func regexFind(r *run, arguments []any) (any, error) {
	compiled, err := r.cache.pattern(textOf(arguments[0]))
	if err != nil || arguments[1] == nil {
		return nil, err
	}
	text := textOf(arguments[1])
	if err := r.operation(min(regex.MaxWork, compiled.Work(len(text)+compiling))); err != nil {
		return nil, err
	}
	at, err := compiled.Find(text)
	if err != nil {
		return nil, failuref("the text of %d bytes is too long for this pattern", len(text))
	}
	if at == nil {
		return nil, nil
	}
	return text[at[0]:at[1]], nil
}

// verifyPattern compiles a pattern that the template's author wrote.
func verifyPattern(c *cache, text string) error {
	_, err := c.pattern(text)
	return err
}
