package body

import (
	"errors"
	"iter"
	"mime"
	"strings"
)

// Media types of forms (rule I2).
const (
	typeForm      = "application/x-www-form-urlencoded"
	typeMultipart = "multipart/form-data"
)

// errNotForm is a form condition on a body of another media type.
var errNotForm = errors.New("the Content-Type is that of no form")

// Pair is a name and a value of a form.
type Pair struct{ Name, Value string }

// FormPairs reads form-urlencoded text: & alone separates, the first = divides name and value, + is a space, and a broken
// escape stays as it is (rules C1 to C5). Empty pairs are skipped.
func FormPairs(text string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for part := range strings.SplitSeq(text, "&") {
			if part == "" {
				continue
			}
			name, value, _ := strings.Cut(part, "=")
			if !yield(UnescapeForm(name), UnescapeForm(value)) {
				return
			}
		}
	}
}

// UnescapeForm decodes one name or value of a form.
func UnescapeForm(s string) string {
	first := strings.IndexAny(s, "%+")
	if first < 0 {
		return s
	}
	decoded := make([]byte, first, len(s))
	copy(decoded, s)
	for i := first; i < len(s); i++ {
		c := s[i]
		switch c {
		case '+':
			c = ' '
		case '%':
			if b, ok := hexPair(s[i+1:]); ok {
				c, i = b, i+2
			}
		}
		decoded = append(decoded, c)
	}
	return string(decoded)
}

// hexPair reads the two hexadecimal digits that s begins with.
func hexPair(s string) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	high, low := hexDigit(s[0]), hexDigit(s[1])
	return high<<4 | low, high < 16 && low < 16
}

func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	default:
		return 0xff
	}
}

// mediaTypeOf returns type and subtype in lower case; broken parameters do not matter.
func mediaTypeOf(contentType string) string {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		mediaType, _, _ = strings.Cut(contentType, ";")
		mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	}
	return mediaType
}

// IsForm tells whether a Content-Type is that of a form or of a multipart body.
func IsForm(contentType string) bool {
	mediaType := mediaTypeOf(contentType)
	return mediaType == typeForm || strings.HasPrefix(mediaType, "multipart/")
}

// parseForm reads the fields of a form from its decoded bytes. Parts of a multipart form that have a file name are no
// fields (rule I2).
func parseForm(decoded []byte, contentType string, parts func() ([]*Part, error)) ([]Pair, error) {
	switch mediaTypeOf(contentType) {
	case typeForm:
		var pairs []Pair
		for name, value := range FormPairs(string(decoded)) {
			pairs = append(pairs, Pair{Name: name, Value: value})
		}
		return pairs, nil
	case typeMultipart:
		list, err := parts()
		if err != nil {
			return nil, err
		}
		var pairs []Pair
		for _, p := range list {
			if !p.HasFilename {
				pairs = append(pairs, Pair{Name: p.Name, Value: p.Text()})
			}
		}
		return pairs, nil
	default:
		return nil, errNotForm
	}
}
