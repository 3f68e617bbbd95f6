package engine

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
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

// commonLines are header lines, and lists of methods, that several mocks have. Mocks share them, so that ten thousand of them
// keep few, and those few stay in the processor's cache.
type commonLines struct {
	json, text []string

	mu      sync.Mutex
	known   map[string][]headerLine
	methods map[string]*statedMethods
	lengths map[int][]string
}

func newCommonLines() *commonLines {
	return &commonLines{
		json: []string{"application/json"}, text: []string{"text/plain; charset=utf-8"}, known: make(map[string][]headerLine),
		methods: make(map[string]*statedMethods), lengths: make(map[int][]string),
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

// methodsOf returns the methods that a mock states; the same for the same names.
func (l *commonLines) methodsOf(names []string) *statedMethods {
	return shared(l, l.methods, strings.Join(names, " "), func() *statedMethods {
		if len(names) == 0 {
			return &statedMethods{}
		}
		return &statedMethods{first: names[0], others: names[1:]}
	})
}

// lengthOf returns the line of Content-Length; the same for the same length.
func (l *commonLines) lengthOf(n int) []string {
	return shared(l, l.lengths, n, func() []string { return []string{strconv.Itoa(n)} })
}

// shared returns what is known under a key, made where nothing is.
func shared[K comparable, V any](l *commonLines, known map[K]V, key K, fresh func() V) V {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, found := known[key]
	if !found {
		if v = fresh(); len(known) < maxKnownLines {
			known[key] = v
		}
	}
	return v
}

// appendCounted appends a text behind its length, so that different lists of texts never look the same.
func appendCounted(to []byte, text string) []byte {
	return append(append(strconv.AppendInt(to, int64(len(text)), 10), ':'), text...)
}
