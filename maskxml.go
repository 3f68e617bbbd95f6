package mockbase

import (
	"bytes"
	"strings"
)

// maskElements masks what the elements and attributes of XML hold that are called like a secret, in whatever namespace. All
// else stays byte for byte. The body may have been cut.
func maskElements(body []byte) []byte {
	m := &xmlMasking{body: body}
	for i := 0; i < len(body); {
		if body[i] != '<' {
			i++
			continue
		}
		if end := xmlAsideEnd(body, i); end > i {
			i = end
			continue
		}
		i = m.tag(i)
	}
	if m.masked == nil {
		return body
	}
	return append(m.masked, body[m.kept:]...)
}

// xmlMasking copies XML up to where it was looked through.
type xmlMasking struct {
	body, masked []byte
	kept         int
}

func (m *xmlMasking) hide(from, to int) {
	if from < to {
		m.masked = append(append(m.masked, m.body[m.kept:from]...), Mask...)
		m.kept = to
	}
}

// tag goes through a tag, and through the content of its element where that is secret.
func (m *xmlMasking) tag(i int) int {
	from := i + 1
	name := xmlNameEnd(m.body, from)
	end := m.attributes(name)
	if name == from || !isSecretXML(m.body[from:name]) || m.body[end-1] != '>' || m.body[end-2] == '/' {
		return end
	}
	to := xmlElementEnd(m.body, end, m.body[from:name])
	m.hide(end, to)
	return to
}

// attributes goes to behind the end of a tag and masks values on the way.
func (m *xmlMasking) attributes(i int) int {
	for i < len(m.body) {
		switch b := m.body[i]; {
		case b == '>':
			return i + 1
		case b != '=':
			i++
			continue
		}
		name := bytes.TrimRight(m.body[:i], " \t\r\n")
		name = name[bytes.LastIndexAny(name, " \t\r\n")+1:]
		from := skipBlanks(m.body, i+1)
		if i = from; from >= len(m.body) || m.body[from] != '"' && m.body[from] != '\'' {
			continue
		}
		to := len(m.body)
		if n := bytes.IndexByte(m.body[from+1:], m.body[from]); n >= 0 {
			to = from + 1 + n
		}
		if isSecretXML(name) {
			m.hide(from+1, to)
		}
		i = min(to+1, len(m.body))
	}
	return len(m.body)
}

// xmlElementEnd is where the end tag of an element begins whose content begins at i, the end of the body if it was cut.
func xmlElementEnd(body []byte, i int, name []byte) int {
	depth := 1
	for i < len(body) {
		if body[i] != '<' {
			i++
			continue
		}
		if end := xmlAsideEnd(body, i); end > i {
			i = end
			continue
		}
		from, closes := i+1, false
		if from < len(body) && body[from] == '/' {
			from, closes = from+1, true
		}
		own := body[from:xmlNameEnd(body, from)]
		end := (&xmlMasking{body: body}).attributes(from + len(own))
		switch {
		case !bytes.Equal(own, name) || body[end-2] == '/':
		case !closes:
			depth++
		default:
			depth--
		}
		if depth == 0 {
			return i
		}
		i = end
	}
	return len(body)
}

// xmlAsideEnd is the index behind a comment, a CDATA section or an instruction, and i where none of them begins.
func xmlAsideEnd(body []byte, i int) int {
	for _, kind := range [...][2]string{{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}} {
		if !bytes.HasPrefix(body[i:], []byte(kind[0])) {
			continue
		}
		if n := bytes.Index(body[i:], []byte(kind[1])); n >= 0 {
			return i + n + len(kind[1])
		}
		return len(body)
	}
	return i
}

func xmlNameEnd(body []byte, i int) int {
	for i < len(body) && strings.IndexByte(" \t\r\n/>=<", body[i]) < 0 {
		i++
	}
	return i
}

// isSecretXML tells whether an element or an attribute is named like something secret, be there a prefix or not.
func isSecretXML(name []byte) bool {
	return isSecretWord(string(name[bytes.LastIndexByte(name, ':')+1:]))
}
