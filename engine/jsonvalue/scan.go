package jsonvalue

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a text in double quotes. A text without escapes is a part of the source and costs no memory of its own.
func (p *parser) quoted() (string, error) {
	text, start := p.text, p.pos+1
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			p.pos = i + 1
			return text[start:i], nil
		case c == '\\' || c < ' ':
			return p.escaped(start, i)
		}
	}
	p.pos = len(text)
	return "", p.fault("the text ends before a closing double quote")
}

// escaped reads on from at in a text that began at start, and that has an escape or is wrong there.
func (p *parser) escaped(start, at int) (string, error) {
	decoded := make([]byte, 0, 2*(at-start)+16)
	decoded = append(decoded, p.text[start:at]...)
	p.pos = at
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.pos++
			return string(decoded), nil
		case c == '\\':
			r, ok := p.escape()
			if !ok {
				return "", p.fault("this is no escape of JSON")
			}
			decoded = appendRune(decoded, r)
		case c < ' ':
			return "", p.fault("a control character must be written as an escape")
		default:
			decoded = append(decoded, c)
			p.pos++
		}
	}
	return "", p.fault("the text ends before a closing double quote")
}

// escape reads a backslash and what belongs to it. It stays where it is and reports false when that is nothing.
func (p *parser) escape() (rune, bool) {
	rest := p.text[p.pos+1:]
	if rest == "" {
		return 0, false
	}
	if i := strings.IndexByte(`"\/bfnrt`, rest[0]); i >= 0 {
		p.pos += 2
		return rune("\"\\/\b\f\n\r\t"[i]), true
	}
	const unit = len(`\u0000`)
	first, ok := hexUnit(p.text[p.pos:])
	if !ok {
		return 0, false
	}
	p.pos += unit
	if utf16.IsSurrogate(first) {
		// Two halves that belong together are one character; any other half stands for itself.
		if second, paired := hexUnit(p.text[p.pos:]); paired {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				p.pos += unit
				return r, true
			}
		}
	}
	return first, true
}

// hexUnit reads the escape of one UTF-16 code unit.
func hexUnit(s string) (rune, bool) {
	if len(s) < len(`\u0000`) || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for i := 2; i < len(`\u0000`); i++ {
		digit, ok := hexDigit(s[i])
		if !ok {
			return 0, false
		}
		r = r<<4 | digit
	}
	return r, true
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0'), true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10, true
	default:
		return 0, false
	}
}

// appendRune appends a character as UTF-8, and half of a surrogate pair as the three bytes that UTF-8 has for no
// character (rule G13).
func appendRune(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xED, byte(0x80|r>>6&0x3F), byte(0x80|r&0x3F)) //nolint:gosec // six bits each
	}
	return utf8.AppendRune(dst, r)
}

// halfPair reads the three bytes of half of a surrogate pair.
func halfPair(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xED || s[1] < 0xA0 || s[1] > 0xBF || s[2] < 0x80 || s[2] > 0xBF {
		return 0, false
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
}

// wholePair tells whether a text begins with both halves of a pair, three bytes each. As escapes they would be one
// character, which is another text.
func wholePair(s string) bool {
	first, ok := halfPair(s)
	if !ok {
		return false
	}
	second, ok := halfPair(s[3:])
	return ok && utf16.DecodeRune(first, second) != utf8.RuneError
}

// number reads a number and keeps its text.
func (p *parser) number() (string, error) {
	start := p.pos
	size := scanNumber(p.text[start:])
	if size == 0 {
		return "", p.fault("this is no number of JSON")
	}
	p.pos += size
	if c := p.peek(); c == '.' || c == '-' || c == '+' || c|0x20 >= 'a' && c|0x20 <= 'z' || '0' <= c && c <= '9' {
		p.pos = start
		return "", p.fault("this is no number of JSON")
	}
	return p.text[start:p.pos], nil
}

// scanNumber measures the number that s begins with; 0 if there is none.
func scanNumber(s string) int {
	rest := strings.TrimPrefix(s, "-")
	whole := digits(rest)
	if whole == 0 || whole > 1 && rest[0] == '0' {
		return 0
	}
	rest = rest[whole:]
	if rest != "" && rest[0] == '.' {
		fraction := digits(rest[1:])
		if fraction == 0 {
			return 0
		}
		rest = rest[1+fraction:]
	}
	power, ok := scanPower(rest)
	if !ok {
		return 0
	}
	return len(s) - len(rest) + power
}

// scanPower measures the exponent that s may begin with. It reports false for one without digits.
func scanPower(s string) (size int, ok bool) {
	if s == "" || s[0]|0x20 != 'e' {
		return 0, true
	}
	size = 1
	if len(s) > 1 && (s[1] == '+' || s[1] == '-') {
		size = 2
	}
	n := digits(s[size:])
	return size + n, n > 0
}

// digits counts the decimal digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
