package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mockbase/mockbase/bench"
	"github.com/mockbase/mockbase/internal/testkit"
)

// measure is a group of figures that are taken together.
type measure struct {
	name, title string
	take        func(ctx context.Context, s settings, t *table) error
}

func measures() []measure {
	return []measure{
		{"static", "One static mock, shield off, against a bare handler that writes the same bytes", static},
		{"templated", "One templated answer with a path parameter, against a bare handler that writes the same bytes", templated},
		{"many", "Many mocks, called in turn, journal on", many},
		{"answers", "Answers of other kinds, journal on, against the least that a bare handler does for the same", answers},
		{"miss", "A request that none of 10,000 mocks answers, explained", miss},
		{"crowds", "Requests that wait, and streams that stay open", crowds},
		{"documents", "OpenAPI documents, loaded and compiled by a fresh process", documents},
		{"manage", "The management API of the real binary, on SQLite", manage},
		{"shield", "The shield with its counters in memory", shield},
		{"redis", "The shield with its counters in Redis", redisShield},
		{"checks", "Checks in Redis, without a server, against one transaction a check", redisChecks},
		{"peers", "Other limiters for Go, on both stores", peers},
		{"binary", "The real binary with 1,000 mocks in SQLite, shield off", realBinary},
		{"memory", "Memory with the journal on", memory},
		{"outages", "Redis goes away and comes back", outages},
	}
}

func names() []string {
	var all []string
	for _, m := range measures() {
		all = append(all, m.name)
	}
	return all
}

// contest starts the servers of a comparison, the floor included where one is asked for, and lets them take turns. The
// floor's score is the last one.
func contest(
	ctx context.Context, s settings, specs []bench.Spec, labels []string, does ...func(*bench.Floor),
) ([]bench.Score, error) {
	group := &servers{settings: s}
	defer group.end()
	var contenders []bench.Contender
	for i, spec := range specs {
		c, err := group.start(ctx, labels[i], spec)
		if err != nil {
			return nil, err
		}
		contenders = append(contenders, c)
	}
	floor, err := group.startFloor(ctx, contenders[0], does...)
	if err != nil {
		return nil, err
	}
	return bench.Compare(ctx, s.rounds, append(contenders, floor)...)
}

func static(ctx context.Context, s settings, t *table) error {
	scores, err := contest(ctx, s, []bench.Spec{{Mocks: 1, Journal: true}, {Mocks: 1}}, []string{"journal-on", "journal-off"})
	if err != nil {
		return err
	}
	on, off, floor := scores[0], scores[1], scores[2]
	t.throughputs(scores)
	t.ratio("journal on", on, floor, 0.80)
	t.ratio("journal off", off, floor, 0.92)
	t.ratio("journal on against off", on, off, 0.88)
	return nil
}

func templated(ctx context.Context, s settings, t *table) error {
	specs := []bench.Spec{{Mocks: 1, Scene: bench.SceneTemplated, Journal: true}, {Mocks: 1, Scene: bench.SceneTemplated}}
	scores, err := contest(ctx, s, specs, []string{"journal-on", "journal-off"})
	if err != nil {
		return err
	}
	on, off, floor := scores[0], scores[1], scores[2]
	t.throughputs(scores)
	t.ratio("journal on", on, floor, 0.70)
	t.ratio("journal off", off, floor, 0.70)
	return nil
}

func many(ctx context.Context, s settings, t *table) error {
	scores, err := contest(ctx, s, []bench.Spec{{Mocks: 1000, Journal: true}}, []string{"1000-mocks"})
	if err != nil {
		return err
	}
	t.throughputs(scores)
	t.ratio("1,000 mocks against the bare handler", scores[0], scores[1], 0.80)
	for _, kind := range []struct {
		scene bench.Scene
		name  string
	}{{bench.SceneStatic, "static paths"}, {bench.SceneParameters, "with parameters"}} {
		specs := []bench.Spec{
			{Mocks: 1, Scene: kind.scene, Journal: true},
			{Mocks: 10_000, Scene: kind.scene, Journal: true},
			{Mocks: 100_000, Scene: kind.scene, Journal: true},
		}
		scores, err := contest(ctx, s, specs, []string{"1-mock", "10000-mocks", "100000-mocks"})
		if err != nil {
			return err
		}
		t.throughputs(scores)
		t.ratio("10,000 mocks against one, "+kind.name, scores[1], scores[0], 0.95)
		t.ratio("100,000 mocks against one, "+kind.name, scores[2], scores[0], 0.95)
	}
	return control(ctx, s, t)
}

// control asks a server that has no mocks at all for different things, and for one: what that costs is not the mocks' cost.
func control(ctx context.Context, s settings, t *table) error {
	group := &servers{settings: s}
	defer group.end()
	subject, err := group.start(ctx, "control", bench.Spec{Mocks: 1})
	if err != nil {
		return err
	}
	one, err := group.startFloor(ctx, subject)
	if err != nil {
		return err
	}
	different := one
	different.Load.Numbered.Count = 10_000
	scores, err := bench.Compare(ctx, s.rounds, different, one)
	if err != nil {
		return err
	}
	r := bench.RatioOf(scores[0], scores[1])
	t.note("bare handler, 10,000 requests against one", fmt.Sprintf("best %.3f  median %.3f", r.Best, r.Median))
	return nil
}

func shield(ctx context.Context, s settings, t *table) error {
	specs := []bench.Spec{{Mocks: 1, Journal: true}, {Mocks: 1, Journal: true, Shield: bench.ShieldInMemory}}
	scores, err := contest(ctx, s, specs, []string{"no-shield", "memory-shield"})
	if err != nil {
		return err
	}
	t.throughputs(scores)
	t.ratio("with it against without", scores[1], scores[0], 0.95)
	return nil
}

// redisShield asks with more connections than the other measures: what checks share shows when many meet.
func redisShield(ctx context.Context, s settings, t *table) error {
	s.clients *= 4
	var failed error
	err := bench.OutsideTests(ctx, func(tb testing.TB) {
		tb.Helper()
		failed = behindRedis(ctx, s, t, testkit.StartRedis(tb))
	})
	if err != nil {
		return err
	}
	return failed
}

func behindRedis(ctx context.Context, s settings, t *table, redis *testkit.Redis) error {
	specs := []bench.Spec{{Mocks: 1, Journal: true}, {Mocks: 1, Journal: true, Shield: redis.URL()}}
	scores, err := contest(ctx, s, specs, []string{"no-shield", "redis-shield"})
	if err != nil {
		return err
	}
	t.throughputs(scores)
	t.ratio("with it against without", scores[1], scores[0], 0.65)
	return roundTrips(ctx, s, t, redis)
}

// roundTrips asks Redis what a number of requests cost it, once one after the other and once at the same time.
func roundTrips(ctx context.Context, s settings, t *table, redis *testkit.Redis) error {
	group := &servers{settings: s}
	defer group.end()
	c, err := group.start(ctx, "round-trips", bench.Spec{Mocks: 1, Shield: redis.URL()})
	if err != nil {
		return err
	}
	for _, clients := range []int{1, s.clients} {
		c.Load.Clients, c.Load.Count = clients, 5000
		cost, err := bench.RedisCost(ctx, redis, c.Load)
		if err != nil {
			return err
		}
		t.note(fmt.Sprintf("commands of 5,000 requests by %d clients", clients), cost.Commands)
		t.atMost(fmt.Sprintf("round trips a check, %d clients", clients), cost.RoundTrips, 1.01)
		t.equal(fmt.Sprintf("counted in Redis, %d clients", clients), cost.Counted, 5000)
	}
	return nil
}

func realBinary(ctx context.Context, s settings, t *table) error {
	dir, end, err := temporary()
	if err != nil {
		return err
	}
	defer end()
	binary, err := bench.Build(ctx, dir)
	if err != nil {
		return err
	}
	if err := binary.Fill(ctx, 1000); err != nil {
		return err
	}
	report, err := binary.Starts(ctx, s.rounds.Number)
	if err != nil {
		return err
	}
	t.within(fmt.Sprintf("first answer, best of %d starts", s.rounds.Number), report.Best, 100*time.Millisecond)
	t.note("first answer, median", report.Median.Round(time.Microsecond).String())
	t.megabytes("resident memory when idle", report.Memory, 40)
	return wholeProduct(ctx, s, t, binary)
}

// temporary makes a folder that end removes.
func temporary() (dir string, end func(), err error) {
	if dir, err = os.MkdirTemp("", "mockbase-bench-"); err != nil {
		return "", nil, fmt.Errorf("make a folder: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// wholeProduct compares the binary, with everything that a server does beside answering, with the floor.
func wholeProduct(ctx context.Context, s settings, t *table, binary *bench.Binary) error {
	subject, end, err := binary.Serve(ctx, "mockbase-serve", s.clients)
	if err != nil {
		return err
	}
	defer end()
	group := &servers{settings: s}
	defer group.end()
	floor, err := group.startFloor(ctx, subject)
	if err != nil {
		return err
	}
	scores, err := bench.Compare(ctx, s.rounds, subject, floor)
	if err != nil {
		return err
	}
	t.throughputs(scores)
	t.ratio("one mock against the bare handler", scores[0], scores[1], 0.80)
	return nil
}

func memory(ctx context.Context, s settings, t *table) error {
	group := &servers{settings: s}
	defer group.end()
	c, err := group.start(ctx, "memory", bench.Spec{Mocks: 1, Journal: true})
	if err != nil {
		return err
	}
	warm := max(s.requests/5, 30_000)
	var held [2]int64
	for i, count := range []int64{warm, s.requests - warm} {
		c.Load.Count = max(count, 1)
		if _, err := c.Load.Run(ctx); err != nil {
			return err
		}
		if held[i], err = group.all[0].Memory(); err != nil {
			return err
		}
	}
	t.note(fmt.Sprintf("after %d requests", warm), fmt.Sprintf("%.1f MB", float64(held[0])/(1<<20)))
	t.note(fmt.Sprintf("after %d requests", s.requests), fmt.Sprintf("%.1f MB", float64(held[1])/(1<<20)))
	t.atMost("the end against the warm server", float64(held[1])/float64(held[0]), 1.10)
	return nil
}

func outages(ctx context.Context, s settings, t *table) error {
	for _, o := range bench.Outages() {
		var runs []bench.OutageReport
		err := bench.OutsideTests(ctx, func(tb testing.TB) {
			tb.Helper()
			for range s.outages {
				runs = append(runs, o.Run(tb, s.away))
			}
		})
		if err != nil {
			return fmt.Errorf("outage in which Redis %s: %w", o.Name, err)
		}
		t.outage(o.Name, runs)
	}
	return nil
}
