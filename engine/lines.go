package engine

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/mockbase/mockbase"
)

// headerLine is one header of an answer: a key of the header map and its field lines. Without a line it keeps net/http
// from adding a header of this name.
type headerLine struct {
	key   string
	lines []string
}

// maxKnownLines bounds how many different headers are remembered for sharing.
const maxKnownLines = 1024

// commonLines are header lines that several answers have. Answers share them, so that ten thousand mocks keep few of them,
// and those few stay in the processor's cache.
type commonLines struct {
	json, text []string

	mu    sync.Mutex
	known map[string][]headerLine
}

func newCommonLines() *commonLines {
	return &commonLines{
		json: []string{"application/json"}, text: []string{"text/plain; charset=utf-8"}, known: make(map[string][]headerLine),
	}
}

// typeOf is the default type of a body (rule O5).
func (l *commonLines) typeOf(kind mockbase.BodyKind) []string {
	if kind == mockbase.BodyJSON {
		return l.json
	}
	return l.text
}

// linesOf returns a header map as a list, which is faster to copy; the same list for the same header. What is appended to a
// line does not reach other answers.
func (l *commonLines) linesOf(h http.Header) []headerLine {
	keys := slices.Sorted(maps.Keys(h))
	var room [512]byte
	text := room[:0]
	for _, key := range keys {
		text = appendCounted(text, key)
		text = strconv.AppendInt(text, int64(len(h[key])), 10)
		for _, line := range h[key] {
			text = appendCounted(text, line)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, found := l.known[string(text)]; found {
		return known
	}
	lines := make([]headerLine, 0, len(h))
	for _, key := range keys {
		lines = append(lines, headerLine{key: key, lines: slices.Clip(h[key])})
	}
	if len(l.known) < maxKnownLines {
		l.known[string(text)] = lines
	}
	return lines
}

// appendCounted appends a text behind its length, so that different lists of texts never look the same.
func appendCounted(to []byte, text string) []byte {
	return append(append(strconv.AppendInt(to, int64(len(text)), 10), ':'), text...)
}
