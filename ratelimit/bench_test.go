package ratelimit_test

import (
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

func BenchmarkLimiterInMemory(b *testing.B) {
	l, err := ratelimit.NewLimiter(ratelimit.Options{Store: newMemory(b)})
	if err != nil {
		b.Fatal(err)
	}
	r := ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: "203.0.113.9"}, Policy: clock(ratelimit.MaxLimit, time.Minute), Cost: 1}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Check(ctx, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	p := clock(ratelimit.MaxLimit, time.Minute)
	now := time.Unix(1_767_225_617, 0)
	state := ratelimit.State{}
	b.ReportAllocs()
	for b.Loop() {
		state, _ = ratelimit.Step(p, state, now, 1)
	}
}
