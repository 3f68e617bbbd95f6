package mockbase

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// TextPlace is a place inside a text value: line and column count from 1, columns in characters. The zero value is the text
// as a whole.
type TextPlace struct{ Line, Column int }

// offset is the place as an index into the text, -1 if it is not there.
func (p TextPlace) offset(text string) int {
	from := 0
	for range p.Line - 1 {
		next := strings.IndexByte(text[from:], '\n')
		if next < 0 {
			return -1
		}
		from += next + 1
	}
	for range p.Column - 1 {
		if from >= len(text) {
			return -1
		}
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
	return from
}

// placeWithin finds where in a source a place inside the value of n stands, as far as the value is written there as it is:
// not where variables were replaced or lines were joined in ways that cannot be told.
func placeWithin(src []byte, f Format, n *Node, within TextPlace) (line, column int, ok bool) {
	target := within.offset(n.Text)
	lines := strings.Split(strings.TrimPrefix(string(src), "\ufeff"), "\n")
	if n.Kind != NodeText || target < 0 || n.Line < 1 || n.Line > len(lines) {
		return 0, 0, false
	}
	start := indexOfColumn(lines[n.Line-1], n.Column)
	if start < 0 || start >= len(lines[n.Line-1]) {
		return 0, 0, false
	}
	first := lines[n.Line-1][start:]
	if f == FormatYAML && (first[0] == '|' || first[0] == '>') {
		return withinLines(lines, n.Line, n.Text, target)
	}
	count, ok := withinLine(first, f, n.Text, target)
	return n.Line, n.Column + count, ok
}

// withinLine counts the characters from the beginning of a value to where it has come to target, in its first line.
func withinLine(first string, f Format, text string, target int) (count int, ok bool) {
	switch {
	case first[0] == '"', first[0] == '\'' && f == FormatYAML:
		return withinQuotes(first, first[0], target)
	case f == FormatYAML && target <= len(first) && strings.HasPrefix(text, first[:target]):
		return utf8.RuneCountInString(first[:target]), true
	}
	return 0, false
}

// indexOfColumn is the index of the character in a column of a line, -1 if the line is shorter.
func indexOfColumn(line string, column int) int {
	index := 0
	for range column - 1 {
		if index >= len(line) {
			return -1
		}
		_, size := utf8.DecodeRuneInString(line[index:])
		index += size
	}
	return index
}

// withinQuotes counts the characters from an opening quote to where the value has come to target.
func withinQuotes(source string, quote byte, target int) (count int, ok bool) {
	i, decoded := 1, 0
	for decoded < target {
		if i >= len(source) {
			return 0, false
		}
		size, value := quotedChar(source[i:], quote)
		if size == 0 {
			return 0, false
		}
		if i += size; i > len(source) {
			return 0, false
		}
		decoded += value
	}
	return utf8.RuneCountInString(source[:i]), decoded == target
}

// quotedChar is the length of a character inside quotes, and of what it stands for; 0 is the end.
func quotedChar(source string, quote byte) (size, value int) {
	switch {
	case quote == '\'' && strings.HasPrefix(source, "''"):
		return len("''"), 1
	case source[0] == quote, source[0] == '\r':
		return 0, 0
	case source[0] == '\\' && quote == '"':
		return escapedChar(source)
	}
	_, size = utf8.DecodeRuneInString(source)
	return size, size
}

// escapedChar is [quotedChar] behind a backslash.
func escapedChar(source string) (size, value int) {
	const short = len(`\n`)
	if len(source) < short {
		return 0, 0
	}
	end := short + map[byte]int{'x': 2, 'u': 4, 'U': 8}[source[1]]
	if end == short {
		return short, 1
	}
	if len(source) < end {
		return 0, 0
	}
	code, err := strconv.ParseUint(source[short:end], 16, 32)
	if err != nil {
		return 0, 0
	}
	if code >= 0xd800 && code < 0xdc00 && strings.HasPrefix(source[end:], `\u`) {
		return 2 * end, utf8.UTFMax // one character in two halves
	}
	return end, max(utf8.RuneLen(rune(code)), 1) //nolint:gosec // it has at most eight digits
}

// withinLines finds a place in the lines of a block, which follow the line of its beginning. Each line must be found in the
// text again.
func withinLines(lines []string, header int, text string, target int) (line, column int, ok bool) {
	indent, done := -1, 0
	for i := header; i < len(lines) && done <= target && done <= len(text); i++ {
		content := strings.TrimRight(lines[i], "\r")
		if indent < 0 && strings.TrimLeft(content, " ") != "" {
			indent = len(content) - len(strings.TrimLeft(content, " "))
		}
		content = content[min(max(indent, 0), len(content)):]
		if !strings.HasPrefix(text[done:], content) {
			return 0, 0, false
		}
		if target <= done+len(content) {
			return i + 1, 1 + max(indent, 0) + utf8.RuneCountInString(text[done:target]), true
		}
		done += len(content) + 1 // the line break, or the blank that it became
		if content != "" && foldedBreak(lines[i+1:], text, done) {
			i++
		}
	}
	return 0, 0, false
}

// foldedBreak tells whether the empty line that follows is the one line break that is in the text.
func foldedBreak(next []string, text string, done int) bool {
	return done <= len(text) && text[done-1] == '\n' && len(next) > 0 && strings.Trim(next[0], " \r") == "" && !strings.HasPrefix(text[done:], "\n")
}
