package interchange

import "strings"

// scriptPattern writes an expression of RE2 as documents have it, in the notation of ECMAScript. It reports false for one that
// has no equivalent there.
func scriptPattern(expression string) (string, bool) {
	text, anything := strings.CutPrefix(expression, "(?s)")
	p := &patternWriter{anything: anything}
	for text != "" {
		size, ok := p.next(text)
		if !ok {
			return "", false
		}
		text = text[size:]
	}
	return p.String(), true
}

// patternWriter writes an expression from left to right.
type patternWriter struct {
	strings.Builder

	// anything tells that a point takes a new line too, inClass that what is read stands in brackets.
	anything, inClass bool
}

// next writes what stands at the beginning of a text, and returns its length.
func (p *patternWriter) next(text string) (size int, ok bool) {
	const escaped = 2
	switch {
	case text[0] == '\\':
		if len(text) < escaped {
			return 0, false
		}
		return escaped, p.escape(text[:escaped])
	case p.inClass:
		p.inClass = text[0] != ']'
		p.WriteByte(text[0])
		return 1, !strings.HasPrefix(text, "[:")
	case text[0] == '[':
		p.inClass = true
		p.WriteByte('[')
		return 1, !strings.HasPrefix(text, "[]") && !strings.HasPrefix(text, "[^]")
	case strings.HasPrefix(text, "(?"):
		return p.group(text)
	case text[0] == '.' && p.anything:
		p.WriteString(`[\s\S]`)
		return 1, true
	}
	p.WriteByte(text[0])
	return 1, true
}

// escape writes a character behind a backslash.
func (p *patternWriter) escape(text string) bool {
	switch text[1] {
	case 'A':
		text = "^"
	case 'z':
		text = "$"
	case 'C', 'E', 'Q', 'a', 'p', 'P', 'x':
		return false
	}
	p.WriteString(text)
	return true
}

// group writes the beginning of a group, which may have a name but no flags.
func (p *patternWriter) group(text string) (size int, ok bool) {
	for begin, written := range map[string]string{"(?:": "(?:", "(?P<": "(?<", "(?<": "(?<"} {
		if strings.HasPrefix(text, begin) {
			p.WriteString(written)
			return len(begin), true
		}
	}
	return 0, false
}
