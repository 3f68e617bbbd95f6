package redisstore_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

var (
	errGone   = errors.New("gone")
	breakerT0 = time.Unix(1_700_000_000, 0)
)

// story is a sequence of outcomes: each letter is one check, "." succeeds, "x" fails, "_" lets a tenth of a second pass.
func story(t *testing.T, text string) (opened bool) {
	t.Helper()
	var b redisstore.Breaker
	now := breakerT0
	for _, outcome := range text {
		epoch, ok := b.Admit()
		if !ok {
			t.Fatalf("%q: the breaker was open before the end", text)
		}
		switch outcome {
		case '.':
			b.Succeed(epoch, now)
		case 'x':
			opened = b.Fail(epoch, now, errGone)
		default:
			now = now.Add(100 * time.Millisecond)
		}
	}
	if _, ok := b.Admit(); ok == opened {
		t.Errorf("%q: opened %t, and admits %t", text, opened, ok)
	}
	return opened
}

func TestRL51_breaker_opens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, story string
		opens       bool
	}{
		{"after five failures in a row", "xxxxx", true},
		{"not after four", "xxxx", false},
		{"not when a success comes between", "xxxx.xxxx", false},
		{"after five in a row, however slowly they came", "x___________x___________x___________x___________x", true},
		{"when half of twenty within a second failed", ".x.x.x.x.x.x.x.x.x.x", true},
		{"not when half of nineteen failed", "x.x.x.x.x.x.x.x.x.x", false},
		{"not when fewer than half of many failed", "..x..x..x..x..x..x..x..x..x..x", false},
		{"when more than half of many failed, from the twentieth on", "x.x.x.x.x.x.x.x.x..x", true},
		{"not when the failures are older than a second", ".x.x.x.x.x.x.x.x.x__________.x", false},
		{"when the failures are just within a second", ".x.x.x.x.x.x.x.x.x_________.x", true},
	} {
		if got := story(t, c.story); got != c.opens {
			t.Errorf("%s: %q opened %t", c.name, c.story, got)
		}
	}
}

func TestRL51_open_breaker_refuses_until_it_is_closed(t *testing.T) {
	t.Parallel()
	var b redisstore.Breaker
	before, _ := b.Admit()
	for range 5 {
		b.Fail(before, breakerT0, errGone)
	}
	if _, ok := b.Admit(); ok {
		t.Fatal("an open breaker admits")
	}
	failed, ok := errors.AsType[*redisstore.Error](b.Refusal())
	if !ok || failed.Class() != redisstore.ClassBreaker || !errors.Is(failed, ratelimit.ErrUnavailable) || !errors.Is(failed, errGone) {
		t.Errorf("refusal = %v, want it as %s, with its cause", b.Refusal(), redisstore.ClassBreaker)
	}
	b.Close(breakerT0)
	after, ok := b.Admit()
	if !ok || after == before {
		t.Fatalf("after closing: epoch %d, admits %t", after, ok)
	}
	// Checks that were on their way through the outage say nothing about the server that came back.
	for range 50 {
		if b.Fail(before, breakerT0, errGone) {
			t.Fatal("an outcome of before the outage opened the breaker")
		}
	}
	for range 4 {
		b.Fail(after, breakerT0, errGone)
	}
	b.Succeed(before, breakerT0)
	if !b.Fail(after, breakerT0, errGone) {
		t.Error("a success of before the outage ended a row of failures")
	}
}

func TestRL51_one_of_many_callers_opens_the_breaker(t *testing.T) {
	t.Parallel()
	var b redisstore.Breaker
	epoch, _ := b.Admit()
	var mu sync.Mutex
	opened := 0
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			if b.Fail(epoch, breakerT0, errGone) {
				mu.Lock()
				defer mu.Unlock()
				opened++
			}
		})
	}
	group.Wait()
	if opened != 1 {
		t.Errorf("%d callers opened the breaker, want one", opened)
	}
}
