package testkit

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Message is a request or an answer as it came over the wire, for [Message.Check].
type Message struct {
	// First is the request line or status line, Lines are the header lines, both without their ends.
	First string
	Lines []string
	Body  string
}

// Check holds a message against what a case says of it: the first line, or the status alone; then header lines that must
// be there as they stand, "! Name" for a header that must not, "~ regexp" for what some header line must match; then,
// after an empty line, the whole body, whose last newline is not part of it.
func (m *Message) Check(tb testing.TB, want string) {
	tb.Helper()
	head, body, hasBody := strings.Cut(want, "\n\n")
	lines := strings.Split(strings.TrimSuffix(head, "\n"), "\n")
	if m.First != lines[0] && !strings.HasPrefix(m.First, "HTTP/1.1 "+lines[0]+" ") {
		tb.Errorf("the first line is %q, want %q\n%s\n%s", m.First, lines[0], strings.Join(m.Lines, "\n"), m.Body)
	}
	for _, line := range lines[1:] {
		m.checkLine(tb, line)
	}
	if want := strings.TrimSuffix(body, "\n"); hasBody && m.Body != want {
		tb.Errorf("the body is %q, want %q", m.Body, want)
	}
}

func (m *Message) checkLine(tb testing.TB, line string) {
	tb.Helper()
	matches, unwanted := func(have string) bool { return have == line }, false
	if name, ok := strings.CutPrefix(line, "! "); ok {
		unwanted = true
		matches = func(have string) bool {
			has, _, _ := strings.Cut(have, ":")
			return strings.EqualFold(has, name)
		}
	}
	if pattern, ok := strings.CutPrefix(line, "~ "); ok {
		matches = regexp.MustCompile(pattern).MatchString
	}
	if slices.ContainsFunc(m.Lines, matches) == unwanted {
		tb.Errorf("header line %q: unwanted or missing in\n%s", line, strings.Join(m.Lines, "\n"))
	}
}

// HoldsJSON tells the test when got, a JSON text, does not hold at least what want says: objects may have members more,
// everything else is equal.
func HoldsJSON(tb testing.TB, want string, got []byte) {
	tb.Helper()
	at, err := LackingJSON(want, got)
	if err != nil {
		tb.Fatalf("%v in %s", err, got)
	}
	if at == "" {
		return
	}
	var indented bytes.Buffer
	_ = json.Indent(&indented, got, "", " ")
	tb.Errorf("at %s, want %s in\n%s", at, want, indented.Bytes())
}

// LackingJSON returns a JSON pointer, as a fragment, to something that want has and got has not, or "".
func LackingJSON(want string, got []byte) (string, error) {
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		return "", err
	}
	if err := json.Unmarshal(got, &g); err != nil {
		return "", err
	}
	return lacking(w, g, "#"), nil
}

func lacking(want, got any, at string) string {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return lackingMember(w, g, at)
		}
		return at
	case []any:
		if g, ok := got.([]any); ok && len(g) == len(w) {
			return lackingItem(w, g, at)
		}
		return at
	default:
		if cmp.Equal(want, got) {
			return ""
		}
		return at
	}
}

func lackingMember(want, got map[string]any, at string) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		inner := at + "/" + name
		value, ok := got[name]
		if !ok {
			return inner
		}
		if place := lacking(want[name], value, inner); place != "" {
			return place
		}
	}
	return ""
}

func lackingItem(want, got []any, at string) string {
	for i := range want {
		if place := lacking(want[i], got[i], at+"/"+strconv.Itoa(i)); place != "" {
			return place
		}
	}
	return ""
}
