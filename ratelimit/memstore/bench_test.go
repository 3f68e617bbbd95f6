package memstore_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

func identifiers(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "198.51." + strconv.Itoa(i/250) + "." + strconv.Itoa(i%250)
	}
	return names
}

func benchmarkTake(b *testing.B, keys int, o memstore.Options) {
	b.Helper()
	s := newStore(b, o)
	names := identifiers(keys)
	p := &ratelimit.Policy{Name: "engine", Limit: ratelimit.MaxLimit, Window: time.Minute}
	r := ratelimit.Request{Key: ratelimit.Key{Namespace: "engine"}, Policy: p, Cost: 1}
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

func BenchmarkTake1000Keys(b *testing.B) { benchmarkTake(b, 1000, memstore.Options{}) }

func BenchmarkTake1MKeys(b *testing.B) {
	benchmarkTake(b, 1_000_000, memstore.Options{MaxKeys: 1_100_000, MaxBytes: 1 << 30})
}
