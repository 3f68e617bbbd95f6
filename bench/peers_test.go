package bench_test

import (
	"testing"
	"time"

	"github.com/mockbase/mockbase/bench"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestRL135_every_limiter_in_memory_answers(t *testing.T) {
	t.Parallel()
	peers, err := bench.MemoryPeers(t)
	if err != nil {
		t.Fatal(err)
	}
	costs, err := bench.MemoryCosts(t.Context(), peers, 2, 2000)
	if err != nil || len(costs) != 4 {
		t.Fatalf("%+v, %v", costs, err)
	}
	for i, c := range costs {
		if c.Name != peers[i].Name || c.Nanoseconds <= 0 || c.Allocs < 0 {
			t.Errorf("%+v", c)
		}
	}
}

func TestRL135_every_limiter_in_Redis_writes_there(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	peers, err := bench.RedisPeers(t, redis)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range bench.Contend(peers, redis, 2) {
		redis.Do("FLUSHALL")
		out, err := c.Checks.Run(t.Context(), 20*time.Millisecond)
		if err != nil || out.Requests == 0 {
			t.Errorf("%s: %+v, %v", c.Name, out, err)
		}
		for _, caller := range []string{"203.0.113.0", "203.0.113.1"} {
			if keys := redis.Do("EVAL", "return #redis.call('keys', ARGV[1])", "0", "*"+caller+"*"); keys == "0" {
				t.Errorf("%s: no key of caller %s", c.Name, caller)
			}
		}
	}
}

func TestOpenBreaker_measures_checks_that_reach_nobody(t *testing.T) {
	t.Parallel()
	if p99, err := bench.OpenBreaker(t, 1000); err != nil || p99 <= 0 {
		t.Errorf("%v, %v", p99, err)
	}
}
