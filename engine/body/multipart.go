package body

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strings"
)

// maxParts is how many parts a multipart body may have (rule I9).
const maxParts = 1_000

// errNoBoundary and errNotMultipart say why there are no parts.
var (
	errNoBoundary   = errors.New("no boundary")
	errNotMultipart = errors.New("the Content-Type is not multipart")
)

// Part is one part of a multipart body.
type Part struct {
	Name, Filename       string
	HasName, HasFilename bool
	ContentType          string
	// Header holds the part's own fields by their canonical names.
	Header textproto.MIMEHeader
	// Body is the part as it was sent, without any decoding.
	Body []byte
}

// Text is the part's text by its own charset; bytes that cannot be decoded stay what they are (rule I9).
func (p *Part) Text() string {
	text, err := decodeText(p.Body, p.ContentType)
	if err != nil {
		return string(p.Body)
	}
	return text
}

// parseParts reads a multipart body. The preamble and the epilogue are ignored, and lines may end with a bare LF (rule
// I5); bare tells so. The error is [ErrTooLarge] for more than 1,000 parts (rule I9).
func parseParts(decoded []byte, contentType string) (parts []*Part, bare bool, err error) {
	mediaType, params, err := mime.ParseMediaType(contentType)
	boundary := params["boundary"]
	switch {
	case !strings.HasPrefix(mediaTypeOf(contentType), "multipart/"):
		return nil, false, errNotMultipart
	case err != nil || boundary == "" || mediaType == "":
		return nil, false, errNoBoundary
	}
	reader := multipart.NewReader(bytes.NewReader(decoded), boundary)
	for {
		raw, err := reader.NextRawPart()
		if err == io.EOF { //nolint:errorlint // a body that ends early wraps it
			return parts, endsBare(decoded, boundary), nil
		}
		if err != nil {
			return nil, false, fmt.Errorf("read part %d: %w", len(parts)+1, err)
		}
		if len(parts) == maxParts {
			return nil, false, ErrTooLarge
		}
		p, err := readPart(raw)
		if err != nil {
			return nil, false, fmt.Errorf("read part %d: %w", len(parts)+1, err)
		}
		parts = append(parts, p)
	}
}

// endsBare tells whether the line of the first boundary ends with LF alone.
func endsBare(decoded []byte, boundary string) bool {
	_, rest, ok := bytes.Cut(decoded, []byte("--"+boundary))
	rest = bytes.TrimLeft(rest, " \t-")
	return ok && len(rest) > 0 && rest[0] == '\n'
}

func readPart(raw *multipart.Part) (*Part, error) {
	p := &Part{Header: raw.Header, ContentType: raw.Header.Get("Content-Type")}
	extended := ""
	for name, value := range dispositionParameters(raw.Header.Get("Content-Disposition")) {
		switch name {
		case "name":
			p.Name, p.HasName = value, true
		case "filename":
			p.Filename, p.HasFilename = value, true
		case "filename*":
			extended = value
		}
	}
	if !p.HasFilename && extended != "" {
		p.Filename, p.HasFilename = decodeExtended(extended), true
	}
	// A client may send a path of its own machine, which is nobody's business (rule I8).
	p.Filename = p.Filename[strings.LastIndexAny(p.Filename, `/\`)+1:]
	var err error
	p.Body, err = io.ReadAll(raw)
	return p, err //nolint:wrapcheck // the caller names the part
}

// dispositionParameters reads the parameters of a Content-Disposition (RFC 7578, section 4.2). The first of a name counts.
// The mime package would let filename* win over filename, and refuses what browsers send.
func dispositionParameters(text string) map[string]string {
	parameters := map[string]string{}
	_, rest, _ := strings.Cut(text, ";")
	for rest != "" {
		var name, value string
		at := strings.IndexAny(rest, "=;")
		if at < 0 {
			break
		}
		name = strings.ToLower(strings.Trim(rest[:at], " \t"))
		if rest[at] == ';' {
			rest = rest[at+1:]
			continue
		}
		value, rest = cutParameter(strings.TrimLeft(rest[at+1:], " \t"))
		if _, known := parameters[name]; !known {
			parameters[name] = value
		}
	}
	return parameters
}

// cutParameter cuts one value off: a quoted text or what stands before the next semicolon. Only a quote and a backslash
// are escaped by a backslash, because some browsers send paths as they are.
func cutParameter(text string) (value, rest string) {
	if !strings.HasPrefix(text, `"`) {
		value, rest, _ = strings.Cut(text, ";")
		return strings.TrimRight(value, " \t"), rest
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		c := text[i]
		if c == '"' {
			_, rest, _ = strings.Cut(text[i+1:], ";")
			return b.String(), rest
		}
		if c == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\') {
			i++
			c = text[i]
		}
		b.WriteByte(c)
	}
	return b.String(), ""
}

// decodeExtended decodes an extended value: UTF-8'en'%e2%82%ac (RFC 8187, section 3.2).
func decodeExtended(value string) string {
	charset, rest, ok := strings.Cut(value, "'")
	if !ok {
		return value
	}
	_, coded, ok := strings.Cut(rest, "'")
	if !ok {
		return value
	}
	raw := []byte(UnescapeForm(strings.ReplaceAll(coded, "+", "%2B")))
	text, err := decodeCharset(raw, strings.ToLower(charset))
	if err != nil {
		return string(raw)
	}
	return text
}
