package template

import (
	"sort"
	"strconv"
	"strings"
	"text/template/parse"
	"unicode/utf8"
)

// The bounds of a source. Go's parser recurses for each nested block and each parenthesis, and a stack overflow cannot be
// recovered from, so a source is measured before the parser sees it (rule P9).
const (
	// maxSource bounds the bytes of a text with templates in it.
	maxSource = MaxOutput
	// maxActions bounds the actions: each node of a tree can bring an else and an end.
	maxActions = 4 * maxNodes
	// maxActionBytes bounds the bytes inside actions, each of which can become a node.
	maxActionBytes = 512 << 10

	leftDelimiter, rightDelimiter = "{{", "}}"
	blanks                        = " \t\r\n"
)

// action is where an action begins and ends, delimiters included.
type action struct{ start, end int }

// source is a measured text.
type source struct {
	text    string
	actions []action
	lines   []int
}

// measure finds the actions of a text and refuses what is too large for the parser. It reads actions as Go's lexer does:
// quotes and comments may hold delimiters.
func measure(text string) (*source, error) {
	s := &source{text: text}
	if len(text) > maxSource {
		return nil, s.fault(0, "the text is larger than "+strconv.Itoa(maxSource)+" bytes")
	}
	inside, open := 0, blocks{}
	for at := 0; ; {
		next := strings.Index(text[at:], leftDelimiter)
		if next < 0 {
			return s, nil
		}
		start := at + next
		end, deepest := actionEnd(text, start+len(leftDelimiter))
		s.actions = append(s.actions, action{start: start, end: end})
		inside += end - start
		switch {
		case len(s.actions) > maxActions || inside > maxActionBytes:
			return nil, s.fault(start, tooLarge)
		case deepest > maxDepth || open.enter(text[start:end]) > maxDepth:
			return nil, s.fault(start, tooDeep)
		}
		at = end
	}
}

// actionEnd finds where the action whose content starts at from ends, and how deep its parentheses are. An action that
// does not end reaches to the end of the text; the parser says what is wrong with it.
func actionEnd(text string, from int) (end, deepest int) {
	if body := strings.TrimLeft(strings.TrimPrefix(text[from:], "-"), blanks); strings.HasPrefix(body, "/*") {
		return after(text, from, "*/"), 0
	}
	depth := 0
	for i := from; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			i = quoteEnd(text, i)
		case '`':
			i = after(text, i+1, "`") - 1
		case '(':
			depth++
			deepest = max(deepest, depth)
		case ')':
			depth--
		case '}':
			if strings.HasPrefix(text[i:], rightDelimiter) {
				return i + len(rightDelimiter), deepest
			}
		}
	}
	return len(text), deepest
}

// blocks counts the open blocks: of each the levels that it has, since every "else if" opens one more that the block's end
// closes.
type blocks struct {
	levels []int
	sum    int
}

// enter follows an action and gives how deep it is.
func (b *blocks) enter(text string) int {
	word, rest := keyword(strings.TrimPrefix(text[len(leftDelimiter):], "-"))
	top := len(b.levels) - 1
	switch word {
	case "if", "range", "with", "block", "define":
		b.levels = append(b.levels, 1)
		b.sum++
	case "else":
		if next, _ := keyword(rest); top >= 0 && next != "" {
			b.levels[top]++
			b.sum++
		}
	case "end":
		if top >= 0 {
			b.sum -= b.levels[top]
			b.levels = b.levels[:top]
		}
	}
	return b.sum
}

// keyword gives the letters that a text begins with, behind blanks, and what follows them.
func keyword(text string) (word, rest string) {
	text = strings.TrimLeft(text, blanks)
	if end := strings.IndexFunc(text, func(r rune) bool { return r < 'a' || r > 'z' }); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

// quoteEnd gives the index of the quote that closes the one at i.
func quoteEnd(text string, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case '\n':
			return j
		case text[i]:
			return j
		}
	}
	return len(text)
}

// after gives the index behind the next mark, or the end of the text.
func after(text string, from int, mark string) int {
	i := strings.Index(text[from:], mark)
	if i < 0 {
		return len(text)
	}
	return from + i + len(mark)
}

// place gives line and column of an offset, both from 1.
func (s *source) place(offset int) (line, column int) {
	before := s.text[:min(offset, len(s.text))]
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// line gives the line of an offset. Unlike place it is asked for each node, so the starts of lines are noted once.
func (s *source) line(offset parse.Pos) int {
	if s.lines == nil {
		s.lines = []int{0}
		for i := range len(s.text) {
			if s.text[i] == '\n' {
				s.lines = append(s.lines, i+1)
			}
		}
	}
	return sort.SearchInts(s.lines, int(offset)+1)
}

func (s *source) fault(offset int, message string) *SyntaxError {
	line, column := s.place(offset)
	return &SyntaxError{Line: line, Column: column, Message: message}
}

// mainName is the name of a text's own template, which no definition can have as it is no valid text.
const mainName = "\xff"

// parse gives the trees of a text and its definitions, by name. Functions are checked later, where their place is known.
func (s *source) parse() (map[string]*parse.Tree, error) {
	trees, err := parseTrees(s.text)
	if err == nil {
		return trees, nil
	}
	message := parserMessage(err)
	if message == endMessage {
		return nil, s.fault(len(s.text), "the text ends inside a block: an {{ end }} is missing")
	}
	return nil, s.fault(s.named(s.culprit(), message), message)
}

// named is where the piece of the text that a message ends with stands in the action at an offset, else the offset.
func (s *source) named(offset int, message string) int {
	i := strings.LastIndexAny(message, " ") + 1
	piece := strings.Trim(message[i:], `"`)
	if unquoted, err := strconv.Unquote(message[i:]); err == nil && message[i] == '"' {
		piece = unquoted
	}
	if len(piece) < len(message[i:]) || strings.HasPrefix(piece, "'") {
		if at := strings.Index(s.text[offset:], piece); at > 0 {
			return offset + at
		}
	}
	return offset
}

const endMessage = "unexpected EOF"

// culprit finds the action that the parser stumbles over, as it tells lines only: the text up to the end of some action
// fails for another reason than its end from the culprit on.
func (s *source) culprit() int {
	i := sort.Search(len(s.actions), func(i int) bool {
		_, err := parseTrees(s.text[:s.actions[i].end])
		return err != nil && parserMessage(err) != endMessage
	})
	if i == len(s.actions) {
		return len(s.text)
	}
	return s.actions[i].start
}

func parseTrees(text string) (map[string]*parse.Tree, error) {
	trees := make(map[string]*parse.Tree)
	tree := parse.New(mainName)
	tree.Mode = parse.SkipFuncCheck
	_, err := tree.Parse(text, leftDelimiter, rightDelimiter, trees)
	return trees, err
}

// parserMessage drops the name and the line from the parser's message.
func parserMessage(err error) string {
	message := strings.TrimPrefix(err.Error(), "template: "+mainName+":")
	if _, rest, ok := strings.Cut(message, ": "); ok {
		message = rest
	}
	return strings.ReplaceAll(strings.ReplaceAll(message, "template: ", ""), mainName+":", "line ")
}
