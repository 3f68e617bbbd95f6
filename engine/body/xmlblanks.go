package body

import "bytes"

// plainBlanks returns a well-formed document with a space for each line break and tab of its tags, which is how values of
// attributes are read (XML 1.0, sections 2.11 and 3.3.3). Those that are written as references stay.
func plainBlanks(text []byte) []byte {
	plain := make([]byte, 0, len(text))
	for len(text) > 0 {
		end := markupEnd(text)
		if text[0] == '<' && len(text) > 1 && text[1] != '!' && text[1] != '?' {
			plain = appendPlain(plain, text[:end])
		} else {
			plain = append(plain, text[:end]...)
		}
		text = text[end:]
	}
	return plain
}

func appendPlain(plain, tag []byte) []byte {
	for i, b := range tag {
		switch {
		case b == '\r' && i+1 < len(tag) && tag[i+1] == '\n':
			// Both together are one line break.
		case b == '\r' || b == '\n' || b == '\t':
			plain = append(plain, ' ')
		default:
			plain = append(plain, b)
		}
	}
	return plain
}

// markupEnd returns where the piece of markup or text ends with which the document begins.
func markupEnd(text []byte) int {
	if text[0] != '<' {
		if at := bytes.IndexByte(text, '<'); at >= 0 {
			return at
		}
		return len(text)
	}
	for _, whole := range [...]struct{ begin, end string }{{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}} {
		if bytes.HasPrefix(text, []byte(whole.begin)) {
			return endAfter(text, len(whole.begin), whole.end)
		}
	}
	var quote byte
	for i, b := range text {
		switch {
		case quote == 0 && b == '>':
			return i + 1
		case quote == 0 && (b == '"' || b == '\''):
			quote = b
		case b == quote:
			quote = 0
		}
	}
	return len(text)
}

func endAfter(text []byte, from int, end string) int {
	if at := bytes.Index(text[from:], []byte(end)); at >= 0 {
		return from + at + len(end)
	}
	return len(text)
}
