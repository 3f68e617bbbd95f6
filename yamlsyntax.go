package mockbase

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlSyntaxError explains why the library refused a text. Its own message names a line that is often that of something
// around the fault, and no column, so that the text is read again to see how far it came.
func yamlSyntaxError(src []byte, cause error) *Error {
	problem := strings.TrimPrefix(cause.Error(), "yaml: ")
	if rest, found := strings.CutPrefix(problem, "line "); found {
		if _, text, cut := strings.Cut(rest, ": "); cut {
			problem = text
		}
	}
	at := yamlFaultOffset(src, problem)
	line, column := placeOf(src, at)
	code := FieldSyntax
	if strings.HasPrefix(problem, "exceeded max depth") {
		code = FieldLimit
	}
	return malformed(FieldError{
		Pointer: "#", Code: code, Line: line, Column: column, Detail: describeYAMLProblem(problem, src[at:]),
	})
}

// stepReader hands out one byte at a time and counts.
type stepReader struct {
	text []byte
	n    int
}

func (r *stepReader) Read(b []byte) (int, error) {
	if r.n == len(r.text) {
		return 0, io.EOF
	}
	b[0] = r.text[r.n]
	r.n++
	return 1, nil
}

// yamlLookAhead is how many bytes the library's scanner has read beyond the character that it refuses.
const yamlLookAhead = 4

// yamlFaultOffset finds the character that the library stopped at.
func yamlFaultOffset(src []byte, problem string) int {
	reader := &stepReader{text: append(bytes.Clone(src), "\n\n\n\n"...)}
	decoder := yaml.NewDecoder(reader)
	for {
		if _, err := nextDocument(decoder); err != nil {
			break
		}
	}
	read := src[:min(reader.n, len(src))]
	at := max(0, min(reader.n-yamlLookAhead, len(src)))
	switch {
	case strings.Contains(problem, "tab character"):
		at = bytes.LastIndexByte(read, '\t')
	case strings.Contains(problem, "unexpected end of stream"):
		at = openQuote(src)
	case strings.HasPrefix(problem, "unknown anchor '"):
		name, _, _ := strings.Cut(problem[len("unknown anchor '"):], "'")
		at = bytes.LastIndex(read, []byte("*"+name))
	case strings.Contains(problem, "directive"):
		at = bytes.LastIndexByte(read, '%')
	case strings.HasPrefix(problem, "did not find expected"):
		at = lineStart(src, min(at, len(bytes.TrimRight(src, " \t\r\n"))))
	}
	at = max(at, 0)
	for at > 0 && at < len(src) && !utf8.RuneStart(src[at]) {
		at--
	}
	return at
}

// lineStart returns the first character of the line around at that is no blank.
func lineStart(src []byte, at int) int {
	start := bytes.LastIndexByte(src[:at], '\n') + 1
	for start < len(src) && src[start] == ' ' {
		start++
	}
	return start
}

// openQuote finds the quote that is never closed: the last one that stands where a value may begin and leaves the rest
// of the text inside quotes.
func openQuote(src []byte) int {
	const mostBytes = 16 << 20
	work := 0
	for at := len(src) - 1; at >= 0 && work < mostBytes; at-- {
		if c := src[at]; c != '"' && c != '\'' || at > 0 && bytes.IndexByte([]byte(" \t\n[{,:"), src[at-1]) < 0 {
			continue
		}
		work += at
		decoder := yaml.NewDecoder(bytes.NewReader(src[:at]))
		_, err := nextDocument(decoder)
		if err == nil || !strings.Contains(err.Error(), "unexpected end of stream") {
			return at
		}
	}
	return 0
}

// describeYAMLProblem says it in our own words where we have some.
func describeYAMLProblem(problem string, rest []byte) string {
	switch {
	case strings.Contains(problem, "tab character"), bytes.HasPrefix(rest, []byte{'\t'}):
		return "a tab cannot indent: use spaces"
	case strings.Contains(problem, "cannot start any token"):
		r, _ := utf8.DecodeRune(rest)
		return quote(string(r)) + " cannot begin a value: put the value in quotes"
	case strings.HasPrefix(problem, "mapping values are not allowed"):
		return "a colon cannot follow here: put a text that holds one in quotes, or check the indentation"
	case problem == "did not find expected key", strings.HasSuffix(problem, "'-' indicator"):
		return "this line does not fit to those above: check the indentation, brackets and quotes"
	case strings.HasSuffix(problem, "',' or ']'"):
		return "expected a comma or ]: is the list that begins with [ closed?"
	case strings.HasSuffix(problem, "',' or '}'"):
		return "expected a comma or }: is the object that begins with { closed?"
	case strings.HasSuffix(problem, "expected node content"):
		return "expected a value"
	case strings.HasSuffix(problem, "could not find expected ':'"):
		return "expected a colon behind the key"
	case strings.Contains(problem, "unexpected end of stream"):
		return "the quoted text that begins here is never closed"
	case strings.Contains(problem, "unknown escape character"):
		return "this is no escape of YAML: write the text in single quotes, or two backslashes for one"
	case strings.HasPrefix(problem, "unknown anchor '"):
		name, _, _ := strings.Cut(problem[len("unknown anchor '"):], "'")
		return "the alias *" + name + " has no anchor &" + name + " before it"
	}
	return problem
}
