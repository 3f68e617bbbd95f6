package mockbase

import (
	"fmt"
	"strings"
)

// yamlFlow is an open bracket.
type yamlFlow struct {
	at int
	// hasNode tells that a value has ended, behind which a comma, a colon or the bracket's other half must come; inPlain
	// that it is an unquoted text, which more words continue; hasColon that its entry has a colon.
	hasNode, inPlain, hasColon bool
}

// flow reads a list or an object in brackets.
func (s *yamlScan) flow() {
	s.open()
	for len(s.flows) > 0 && s.at < len(s.src) && s.wrongAt < 0 {
		s.flowToken(&s.flows[len(s.flows)-1])
	}
}

func (s *yamlScan) open() {
	s.flows = append(s.flows, yamlFlow{at: s.at})
	s.checkDepth(s.at)
	s.at++
}

// flowToken reads what comes next inside the bracket f.
func (s *yamlScan) flowToken(f *yamlFlow) {
	switch c := s.src[s.at]; c {
	case '\n':
		s.nextLine()
		s.lookOutside(f)
	case ' ', '\t', '\r':
		s.at++
	case '[', '{':
		if f.hasNode {
			s.fail(s.at, string(c)+" cannot follow here: put a text that holds one in quotes, or a comma before it")
			return
		}
		s.open()
	case ']', '}':
		s.shut(c, f)
	case ',':
		*f = yamlFlow{at: f.at}
		s.at++
	default:
		s.flowValue(c, f)
	}
}

// flowValue reads a value or a colon inside the bracket f.
func (s *yamlScan) flowValue(c byte, f *yamlFlow) {
	switch {
	case c == '#' && s.blankAt(s.at-1):
		f.inPlain = false
		s.toLineEnd()
	case c == ':' && (!f.inPlain || s.blankAt(s.at+1) || strings.IndexByte(",[]{}", s.byteAt(s.at+1)) >= 0):
		s.colon(f)
	case f.inPlain:
		s.skipPlain(",[]{}")
	case f.hasNode:
		s.fail(s.at, "a comma is missing before this value")
	default:
		s.flowNode(c, f)
	}
}

func (s *yamlScan) colon(f *yamlFlow) {
	if f.hasNode && f.hasColon {
		s.fail(s.at, "a second colon cannot follow here: put a text that holds one in quotes, or check the commas and brackets")
		return
	}
	f.hasColon, f.hasNode, f.inPlain = true, false, false
	s.at++
}

// flowNode reads a scalar, or what stands before a value.
func (s *yamlScan) flowNode(c byte, f *yamlFlow) {
	f.hasNode = true
	switch c {
	case '"', '\'':
		s.skipQuoted(c)
	case '*':
		s.skipWord()
	case '&', '!':
		s.skipWord()
		f.hasNode = false
	case '?':
		s.at++
		f.hasNode = false
	default:
		f.inPlain = true
		s.skipPlain(",[]{}")
	}
}

// shut reads a closing bracket.
func (s *yamlScan) shut(c byte, f *yamlFlow) {
	opened := s.src[f.at]
	// Each closing bracket stands two behind its opening one in ASCII.
	if c != opened+2 {
		if s.suspect >= 0 {
			s.unclosed(s.suspect)
			return
		}
		line, column := placeOf(s.src, f.at)
		s.fail(s.at, fmt.Sprintf("%c does not close the %c in line %d, column %d", c, opened, line, column))
		return
	}
	if f.at == s.suspect {
		s.suspect = -1
	}
	s.at++
	s.flows = s.flows[:len(s.flows)-1]
	if n := len(s.flows); n > 0 {
		s.flows[n-1].hasNode, s.flows[n-1].inPlain = true, false
	}
}

// unclosed notes a bracket that has no other half.
func (s *yamlScan) unclosed(at int) {
	if s.suspect >= 0 {
		at = s.suspect
	}
	what := "list"
	if s.src[at] == '{' {
		what = "object"
	}
	s.fail(at, fmt.Sprintf("the %s that begins here with %c is never closed", what, s.src[at]))
}

// lookOutside looks at a line inside the bracket f that looks like one outside brackets: its author forgot to close f.
// Behind a comma that is not sure, as the lines of an object may begin anywhere.
func (s *yamlScan) lookOutside(f *yamlFlow) {
	const longestKey = 200
	at := s.at
	for s.byteAt(at) == ' ' {
		at++
	}
	rest := string(s.src[at:min(len(s.src), at+longestKey)])
	if end := strings.IndexAny(rest, ",[]{}\r\n"); end >= 0 {
		rest = rest[:end] + " "
	}
	if at-s.start > s.margin() || !strings.HasPrefix(rest, "- ") && !strings.Contains(rest, ": ") {
		return
	}
	if f.hasNode {
		s.unclosed(f.at)
		return
	}
	if s.suspect < 0 {
		s.suspect = f.at
	}
}
