package testkit_test

import (
	"fmt"
	"testing"

	"github.com/mockbase/mockbase/internal/testkit"
)

// complaints is a test that only counts what it is told.
type complaints struct {
	testing.TB

	told []string
}

func (*complaints) Helper() {}

func (c *complaints) Errorf(format string, args ...any) {
	c.told = append(c.told, fmt.Sprintf(format, args...))
}

func TestMessage_is_held_against_what_a_case_says(t *testing.T) {
	t.Parallel()
	m := &testkit.Message{First: "HTTP/1.1 200 OK", Lines: []string{"Content-Type: text/plain", "X-A: 17"}, Body: "a\n\nb"}
	for want, wrong := range map[string]int{
		"200\n":                                0,
		"HTTP/1.1 200 OK\nX-A: 17\n\na\n\nb\n": 0,
		"200\n! X-B\n~ X-A: \\d+\n":            0,
		"201\n":                                1,
		"200\n! x-a\n":                         1,
		"200\nX-A: 18\n~ ^B":                   2,
		"200\n\na\n":                           1,
		"20\n":                                 1,
	} {
		c := &complaints{TB: t}
		if m.Check(c, want); len(c.told) != wrong {
			t.Errorf("%q: %q", want, c.told)
		}
	}
}

func TestLackingJSON_names_the_first_place(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ want, got, at string }{
		{`{"a":[{"b":1}]}`, `{"a":[{"b":1,"c":2}],"d":3}`, ""},
		{`{"a":[{"b":1}]}`, `{"a":[{"b":2}]}`, "#/a/0/b"},
		{`{"a":[]}`, `{"a":[1]}`, "#/a"},
		{`{"a":null}`, `{}`, "#/a"},
		{`{"a":{}}`, `{"a":1}`, "#/a"},
	} {
		if at, err := testkit.LackingJSON(c.want, []byte(c.got)); err != nil || at != c.at {
			t.Errorf("%s in %s: %q, %v, want %q", c.want, c.got, at, err, c.at)
		}
	}
	for _, c := range [][2]string{{`{`, `{}`}, {`{}`, `x`}} {
		if _, err := testkit.LackingJSON(c[0], []byte(c[1])); err == nil {
			t.Errorf("%q is read", c)
		}
	}
	c := &complaints{TB: t}
	if testkit.HoldsJSON(c, `{"a":1}`, []byte(`{}`)); len(c.told) != 1 {
		t.Errorf("told %q", c.told)
	}
}
