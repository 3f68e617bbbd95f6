package mockbase

import "strings"

// yamlScan reads a YAML text that the library refused, to find what its message does not say: which bracket is wrong, and
// where there are too many objects and lists inside one another. It knows quotes, comments and blocks of lines, and leaves
// every other fault to the library.
type yamlScan struct {
	src []byte
	// at is the next byte, start that of its line.
	at, start int
	// tooDeep is where an object or list begins that makes more than depth of them, -1 if none does.
	depth, tooDeep int
	// wrongAt is the first bracket that is wrong, -1 if none is; wrong says why.
	wrongAt int
	wrong   string
	// indents are the columns of the block lists and objects that are open, from 0.
	indents []int
	flows   []yamlFlow
	// suspect is the bracket that was open where a line looked like one outside brackets, -1 if none did.
	suspect int
	// inPlain tells that the last line may go on with an unquoted text.
	inPlain bool
}

// scanYAML reads src until its end or a wrong bracket.
func scanYAML(src []byte, depth int) *yamlScan {
	s := &yamlScan{src: src, depth: depth, tooDeep: -1, wrongAt: -1, suspect: -1}
	for s.at < len(src) && s.wrongAt < 0 {
		s.line()
	}
	if s.wrongAt < 0 && len(s.flows) > 0 {
		s.unclosed(s.flows[len(s.flows)-1].at)
	}
	return s
}

// fail notes the first wrong bracket.
func (s *yamlScan) fail(at int, wrong string) {
	if s.wrongAt < 0 {
		s.wrongAt, s.wrong = at, wrong
	}
}

// byteAt returns a byte of the text, a line break behind its end.
func (s *yamlScan) byteAt(at int) byte {
	if at >= len(s.src) {
		return '\n'
	}
	return s.src[at]
}

// blankAt tells whether a token that needs a blank behind it ends at this byte.
func (s *yamlScan) blankAt(at int) bool { return strings.IndexByte(" \t\r\n", s.byteAt(at)) >= 0 }

func (s *yamlScan) lineEnds() bool { c := s.byteAt(s.at); return c == '\n' || c == '\r' }

func (s *yamlScan) toLineEnd() {
	for s.at < len(s.src) && s.src[s.at] != '\n' {
		s.at++
	}
}

func (s *yamlScan) nextLine() {
	s.toLineEnd()
	s.at = min(s.at+1, len(s.src))
	s.start = s.at
}

func (s *yamlScan) skipSpaces() {
	for c := s.byteAt(s.at); c == ' ' || c == '\t'; c = s.byteAt(s.at) {
		s.at++
	}
}

// skipWord skips an anchor, a tag or an alias.
func (s *yamlScan) skipWord() {
	for !s.blankAt(s.at) && (len(s.flows) == 0 || strings.IndexByte(",[]{}", s.byteAt(s.at)) < 0) {
		s.at++
	}
}

// margin is the column of the innermost block list or object; what belongs to it stands further to the right.
func (s *yamlScan) margin() int {
	if len(s.indents) == 0 {
		return -1
	}
	return s.indents[len(s.indents)-1]
}

// indent opens a block list or object, unless it is open already.
func (s *yamlScan) indent(column, at int) {
	if column > s.margin() {
		s.indents = append(s.indents, column)
		s.checkDepth(at)
	}
}

func (s *yamlScan) checkDepth(at int) {
	if s.tooDeep < 0 && len(s.indents)+len(s.flows) > s.depth {
		s.tooDeep = at
	}
}

// line reads a line outside brackets, and the lines that its brackets, quotes and blocks take.
func (s *yamlScan) line() {
	s.skipSpaces()
	column := s.at - s.start
	isComment := s.byteAt(s.at) == '#'
	switch {
	case s.lineEnds(), isComment, s.inPlain && column > s.margin():
		s.inPlain = s.inPlain && !isComment
		s.nextLine()
		return
	case column == 0 && s.atMarker():
		s.indents = nil
		s.at += len("---")
	default:
		for column < s.margin() {
			s.indents = s.indents[:len(s.indents)-1]
		}
	}
	s.inPlain = false
	s.nodes()
}

// atMarker tells whether the start or the end of a document is here.
func (s *yamlScan) atMarker() bool {
	text := s.src[s.at:min(s.at+len("---"), len(s.src))]
	return (string(text) == "---" || string(text) == "...") && s.blankAt(s.at+len("---"))
}

// nodes reads the keys and values of a line.
func (s *yamlScan) nodes() {
	for s.wrongAt < 0 {
		s.skipSpaces()
		switch c := s.byteAt(s.at); {
		case s.lineEnds(), c == '#':
			s.nextLine()
			return
		case strings.IndexByte("-?:", c) >= 0 && s.blankAt(s.at+1):
			if c != ':' {
				s.indent(s.at-s.start, s.at)
			}
			s.at++
		case c == '&', c == '!':
			s.skipWord()
		case c == '|', c == '>':
			s.skipBlock()
			return
		default:
			if !s.node(c) {
				return
			}
		}
	}
}

// skipBlock skips a block of lines.
func (s *yamlScan) skipBlock() {
	margin := max(0, s.margin())
	for {
		s.nextLine()
		s.skipSpaces()
		if s.at >= len(s.src) || !s.lineEnds() && s.at-s.start <= margin {
			s.at = s.start
			return
		}
	}
}

// node reads a value that begins with c, and tells whether it is a key and the line goes on.
func (s *yamlScan) node(c byte) (isKey bool) {
	at, column := s.at, s.at-s.start
	switch c {
	case '"', '\'':
		s.skipQuoted(c)
	case '[', '{':
		s.flow()
	case ']', '}':
		s.fail(at, string(c)+" closes nothing: put a text that begins with it in quotes")
	case '*':
		s.skipWord()
	default:
		s.skipPlain("")
		s.inPlain = s.lineEnds()
	}
	s.skipSpaces()
	if s.byteAt(s.at) == ':' && s.blankAt(s.at+1) {
		s.inPlain = false
		s.indent(column, at)
		s.at++
		return true
	}
	if (c == '[' || c == '{') && !s.lineEnds() && s.byteAt(s.at) != '#' {
		s.fail(s.at, "nothing can follow the value in brackets: check the brackets, or put a text that begins with one in quotes")
	}
	s.nextLine()
	return false
}

// skipQuoted skips a text in quotes.
func (s *yamlScan) skipQuoted(quote byte) {
	for s.at++; s.at < len(s.src); s.at++ {
		switch c := s.src[s.at]; {
		case c == '\n':
			s.start = s.at + 1
		case c == '\\' && quote == '"' && s.byteAt(s.at+1) != '\n', c == quote && quote == '\'' && s.byteAt(s.at+1) == quote:
			s.at++
		case c == quote:
			s.at++
			return
		}
	}
}

// skipPlain skips an unquoted text up to the end of its line, a comment, a colon, or one of the stops.
func (s *yamlScan) skipPlain(stops string) {
	for ; !s.lineEnds(); s.at++ {
		c, next := s.byteAt(s.at), s.byteAt(s.at+1)
		switch {
		case c == ':' && (s.blankAt(s.at+1) || strings.IndexByte(stops, next) >= 0), strings.IndexByte(stops, c) >= 0:
			return
		case (c == ' ' || c == '\t') && next == '#':
			s.at++
			return
		}
	}
}
