package mockbase

import (
	"bufio"
	"bytes"
	"mime"
	"net/textproto"
)

// maskParts masks the parts of a form that are called like a secret, and what the others hold by their own kinds. All else
// stays byte for byte. The body may have been cut.
func maskParts(body []byte, boundary string) []byte {
	if boundary == "" {
		return body
	}
	var masked []byte
	kept := 0
	for from, to := range partsOf(body, "--"+boundary) {
		head, content := splitPart(body[from:to])
		hidden := maskPart(head, content)
		if bytes.Equal(hidden, content) {
			continue
		}
		masked = append(append(masked, body[kept:to-len(content)]...), hidden...)
		kept = to
	}
	if masked == nil {
		return body
	}
	return append(masked, body[kept:]...)
}

// partsOf gives where the parts between delimiter lines begin and end. The last one ends with the body if that was cut.
func partsOf(body []byte, delimiter string) func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		for from := afterDelimiter(body, 0, delimiter); from < len(body); {
			next := from
			for next < len(body) && (body[next] != '\n' || !bytes.HasPrefix(body[next+1:], []byte(delimiter))) {
				next++
			}
			to := next
			if next < len(body) && next > from && body[next-1] == '\r' {
				to--
			}
			if !yield(from, to) {
				return
			}
			from = afterDelimiter(body, next, delimiter)
		}
	}
}

// afterDelimiter is where the line behind the next delimiter begins, the end of the body if there is none.
func afterDelimiter(body []byte, at int, delimiter string) int {
	found := bytes.Index(body[at:], []byte(delimiter))
	if found < 0 {
		return len(body)
	}
	at += found + len(delimiter)
	if bytes.HasPrefix(body[at:], []byte("--")) {
		return len(body)
	}
	end := bytes.IndexByte(body[at:], '\n')
	if end < 0 {
		return len(body)
	}
	return at + end + 1
}

// splitPart divides a part at the blank line behind its head; without one there is only a head.
func splitPart(part []byte) (head, content []byte) {
	for at := 0; at < len(part); {
		end := bytes.IndexByte(part[at:], '\n')
		if end < 0 {
			break
		}
		if len(bytes.TrimRight(part[at:at+end], "\r")) == 0 {
			return part[:at+end+1], part[at+end+1:]
		}
		at += end + 1
	}
	return part, nil
}

// maskPart is the content of a part with its secrets masked.
func maskPart(head, content []byte) []byte {
	lines, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(head))).ReadMIMEHeader()
	if err != nil || len(content) == 0 {
		return content
	}
	if _, of, err := mime.ParseMediaType(lines.Get("Content-Disposition")); err == nil && IsSecretName(of["name"]) {
		return []byte(Masked)
	}
	if kind := lines.Get("Content-Type"); kind != "" {
		return MaskBody(kind, content)
	}
	return content
}
