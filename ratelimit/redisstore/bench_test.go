package redisstore_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// BenchmarkTake measures a check with keys of their own for each caller; "pipeline" is the same transaction without a
// store around it.
func BenchmarkTake(b *testing.B) {
	config := redisstore.Config{Addrs: []string{testkit.StartRedis(b).Addr}, Budget: 2 * time.Second}
	store := open(b, redisstore.Options{Config: config})
	client, err := redisstore.Dial(config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	limit := policy()
	ways := []struct {
		name  string
		check func(ctx context.Context, identifier string) error
	}{
		{"store", func(ctx context.Context, identifier string) error {
			key := ratelimit.Key{Namespace: "engine", Identifier: identifier}
			_, err := store.Take(ctx, ratelimit.Request{Key: key, Policy: limit, Cost: 1})
			return err
		}},
		{"pipeline", func(ctx context.Context, identifier string) error {
			key := "ratelimit:engine:" + identifier + ":0"
			_, err := client.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Incr(ctx, key)
				p.Expire(ctx, key, time.Hour)
				return nil
			})
			return err
		}},
	}
	for _, parallel := range []int{1, 64, 256} {
		for _, way := range ways {
			b.Run(way.name+"/"+strconv.Itoa(parallel), func(b *testing.B) { measure(b, parallel, way.check) })
		}
	}
}

func measure(b *testing.B, parallel int, check func(ctx context.Context, identifier string) error) {
	b.Helper()
	b.ReportAllocs()
	if parallel == 1 {
		for b.Loop() {
			if err := check(b.Context(), "203.0.113.1"); err != nil {
				b.Fatal(err)
			}
		}
		return
	}
	var next atomic.Int64
	b.SetParallelism(parallel / 2)
	b.RunParallel(func(pb *testing.PB) {
		identifier := "203.0.113." + strconv.FormatInt(next.Add(1), 10)
		for pb.Next() {
			if err := check(b.Context(), identifier); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkOpenBreaker measures what an outage adds to a request once the breaker is open.
func BenchmarkOpenBreaker(b *testing.B) {
	server := testkit.StartRedis(b)
	server.Kill()
	store := open(b, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}}})
	request := ratelimit.Request{Key: shared, Policy: policy(), Cost: 1}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := store.Take(b.Context(), request); err == nil {
			b.Fatal("decided without Redis")
		}
	}
}
