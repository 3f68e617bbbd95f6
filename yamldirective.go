package mockbase

import (
	"bytes"
	"strings"
)

// dropYAMLDirectives makes a comment of %YAML 1.2, which says what is so anyway and which the library does not know, and
// refuses every other directive before the document. The places of what follows stay.
func dropYAMLDirectives(src []byte) ([]byte, *Error) {
	version := -1
	at := 0
	for line := range bytes.Lines(src) {
		switch text := bytes.TrimSpace(line); {
		case line[0] == '%' && version >= 0 && isVersion(text):
			return nil, yamlDirectiveFault(src, at, `the directive "%YAML" is given twice`)
		case line[0] == '%':
			if detail := directiveFault(string(text)); detail != "" {
				return nil, yamlDirectiveFault(src, at, detail)
			}
			version = at
		case len(text) > 0 && text[0] != '#':
			return withoutVersion(src, version, at)
		}
		at += len(line)
	}
	return withoutVersion(src, version, at)
}

// isVersion tells whether a line with a directive is that of the version.
func isVersion(line []byte) bool { return bytes.HasPrefix(line, []byte("%YAML")) }

func yamlDirectiveFault(src []byte, at int, detail string) *Error {
	line, column := placeOf(src, at)
	return malformed(FieldError{Pointer: "#", Code: FieldSyntax, Line: line, Column: column, Detail: detail})
}

// directiveFault tells why a line with a directive is refused, "" if it is not.
func directiveFault(line string) string {
	text, _, _ := strings.Cut(line, " #")
	words := strings.Fields(text)
	switch {
	case words[0] != "%YAML":
		return "the directive " + quote(words[0]) + " is not supported: leave it out"
	case len(words) != 2 || words[1] != "1.2":
		return "the text is read as YAML 1.2: write %YAML 1.2 or leave the directive out, found " + quote(line)
	}
	return ""
}

// withoutVersion makes a comment of the version at an offset, -1 for none. The document begins at begin.
func withoutVersion(src []byte, version, begin int) ([]byte, *Error) {
	if version < 0 {
		return src, nil
	}
	if !bytes.HasPrefix(src[begin:], []byte("---")) {
		return nil, yamlDirectiveFault(src, begin, "a line with --- must follow the directive")
	}
	changed := bytes.Clone(src)
	changed[version] = '#'
	return changed, nil
}
