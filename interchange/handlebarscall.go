package interchange

import (
	"fmt"
	"strconv"
	"strings"
)

// hbScanner reads the inside of a tag.
type hbScanner struct {
	text  string
	pos   int
	depth int
}

// parseCall reads a helper with its arguments.
func parseCall(text string) (*hbCall, error) {
	s := &hbScanner{text: text}
	call, err := s.call()
	if err != nil {
		return nil, err
	}
	if s.blank(); s.pos < len(s.text) {
		return nil, fmt.Errorf("%w: %s is left over", errHandlebars, quoted(s.text[s.pos:]))
	}
	return call, nil
}

func (s *hbScanner) blank() {
	for s.pos < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.pos]) >= 0 {
		s.pos++
	}
}

// call reads up to the end or a closing parenthesis.
func (s *hbScanner) call() (*hbCall, error) {
	c := &hbCall{}
	for first := true; ; first = false {
		s.blank()
		if s.pos >= len(s.text) || s.text[s.pos] == ')' {
			if first {
				return nil, fmt.Errorf("%w: an expression is empty", errHandlebars)
			}
			return c, nil
		}
		name := s.hashName()
		arg, err := s.arg()
		switch {
		case err != nil:
			return nil, err
		case name != "":
			c.hash = append(c.hash, hbPair{name, arg})
		case first:
			c.head = arg
		default:
			c.args = append(c.args, arg)
		}
	}
}

// hashName reads "name=" if that is what comes.
func (s *hbScanner) hashName() string {
	i := s.pos
	for i < len(s.text) && (wordChar(s.text[i]) || s.text[i] == '-') {
		i++
	}
	if i == s.pos || i >= len(s.text) || s.text[i] != '=' {
		return ""
	}
	name := s.text[s.pos:i]
	s.pos = i + 1
	return name
}

func wordChar(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (s *hbScanner) arg() (hbArg, error) {
	if s.pos >= len(s.text) {
		return hbArg{}, fmt.Errorf("%w: an argument is missing", errHandlebars)
	}
	switch c := s.text[s.pos]; c {
	case '"', '\'':
		n := strings.IndexByte(s.text[s.pos+1:], c)
		if n < 0 {
			return hbArg{}, fmt.Errorf("%w: a string is not closed", errHandlebars)
		}
		text := s.text[s.pos+1 : s.pos+1+n]
		s.pos += n + 2
		return hbArg{kind: hbString, text: text}, nil
	case '(':
		return s.sub()
	case '|':
		return hbArg{}, fmt.Errorf("%w: %s is unexpected", errHandlebars, quoted(s.text[s.pos:]))
	}
	return s.word(), nil
}

func (s *hbScanner) sub() (hbArg, error) {
	if s.depth++; s.depth > maxHandlebarsDepth {
		return hbArg{}, fmt.Errorf("%w: more than %d parentheses inside one another", errHandlebars, maxHandlebarsDepth)
	}
	s.pos++
	sub, err := s.call()
	if err != nil {
		return hbArg{}, err
	}
	if s.pos >= len(s.text) {
		return hbArg{}, fmt.Errorf("%w: a parenthesis is not closed", errHandlebars)
	}
	s.pos++
	s.depth--
	return hbArg{kind: hbSub, sub: sub}, nil
}

// word reads a path, a number or a boolean. Brackets quote parts of a path.
func (s *hbScanner) word() hbArg {
	start := s.pos
	s.pos += wordLength(s.text[s.pos:])
	text := s.text[start:s.pos]
	if text == "true" || text == "false" {
		return hbArg{kind: hbBool, text: text}
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil && strings.Trim(text, "-0123456789.") == "" {
		return hbArg{kind: hbNumber, text: text}
	}
	return hbArg{kind: hbPath, text: text}
}

// wordLength is how far a word reaches. Blanks and parentheses end it, but for those in brackets.
func wordLength(text string) int {
	bracket := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '[' || c == ']':
			bracket = c == '['
		case !bracket && strings.IndexByte("() \t\r\n", c) >= 0:
			return i
		}
	}
	return len(text)
}

// pathSegments splits a path such as request.headers.[X-Key].0 or ../name.
func pathSegments(text string) []string {
	var segments []string
	for text != "" {
		switch {
		case strings.HasPrefix(text, "../"):
			segments, text = append(segments, ".."), text[3:]
		case strings.HasPrefix(text, "./"):
			segments, text = append(segments, "this"), text[2:]
		case text[0] == '[':
			name, rest, _ := strings.Cut(text[1:], "]")
			segments, text = append(segments, name), strings.TrimLeft(rest, "./")
		default:
			n := strings.IndexAny(text, "./[")
			if n < 0 {
				return append(segments, text)
			}
			segments = append(segments, text[:n])
			if text[n] != '[' {
				n++
			}
			text = text[n:]
		}
		const most = 50
		if len(segments) > most {
			return segments
		}
	}
	return segments
}
