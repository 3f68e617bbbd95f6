package memstore_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

func identifiers(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "198.51." + strconv.Itoa(i/250) + "." + strconv.Itoa(i%250)
	}
	return names
}

func benchmarkTake(b *testing.B, keys int, o memstore.Options, p *ratelimit.Policy) {
	b.Helper()
	s := newStore(b, o)
	names := identifiers(keys)
	r := ratelimit.Request{Key: ratelimit.Key{Namespace: "engine"}, Policy: p, Cost: 1, Lease: "lease"}
	for _, name := range names {
		r.Key.Identifier = name
		if _, err := s.Take(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	ctx := b.Context()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Key.Identifier = names[i%keys]
		if _, err := s.Take(ctx, r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mchecks/s")
}

func unlimited() *ratelimit.Policy { return policy(ratelimit.MaxLimit, time.Minute) }

func BenchmarkTake1000Keys(b *testing.B) {
	benchmarkTake(b, 1000, memstore.Options{}, unlimited())
}

func BenchmarkTake1MKeys(b *testing.B) {
	benchmarkTake(b, 1_000_000, memstore.Options{MaxKeys: 1_100_000, MaxBytes: 1 << 30}, unlimited())
}

// BenchmarkAlgorithms checks 1,000 keys that are allowed now and then and denied most of the time. A lease is taken
// again and again.
func BenchmarkAlgorithms(b *testing.B) {
	for _, algorithm := range storetest.Algorithms() {
		b.Run(string(algorithm), func(b *testing.B) {
			benchmarkTake(b, 1000, memstore.Options{}, of(algorithm, 120, time.Minute))
		})
	}
}

// BenchmarkAdmissions checks 1,000 keys that are always allowed, with a log that turns over.
func BenchmarkAdmissions(b *testing.B) {
	for _, algorithm := range storetest.Algorithms() {
		b.Run(string(algorithm), func(b *testing.B) {
			benchmarkTake(b, 1000, memstore.Options{}, of(algorithm, 1000, time.Millisecond))
		})
	}
}

func BenchmarkTakeAllOfThree(b *testing.B) {
	s := newStore(b, memstore.Options{})
	requests := []ratelimit.Request{
		{Key: client("second"), Policy: of(ratelimit.GCRA, 1_000_000, time.Second), Cost: 1},
		{Key: client("minute"), Policy: policy(1_000_000_000, time.Minute), Cost: 1},
		{Key: client("hour"), Policy: of(ratelimit.SlidingWindow, 1_000_000_000, time.Hour), Cost: 1},
	}
	decisions := make([]ratelimit.Decision, len(requests))
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if err := s.TakeAll(ctx, requests, decisions); err != nil {
			b.Fatal(err)
		}
	}
}
