package bench_test

import (
	"os"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/bench"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestOutsideTests_lends_a_program_what_tests_have(t *testing.T) {
	t.Parallel()
	var dir, addr string
	err := bench.OutsideTests(t.Context(), func(tb testing.TB) {
		tb.Helper()
		dir = tb.TempDir()
		redis := testkit.StartRedis(tb)
		addr = redis.Addr
		if got := redis.Do("PING"); got != "PONG" {
			tb.Errorf("PING = %q", got)
		}
	})
	if err != nil || addr == "" {
		t.Errorf("got %v, address %q", err, addr)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestOutsideTests_returns_what_failed(t *testing.T) {
	t.Parallel()
	var order []string
	err := bench.OutsideTests(t.Context(), func(tb testing.TB) {
		tb.Helper()
		tb.Cleanup(func() { order = append(order, "first") })
		tb.Cleanup(func() { order = append(order, "second") })
		tb.Error("one", 2)
		tb.Fatal("the end")
		tb.Error("it went on")
	})
	if err == nil || err.Error() != "one2\nthe end" {
		t.Errorf("got %v", err)
	}
	if got := strings.Join(order, " "); got != "second first" {
		t.Errorf("cleanups ran as %q", got)
	}
}
