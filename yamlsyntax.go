package mockbase

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlSyntaxError explains why the library refused a text. Its own message names a line that is often that of something
// around the fault, and no column, so that the text is read again to see how far it came.
func yamlSyntaxError(src []byte, cause error, lim ParseLimits) *Error {
	problem := strings.TrimPrefix(cause.Error(), "yaml: ")
	if rest, found := strings.CutPrefix(problem, "line "); found {
		if _, text, cut := strings.Cut(rest, ": "); cut {
			problem = text
		}
	}
	fault := FieldError{Pointer: "#", Code: FieldSyntax}
	var at int
	switch scan := scanYAML(src, lim.Depth); {
	case strings.HasPrefix(problem, "exceeded max depth"):
		at = max(0, scan.tooDeep)
		fault.Code, fault.Detail = FieldLimit, tooDeepDetail(lim.Depth)
	case scan.wrongAt >= 0 && mayBeBracket(problem) && scan.wrongAt < readUntilFault(src):
		at, fault.Detail = scan.wrongAt, scan.wrong
	case isDirectiveProblem(problem):
		at = max(0, bytes.LastIndexByte(src[:min(readUntilFault(src), len(src))], '%'))
		fault.Detail = "a line that begins with % cannot stand here: put a text that does in quotes"
	default:
		at = yamlFaultOffset(src, problem)
		fault.Detail = describeYAMLProblem(problem, src[at:])
	}
	fault.Line, fault.Column = placeOf(src, at)
	return malformed(fault)
}

// mayBeBracket tells whether a wrong bracket can make the library say this. It says it of whatever stands behind.
func mayBeBracket(problem string) bool {
	for _, begin := range []string{"did not find expected", "could not find expected ':'", "mapping values", "block sequence entries"} {
		if strings.HasPrefix(problem, begin) {
			return true
		}
	}
	return false
}

// tooDeepDetail says it of the object or list that is one too many.
func tooDeepDetail(most int) string {
	return fmt.Sprintf("more than %d objects and lists inside one another", most)
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

// readUntilFault is how many bytes the library read before it refused the text, those of line breaks behind it included.
func readUntilFault(src []byte) int {
	reader := &stepReader{text: append(bytes.Clone(src), "\n\n\n\n"...)}
	decoder := yaml.NewDecoder(reader)
	for {
		if _, err := nextDocument(decoder); err != nil {
			return reader.n
		}
	}
}

// yamlFaultOffset finds the character that the library stopped at.
func yamlFaultOffset(src []byte, problem string) int {
	n := readUntilFault(src)
	read := src[:min(n, len(src))]
	at := max(0, min(n-yamlLookAhead, len(src)))
	switch {
	case strings.Contains(problem, "tab character"):
		at = bytes.LastIndexByte(read, '\t')
	case strings.Contains(problem, "unexpected end of stream"):
		at = openQuote(src)
	case strings.HasPrefix(problem, "unknown anchor '"):
		name, _, _ := strings.Cut(problem[len("unknown anchor '"):], "'")
		at = bytes.LastIndex(read, []byte("*"+name))
	case strings.HasPrefix(problem, "did not find expected"):
		at = lineStart(src, min(at, len(bytes.TrimRight(src, " \t\r\n"))))
	}
	at = max(at, 0)
	for at > 0 && at < len(src) && !utf8.RuneStart(src[at]) {
		at--
	}
	return at
}

// isDirectiveProblem tells whether the library speaks of a directive. Those before the document do not reach it.
func isDirectiveProblem(problem string) bool {
	return strings.Contains(problem, "directive") || strings.Contains(problem, "incompatible YAML document") ||
		strings.Contains(problem, "non-alphabetical")
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
