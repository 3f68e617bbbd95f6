package engine_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine"
)

func FuzzPreferences(f *testing.F) {
	for _, seed := range []string{
		"code=503", `example="a b", seed=x;p="y,z"`, "wait=0.5,,", `"`, `a="\`, "code", "=", "example=\"a\\\"b\"", "WAIT=1, wait=2", ";,;", "seed=\"\\",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		applied, ok := engine.ReadPreferences(line)
		if !ok || applied == "" {
			return
		}
		// What is applied reads as what was asked for.
		again, ok := engine.ReadPreferences(applied)
		if !ok || again != applied {
			t.Errorf("%q is applied as %q, which is applied as %q (%t)", line, applied, again, ok)
		}
	})
}

func TestAA24_parameters_of_a_preference_are_preferences(t *testing.T) {
	t.Parallel()
	const want = "code=404, example=two"
	for _, line := range []string{"code=404; example=two", "code=404, example=two", `code=404;x="a;b,c" ;example=two`} {
		if got, ok := engine.ReadPreferences(line); !ok || got != want {
			t.Errorf("%s: got %q (%t), want %q", line, got, ok, want)
		}
	}
}

func FuzzSessionInPath(f *testing.F) {
	for _, seed := range []string{"/", "/~a", "/~a/", "/~a/b", "/~", "/~/", "//~a", "/%7Ea/b", "/~a//b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if !strings.HasPrefix(path, "/") {
			return
		}
		name, rest, named := engine.CutSession(path)
		switch {
		case !named && (rest != path || strings.HasPrefix(path, "/~")):
			t.Errorf("%q has no session and the path %q", path, rest)
		case named && ("/~"+name+rest != path && "/~"+name != path || !strings.HasPrefix(rest, "/") || strings.Contains(name, "/")):
			t.Errorf("%q has the session %q and the path %q", path, name, rest)
		}
	})
}
