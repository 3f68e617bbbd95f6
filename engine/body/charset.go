package body

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// errUndecodable is text that holds bytes which its charset does not know.
var errUndecodable = errors.New("the text holds bytes that its charset does not know")

// charsetOf returns the charset that a media type states, in lower case, "" for none.
func charsetOf(contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return strings.ToLower(params["charset"])
}

// mark is a byte order mark.
type mark struct {
	bytes   string
	charset string
}

// marks returns the byte order marks; the longer ones come before those that they begin with.
func marks() [5]mark {
	return [...]mark{
		{"\xef\xbb\xbf", "utf-8"},
		{"\xff\xfe\x00\x00", "utf-32le"},
		{"\x00\x00\xfe\xff", "utf-32be"},
		{"\xff\xfe", "utf-16le"},
		{"\xfe\xff", "utf-16be"},
	}
}

// cutMark removes a byte order mark and returns the charset that it stands for, "" without one.
func cutMark(raw []byte) (rest []byte, charset string) {
	for _, m := range marks() {
		if bytes.HasPrefix(raw, []byte(m.bytes)) {
			return raw[len(m.bytes):], m.charset
		}
	}
	return raw, ""
}

// decodeText decodes by the charset of the media type, else by a byte order mark, else as UTF-8 (rule F5).
func decodeText(raw []byte, contentType string) (string, error) {
	charset := charsetOf(contentType)
	rest, marked := cutMark(raw)
	switch {
	case charset == "":
		charset, raw = marked, rest
	case marked != "" && strings.HasPrefix(marked, charset):
		// The mark says which byte order it is, and is no text.
		charset, raw = marked, rest
	}
	return decodeCharset(raw, charset)
}

func decodeCharset(raw []byte, charset string) (string, error) {
	switch charset {
	case "", "utf-8", "utf8":
		if !utf8.Valid(raw) {
			return "", errUndecodable
		}
		return string(raw), nil
	case "us-ascii", "ascii":
		if bytes.ContainsFunc(raw, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return "", errUndecodable
		}
		return string(raw), nil
	}
	coding, err := findCharset(charset)
	if err != nil {
		return "", err
	}
	decoded, err := coding.NewDecoder().Bytes(raw)
	if err != nil {
		return "", fmt.Errorf("decode charset %s: %w", charset, err)
	}
	// The decoders put this rune in the place of what they do not know.
	if bytes.ContainsRune(decoded, utf8.RuneError) {
		return "", errUndecodable
	}
	return string(decoded), nil
}

// findCharset finds a charset by its registered name, or by the names that browsers know.
func findCharset(charset string) (encoding.Encoding, error) {
	switch charset {
	case "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), nil
	case "utf-16be", "utf-16":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), nil
	case "utf-32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), nil
	case "utf-32be", "utf-32":
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), nil
	}
	if coding, err := ianaindex.IANA.Encoding(charset); err == nil && coding != nil {
		return coding, nil
	}
	if coding, err := htmlindex.Get(charset); err == nil {
		return coding, nil
	}
	return nil, fmt.Errorf("the charset %q is not known", charset)
}
