package bench_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mockbase/mockbase/bench"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestChecks_callers_ask_until_the_time_is_over(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	checks := bench.Checks{Callers: 3, Check: func(_ context.Context, identifier string) error {
		if !strings.HasPrefix(identifier, "203.0.113.") {
			t.Errorf("identifier is %q", identifier)
		}
		asked.Add(1)
		return nil
	}}
	out, err := checks.Run(t.Context(), 20*time.Millisecond)
	if err != nil || out.Requests == 0 || out.Requests != asked.Load() || out.Took < 20*time.Millisecond {
		t.Errorf("%+v, %v, asked %d", out, err, asked.Load())
	}
	wrong := errors.New("wrong")
	checks.Check = func(context.Context, string) error { return wrong }
	if _, err := checks.Run(t.Context(), time.Minute); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}

func TestRedisChecks_both_ways_count_each_check_once(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	store, naive, err := bench.RedisChecks(t, redis, redis.Addr, 8)
	if err != nil {
		t.Fatal(err)
	}
	for namespace, c := range map[string]bench.Contender{"store": store, "naive": naive} {
		out, err := c.Checks.Run(t.Context(), 50*time.Millisecond)
		if err != nil || out.Median <= 0 {
			t.Fatalf("%s: %+v, %v", c.Name, out, err)
		}
		var counted int64
		for key := range strings.Lines(redis.Do("KEYS", "ratelimit:"+namespace+":*")) {
			n, err := strconv.ParseInt(redis.Do("GET", strings.TrimSpace(key)), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			counted += n
		}
		if counted != out.Requests {
			t.Errorf("%s: Redis counted %d of %d checks", c.Name, counted, out.Requests)
		}
		if used, err := c.CPU(); err != nil || used <= 0 {
			t.Errorf("%s: used %v, %v", c.Name, used, err)
		}
	}
}

func TestLocalDenial_asks_nobody(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	if took, err := bench.LocalDenial(t.Context(), redis, 1000); err != nil || took <= 0 {
		t.Errorf("%v, %v", took, err)
	}
}
