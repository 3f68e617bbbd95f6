package interchange

import (
	"strings"

	"github.com/mockbase/mockbase"
)

// literalDollar stands in words for a dollar that begins no variable; no word of a shell can hold the sign.
const literalDollar = "\x00"

// dollars writes the dollars of a word as they are.
func dollars(word string) string { return strings.ReplaceAll(word, literalDollar, "$") }

// written is a sign in a word that nothing is put in for.
func written(c byte) byte {
	if c == '$' {
		return literalDollar[0]
	}
	return c
}

// maxWords bounds the words of all commands of one text.
const maxWords = 100_000

// shellCommand is a command with the line on which it begins.
type shellCommand struct {
	words []string
	line  int
}

func (c *shellCommand) place() value {
	return value{node: &mockbase.Node{Kind: mockbase.NodeText, Line: c.line, Column: 1}, pointer: "#"}
}

// shellCommands splits a text into commands and words as a shell does. Nothing is run and nothing is put in.
func shellCommands(text string) []shellCommand {
	s := &shellSplitter{text: text, line: 1, begin: 1}
	for total := 0; s.pos < len(s.text) && total < maxWords; total++ {
		s.step()
	}
	s.endCommand()
	return s.commands
}

type shellSplitter struct {
	text     string
	pos      int
	line     int
	begin    int
	word     []byte
	open     bool
	words    []string
	commands []shellCommand
	// redirected tells that the next word names where the output goes, and is none of the command.
	redirected bool
}

// redirect reads the sign of a redirection, which the number of a stream may stand before.
func (s *shellSplitter) redirect() {
	if isDigits(string(s.word)) {
		s.word, s.open = nil, false
	}
	s.endWord()
	for s.pos < len(s.text) && strings.IndexByte("<>&|", s.text[s.pos]) >= 0 {
		s.pos++
	}
	s.redirected = true
}

// comment reads a sign that begins a comment, unless it stands in a word.
func (s *shellSplitter) comment() {
	if s.open {
		s.add(s.text[s.pos : s.pos+1])
		return
	}
	s.pos += strings.IndexByte(s.text[s.pos:]+"\n", '\n')
}

// separated reads what ends a command, or begins a redirection of everything.
func (s *shellSplitter) separated(c byte) {
	if strings.HasPrefix(s.text[s.pos:], "&>") {
		s.redirect()
		return
	}
	s.pos++
	s.endCommand()
	if c == '\n' {
		s.line++
	}
}

// step reads what begins at the position: a separator, a comment, or a run of a word.
func (s *shellSplitter) step() {
	switch c := s.text[s.pos]; c {
	case ' ', '\t', '\r':
		s.pos++
		s.endWord()
	case '<', '>':
		s.redirect()
	case '\n', ';', '|', '&':
		s.separated(c)
	case '#':
		s.comment()
	case '\'', '"':
		s.quoted(c)
	case '\\', '^':
		s.escaped()
	case '$':
		if strings.HasPrefix(s.text[s.pos:], "$'") {
			s.pos++
			s.scripted()
			return
		}
		s.add(s.text[s.pos : s.pos+1])
	default:
		n := strings.IndexAny(s.text[s.pos:], " \t\r\n;|&<>'\"\\^$#")
		if n <= 0 {
			n = len(s.text) - s.pos
		}
		s.add(s.text[s.pos : s.pos+n])
	}
}

// add adds a run of the text to the word.
func (s *shellSplitter) add(run string) {
	if !s.open && len(s.words) == 0 {
		s.begin = s.line
	}
	s.open = true
	s.word = append(s.word, run...)
	s.pos += len(run)
}

// escaped reads a backslash, or the sign that continues lines on Windows. Before the end of a line both mean that it goes on.
func (s *shellSplitter) escaped() {
	rest := s.text[s.pos+1:]
	trimmed := strings.TrimPrefix(rest, "\r")
	switch {
	case strings.HasPrefix(trimmed, "\n"):
		s.pos += 2 + len(rest) - len(trimmed)
		s.line++
	case rest == "":
		s.pos++
	case s.text[s.pos] == '^':
		s.add("^")
	default:
		s.pos++
		s.add(rest[:1])
		s.word[len(s.word)-1] = written(rest[0])
	}
}

// quoted reads a text in quotes. In double ones a backslash stands before what would end it.
func (s *shellSplitter) quoted(quote byte) {
	s.add("")
	for s.pos++; s.pos < len(s.text) && s.text[s.pos] != quote; s.pos++ {
		literal := quote == '\''
		if s.text[s.pos] == '\\' && quote == '"' && s.pos+1 < len(s.text) && strings.IndexByte("\\\"$`\n", s.text[s.pos+1]) >= 0 {
			s.pos++
			literal = true
		}
		c := s.text[s.pos]
		if c == '\n' {
			s.line++
		}
		if literal {
			c = written(c)
		}
		s.word = append(s.word, c)
	}
	s.pos++
}

// scripted reads $'…', in which a backslash writes signs that are hard to type.
func (s *shellSplitter) scripted() {
	s.add("")
	letters := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r'}
	for s.pos++; s.pos < len(s.text) && s.text[s.pos] != '\''; s.pos++ {
		c := s.text[s.pos]
		if c == '\\' && s.pos+1 < len(s.text) {
			s.pos++
			c = s.text[s.pos]
			if letter, ok := letters[c]; ok {
				c = letter
			}
		}
		s.word = append(s.word, written(c))
	}
	s.pos++
}

func (s *shellSplitter) endWord() {
	switch {
	case !s.open:
		return
	case !s.redirected:
		s.words = append(s.words, string(s.word))
	}
	s.word, s.open, s.redirected = nil, false, false
}

func (s *shellSplitter) endCommand() {
	s.endWord()
	if len(s.words) > 0 && s.words[0] == "$" {
		s.words = s.words[1:]
	}
	if len(s.words) > 0 {
		s.commands = append(s.commands, shellCommand{s.words, s.begin})
	}
	s.words, s.redirected = nil, false
}
