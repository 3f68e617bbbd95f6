package mockbase

import (
	"bytes"
	"encoding/json"
	"mime"
	"strings"
)

// MaskBody is the body of a request with its secrets masked, for whoever is shown it: the values of JSON members, of form
// fields, of parts of a form, of XML elements and attributes and of arguments in GraphQL documents that are called like a
// secret. Everything else stays as it was sent, and so does a body of another kind. It may have been cut. A body without secrets is returned as it is.
func MaskBody(contentType string, body []byte) []byte {
	kind, parameters, err := mime.ParseMediaType(contentType)
	switch {
	case contentType == "" || err != nil && strings.HasPrefix(kind, "text/"):
		return []byte(MaskText(string(body)))
	case err != nil:
		return body
	case kind == "multipart/form-data":
		return maskParts(body, parameters["boundary"])
	default:
		return maskKind(kind, body)
	}
}

// maskKind masks a body that is no form of parts.
func maskKind(kind string, body []byte) []byte {
	family, form, _ := strings.Cut(kind, "/")
	if at := strings.LastIndexByte(form, '+'); at >= 0 {
		form = form[at+1:]
	}
	switch {
	case form == "xml":
		return maskElements(body)
	case family == "text" || form == "json":
		return []byte(MaskText(string(body)))
	case kind == "application/graphql":
		return maskArguments(body)
	case kind == "application/x-www-form-urlencoded":
		return []byte(MaskQuery(string(body)))
	}
	return body
}

// maskMembers masks members of JSON by their names.
func maskMembers(body []byte) []byte {
	var masked []byte
	kept := 0
	for i := 0; i < len(body); {
		if body[i] != '"' {
			i++
			continue
		}
		end := jsonStringEnd(body, i)
		name := body[i:end]
		start := i
		if i = skipBlanks(body, end); i >= len(body) || body[i] != ':' {
			if hidden := maskQuoted(name); hidden != nil {
				masked = append(append(masked, body[kept:start]...), hidden...)
				kept = end
			}
			continue
		}
		if !isSecretMember(name) {
			continue
		}
		from := skipBlanks(body, i+1)
		if i = jsonValueEnd(body, from); from == i || isJSONWord(body[from:i]) {
			continue
		}
		masked = append(append(masked, body[kept:from]...), `"`+Masked+`"`...)
		kept = i
	}
	if masked == nil {
		return body
	}
	return append(masked, body[kept:]...)
}

// isSecretMember tells whether a member is named like something secret.
func isSecretMember(quoted []byte) bool {
	var name string
	return json.Unmarshal(quoted, &name) == nil && isSecretWord(name)
}

// isJSONWord tells whether a value tells nothing that could be a secret.
func isJSONWord(value []byte) bool {
	return bytes.Equal(value, []byte("null")) || bytes.Equal(value, []byte("true")) || bytes.Equal(value, []byte("false"))
}

func skipBlanks(body []byte, i int) int {
	for i < len(body) && strings.IndexByte(" \t\r\n", body[i]) >= 0 {
		i++
	}
	return i
}

// jsonStringEnd is the index behind the string that begins at i, the end of the body if it was cut.
func jsonStringEnd(body []byte, i int) int {
	for i++; i < len(body); i++ {
		switch body[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(body)
}

// jsonValueEnd is the index behind the value that begins at i, the end of the body if it was cut.
func jsonValueEnd(body []byte, i int) int {
	depth := 0
	for i < len(body) {
		switch body[i] {
		case '"':
			if i = jsonStringEnd(body, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(body)
}
