package operator

import (
	"io"
	"regexp"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mockbase/mockbase/engine/regex"
	"github.com/mockbase/mockbase/internal/cputime"
)

const (
	// directWork is how many bytes times instructions of a pattern are tested at one go: some seconds at most.
	directWork = 200_000_000
	// longestSearch is how much processor time a test beyond that may take.
	longestSearch = 5 * time.Second
	// measuredRunes is after how many characters times instructions the time is measured.
	measuredRunes = 10_000_000
)

// search tests texts with a pattern. RE2 takes time with the product of text and pattern, and nothing ends it but the end of
// the text; so long ones are handed over in pieces.
type search struct {
	*regexp.Regexp
	// instructions is the length of the pattern's program.
	instructions int
	// prefix is what each match begins with.
	prefix string
}

func newSearch(compiled *regexp.Regexp) *search {
	s := &search{Regexp: compiled, instructions: max(1, regex.Measure(compiled).Instructions())}
	s.prefix, _ = compiled.LiteralPrefix()
	return s
}

func (s *search) match(text string) bool {
	if len(text) <= directWork/s.instructions {
		return s.MatchString(text)
	}
	at := strings.Index(text, s.prefix)
	if at < 0 {
		return false
	}
	// The processor time is that of a thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := &timedReader{text: text[at:], each: max(1, measuredRunes/s.instructions), until: cputime.Thread() + longestSearch}
	r.left = r.each
	found := s.MatchReader(r)
	if r.late && !found {
		panic(errCostly)
	}
	return found
}

// timedReader reads a text until its time is over.
type timedReader struct {
	text       string
	each, left int
	until      time.Duration
	late       bool
}

var _ io.RuneReader = (*timedReader)(nil)

// ReadRune implements [io.RuneReader].
func (r *timedReader) ReadRune() (ch rune, size int, err error) {
	if r.left--; r.left < 0 {
		r.left = r.each
		r.late = cputime.Thread() > r.until
	}
	if r.late || r.text == "" {
		return 0, 0, io.EOF
	}
	ch, size = rune(r.text[0]), 1
	if ch >= utf8.RuneSelf {
		ch, size = utf8.DecodeRuneInString(r.text)
	}
	r.text = r.text[size:]
	return ch, size, nil
}
