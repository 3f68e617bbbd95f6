package mockbase

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// number reads a number and keeps its text.
func (p *jsonParser) number() (string, *Error) {
	start := p.pos
	size, ok := scanNumber(p.text[start:])
	p.pos += size
	if next := p.peek(); !ok || next == '.' || wordByte(next) || next == '_' || next == '+' || next == '-' {
		p.pos = start
		return "", p.fault(start, FieldSyntax, "%s is no JSON number", quote(leadingNumber(p.text[start:])))
	}
	return p.text[start:p.pos], nil
}

// scanNumber measures the JSON number that s begins with.
func scanNumber(s string) (size int, ok bool) {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	whole, rest := leadingDigits(s[i:])
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return 0, false
	}
	if after, found := strings.CutPrefix(rest, "."); found {
		var fraction string
		if fraction, rest = leadingDigits(after); fraction == "" {
			return 0, false
		}
	}
	if rest != "" && rest[0]|0x20 == 'e' {
		exponent := strings.TrimPrefix(rest[1:], "-")
		if len(exponent) == len(rest)-1 {
			exponent = strings.TrimPrefix(exponent, "+")
		}
		var digits string
		if digits, rest = leadingDigits(exponent); digits == "" {
			return 0, false
		}
	}
	return len(s) - len(rest), true
}

// leadingNumber is what somebody may have taken for a number.
func leadingNumber(s string) string {
	i := 0
	for i < len(s) && i < 40 && (wordByte(s[i]) || strings.IndexByte("+-._", s[i]) >= 0) {
		i++
	}
	return s[:i]
}

// string reads a text in quotes.
func (p *jsonParser) string() (string, *Error) {
	start := p.pos
	p.pos++
	end := p.pos
	for end < len(p.text) && p.text[end] != '"' && p.text[end] != '\\' && p.text[end] >= ' ' {
		end++
	}
	if end < len(p.text) && p.text[end] == '"' {
		plain := p.text[p.pos:end]
		p.pos = end + 1
		return plain, nil
	}
	return p.longString(start)
}

// longString reads a text that holds escapes, or is wrong.
func (p *jsonParser) longString(start int) (string, *Error) {
	var b strings.Builder
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.pos++
			return b.String(), nil
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
		case c < ' ':
			return "", p.fault(p.pos, FieldSyntax, "a text holds the control character %U: write it as an escape", c)
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
	return "", p.fault(start, FieldSyntax, "the text is never closed with a double quote")
}

// escape reads a backslash and what belongs to it.
func (p *jsonParser) escape() (rune, *Error) {
	start := p.pos
	p.pos++
	c := p.peek()
	p.pos++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 && c != 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		p.pos = start
		return 0, p.fault(start, FieldSyntax, "%s is no escape of JSON: write two backslashes for a literal one",
			quote(p.text[start:min(start+2, len(p.text))]))
	}
	r := p.hex4()
	if utf16.IsSurrogate(r) && strings.HasPrefix(p.text[p.pos:], `\u`) {
		p.pos += 2
		r = utf16.DecodeRune(r, p.hex4())
		if r == utf8.RuneError {
			r = -1
		}
	}
	switch {
	case r < 0, utf16.IsSurrogate(r):
		return 0, p.fault(start, FieldSyntax, "the escape is no character: write four hexadecimal digits, and both halves of a pair")
	}
	return r, nil
}

// hex4 reads four hexadecimal digits, -1 if they are not there.
func (p *jsonParser) hex4() rune {
	if len(p.text)-p.pos < 4 {
		return -1
	}
	var r rune
	for i := range 4 {
		digit := unhex(p.text[p.pos+i])
		if digit > 15 {
			return -1
		}
		r = r<<4 | rune(digit)
	}
	p.pos += 4
	return r
}
