package template

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"strings"
	goTemplate "text/template"
)

// encodingFunctions write a value so that it fits its surroundings (rules P2 and P3).
var encodingFunctions = map[string]*function{
	"json": {least: 1, most: 1, call: func(_ *run, arguments []any) (any, error) {
		return string(appendJSON(nil, arguments[0])), nil
	}},
	"jsonEscape":   ofText(surely(jsonEscape)),
	"escapeHtml":   ofText(surely(html.EscapeString)),
	"html":         ofText(surely(html.EscapeString)),
	"js":           ofText(surely(goTemplate.JSEscapeString)),
	"urlEncode":    ofText(surely(urlEncode)),
	"urlquery":     ofText(surely(url.QueryEscape)),
	"urlDecode":    ofText(urlDecode),
	"base64":       ofText(surely(func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) })),
	"base64Decode": ofText(base64Decode),
	"sha256": ofText(surely(func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	})),
	"hmacSha256": {least: 2, most: 2, call: hmacSha256},
}

// jsonEscape gives the inside of a JSON string.
func jsonEscape(text string) string {
	quoted := appendQuoted(nil, text)
	return string(quoted[1 : len(quoted)-1])
}

// urlEncode escapes all but the unreserved characters of RFC 3986.
func urlEncode(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// urlDecode is the inverse of urlEncode: a plus is a plus.
func urlDecode(text string) (string, error) {
	decoded, err := url.PathUnescape(text)
	if err != nil {
		return "", failuref("%s is not percent-encoded", shorten(text))
	}
	return decoded, nil
}

// base64Decode reads the standard and the URL alphabet, with padding or without.
func base64Decode(text string) (string, error) {
	plain := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
	decoded, err := base64.RawStdEncoding.DecodeString(plain)
	if err != nil {
		return "", failuref("%s is no base64", shorten(text))
	}
	return string(decoded), nil
}

func hmacSha256(r *run, arguments []any) (any, error) {
	if arguments[1] == nil {
		return nil, nil
	}
	key, text := textOf(arguments[0]), textOf(arguments[1])
	if err := r.produce(max(len(key), len(text))); err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil)), nil
}
