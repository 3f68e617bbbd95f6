package engine

import "strings"

// locateMatrix finds the mocks that state matrix parameters.
func (c *call) locateMatrix() error {
	if c.program.matrix == nil {
		return nil
	}
	c.leaves = c.program.matrix.find(c.plainPath(), c.leaves)
	return nil
}

// plainPath is the path without its matrix parameters, which are read along the way (rule B16).
func (q *inquiry) plainPath() *requestPath {
	if q.plain.sent != "" {
		return &q.plain
	}
	if strings.IndexByte(q.path.sent, ';') < 0 {
		q.plain = q.path
		return &q.plain
	}
	plain, parameters := cutMatrix(q.path.sent)
	// The whole path has been split before, so its parts can be.
	q.plain, _ = q.rules.split(plain, nil)
	q.plain.sent, q.matrix = q.path.sent, parameters
	q.plain.asSent = false
	return &q.plain
}

// cutMatrix takes the matrix parameters out of the segments of a raw path: what follows a semicolon, up to the next one
// or the end of the segment. A semicolon that is percent-encoded is data. Values are decoded like segments, so a plus is
// a plus.
func cutMatrix(raw string) (plain string, parameters []pair) {
	var b strings.Builder
	for i, segment := range strings.Split(raw, "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		text, rest, more := strings.Cut(segment, ";")
		b.WriteString(text)
		for more {
			var parameter string
			parameter, rest, more = strings.Cut(rest, ";")
			if parameter == "" {
				continue
			}
			name, value, _ := strings.Cut(parameter, "=")
			parameters = append(parameters, pair{name: decodedOr(name), value: decodedOr(value)})
		}
	}
	return b.String(), parameters
}

// decodedOr decodes percent-encoding; what is broken stays as it is.
func decodedOr(s string) string {
	decoded, err := unescape(s)
	if err != nil {
		return s
	}
	return decoded
}
