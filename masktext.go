package mockbase

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

// MaskText masks the secrets of a text whose type is not known, by what it looks like: XML, a form in parts, JSON, or a
// GraphQL document. It may have been cut.
func MaskText(text string) string {
	if !strings.ContainsAny(text, `{["<:`) {
		return text
	}
	body := []byte(text)
	switch begin := bytes.TrimLeft(body, "\ufeff \t\r\n"); {
	case bytes.HasPrefix(begin, []byte("<")):
		return string(maskElements(body))
	case bytes.HasPrefix(begin, []byte("--")):
		line, _, _ := bytes.Cut(begin, []byte("\n"))
		return string(maskParts(body, strings.TrimSuffix(string(line[2:]), "\r")))
	default:
		return string(maskArguments(maskMembers(body)))
	}
}

// maskQuoted masks what a JSON string holds: a GraphQL document, JSON or XML. The string may have been cut. It is nil where there is nothing to mask.
func maskQuoted(quoted []byte) []byte {
	if !bytes.ContainsAny(quoted, "{<") {
		return nil
	}
	whole := quoted
	var text string
	for range longestEscape {
		if json.Unmarshal(whole, &text) == nil || len(quoted) == 0 {
			break
		}
		// A string that was cut may end within an escape.
		whole = append(bytes.Clone(quoted), '"')
		quoted = quoted[:len(quoted)-1]
	}
	masked := MaskText(text)
	if masked == text {
		return nil
	}
	return (&Node{Kind: NodeText, Text: masked}).JSON()
}

// longestEscape is how many tries it takes to get rid of half an escape at the end of a string.
const longestEscape = 8

// maskParameter masks what the value of a parameter holds.
func maskParameter(value string) string {
	if !strings.Contains(value, "{") && !strings.Contains(value, "%7B") && !strings.Contains(value, "%7b") {
		return value
	}
	text := parameterName(value)
	masked := MaskText(text)
	switch {
	case masked == text:
		return value
	case text == value:
		return masked
	default:
		return strings.ReplaceAll(url.QueryEscape(masked), "%2A%2A%2A", Mask)
	}
}

// maskArguments masks the values of a GraphQL document's arguments, input fields and variables that are called like a
// secret.
func maskArguments(body []byte) []byte {
	var masked []byte
	kept := 0
	for i := 0; i < len(body); {
		switch {
		case body[i] == '"':
			i = graphStringEnd(body, i)
			continue
		case !isNameByte(body[i]):
			i++
			continue
		}
		end := nameEnd(body, i)
		from, to := argumentValue(body, i, end)
		if from == to || !isSecretWord(string(body[i:end])) {
			i = end
			continue
		}
		masked = append(append(masked, body[kept:from]...), `"`+Mask+`"`...)
		i, kept = to, to
	}
	if masked == nil {
		return body
	}
	return append(masked, body[kept:]...)
}

// argumentValue is where the value behind a name stands; from and to are the same where there is none that could be a secret:
// what is neither a text, a number, a list nor an object is the field behind an alias, a variable or a word.
func argumentValue(body []byte, name, end int) (from, to int) {
	at := skipBlanks(body, end)
	if at >= len(body) || body[at] != ':' {
		return at, at
	}
	at = skipBlanks(body, at+1)
	if name > 0 && body[name-1] == '$' {
		for at < len(body) && (isNameByte(body[at]) || strings.IndexByte("[]! \t\r\n", body[at]) >= 0) {
			at++
		}
		if at >= len(body) || body[at] != '=' {
			return at, at
		}
		at = skipBlanks(body, at+1)
	}
	return at, graphValueEnd(body, at)
}

// graphValueEnd is the index behind a value that could be a secret, and i where none begins there.
func graphValueEnd(body []byte, i int) int {
	if i >= len(body) {
		return i
	}
	switch b := body[i]; {
	case b == '"':
		return graphStringEnd(body, i)
	case b == '{' || b == '[':
		return graphGroupEnd(body, i)
	case b == '-' || '0' <= b && b <= '9':
		for i++; i < len(body) && (isNameByte(body[i]) || strings.IndexByte(".+-", body[i]) >= 0); {
			i++
		}
	}
	return i
}

// graphGroupEnd is the index behind the list or the object that begins at i, the end of the body if it was cut.
func graphGroupEnd(body []byte, i int) int {
	depth := 0
	for i < len(body) {
		switch body[i] {
		case '"':
			i = graphStringEnd(body, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if i++; depth == 0 {
			return i
		}
	}
	return len(body)
}

// graphStringEnd is the index behind the string that begins at i, be it a block of lines or not.
func graphStringEnd(body []byte, i int) int {
	const fence = `"""`
	if !bytes.HasPrefix(body[i:], []byte(fence)) {
		return jsonStringEnd(body, i)
	}
	for at := i + len(fence); at < len(body); at++ {
		if bytes.HasPrefix(body[at:], []byte(`\`+fence)) {
			at += len(fence)
		} else if bytes.HasPrefix(body[at:], []byte(fence)) {
			return at + len(fence)
		}
	}
	return len(body)
}

func isNameByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

func nameEnd(body []byte, i int) int {
	for i < len(body) && isNameByte(body[i]) {
		i++
	}
	return i
}

// isSecretWord tells whether a member, an argument or an element is named like something secret. What is called key alone is
// most often none.
func isSecretWord(name string) bool { return IsSecretName(name) && !strings.EqualFold(name, "key") }
