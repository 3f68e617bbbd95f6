package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mockbase/mockbase/bench"
)

// answers compares answers of other kinds than a small static one.
func answers(ctx context.Context, s settings, t *table) error {
	for _, kind := range []struct {
		name   string
		spec   bench.Spec
		target float64
		does   func(*bench.Floor)
	}{
		{"2 KB static body", bench.Spec{Scene: bench.SceneLarge}, 0.80, func(*bench.Floor) {}},
		{"2 KB JSON body, two mocks compare it", bench.Spec{Scene: bench.SceneBody}, 0.75, func(f *bench.Floor) { f.Reads = true }},
		{"answer of an OpenAPI document", bench.Spec{Scene: bench.SceneDocument, Operations: 500}, 0.40, func(*bench.Floor) {}},
	} {
		kind.spec.Mocks, kind.spec.Journal = 1, true
		scores, err := contest(ctx, s, []bench.Spec{kind.spec}, []string{"mockbase"}, kind.does)
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		t.throughputs(scores)
		t.ratio(kind.name, scores[0], scores[1], kind.target)
	}
	return proxied(ctx, s, t)
}

// proxied compares two proxies before one upstream.
func proxied(ctx context.Context, s settings, t *table) error {
	group := &servers{settings: s}
	defer group.end()
	upstream, err := group.start(ctx, "upstream", bench.Spec{Mocks: 1})
	if err != nil {
		return err
	}
	if upstream, err = group.startFloor(ctx, upstream); err != nil {
		return err
	}
	ours, err := group.start(ctx, "mockbase", bench.Spec{Scene: bench.SceneProxy, Mocks: 1, Journal: true, Upstream: upstream.Load.Addr})
	if err != nil {
		return err
	}
	theirs, err := group.start(ctx, "httputil.ReverseProxy", bench.Spec{Floor: &bench.Floor{Upstream: upstream.Load.Addr}, Mocks: 1})
	if err != nil {
		return err
	}
	scores, err := bench.Compare(ctx, s.rounds, ours, theirs)
	if err != nil {
		return err
	}
	t.throughputs(scores)
	t.ratio("proxy against httputil.ReverseProxy", scores[0], scores[1], 0.70)
	return nil
}

// miss asks for a path that is like those of 10,000 mocks and none of them.
func miss(ctx context.Context, s settings, t *table) error {
	group := &servers{settings: s}
	defer group.end()
	c, err := group.start(ctx, "miss", bench.Spec{Mocks: 10_000, Journal: true})
	if err != nil {
		return err
	}
	c.Load.Requests = [][]byte{[]byte("GET /m/bench/v1/things-00000/detail HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n")}
	c.Load.Clients, c.Load.Count = 1, 50
	best := time.Hour
	for range s.rounds.Number {
		out, err := c.Load.Run(ctx)
		if err != nil {
			return err
		}
		best = min(best, out.Took/time.Duration(max(out.Requests, 1)))
	}
	t.within("one answer, the best mean of 50", best, 5*time.Millisecond)
	return nil
}

// crowds measures what a server holds for requests that stay.
func crowds(ctx context.Context, s settings, t *table) error {
	for _, kind := range []struct {
		name   string
		spec   bench.Spec
		size   int
		target float64
	}{
		{"bare handler that sleeps", bench.Spec{Floor: &bench.Floor{Waits: time.Second, Body: []byte("slept")}}, s.crowd, 0},
		{"requests that wait for a second", bench.Spec{Scene: bench.SceneSlow, Mocks: 1, Journal: true}, s.crowd, 200},
		{"open streams of events", bench.Spec{Scene: bench.SceneEvents, Mocks: 1, Journal: true}, s.crowd / 2, 300},
	} {
		peak, err := crowd(ctx, s, kind.spec, kind.size)
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		name := fmt.Sprintf("%d %s, at most", kind.size, kind.name)
		if kind.target == 0 {
			t.note(name, fmt.Sprintf("%.1f MB", float64(peak)/(1<<20)))
			continue
		}
		t.megabytes(name, peak, kind.target)
	}
	return nil
}

func crowd(ctx context.Context, s settings, spec bench.Spec, size int) (int64, error) {
	group := &servers{settings: s}
	defer group.end()
	c, err := group.start(ctx, "crowd", spec)
	if err != nil {
		return 0, err
	}
	all, err := bench.Gather(ctx, c.Load.Addr, size)
	if err != nil {
		return 0, fmt.Errorf("gather: %w", err)
	}
	defer all.End()
	if err := all.Ask(c.Load.Requests[0], time.Minute); err != nil {
		return 0, fmt.Errorf("ask: %w", err)
	}
	return group.all[0].Peak() //nolint:wrapcheck // it says what was read
}

// documents starts processes that do nothing but load a document.
func documents(ctx context.Context, s settings, t *table) error {
	for _, kind := range []struct {
		name  string
		spec  bench.Spec
		limit time.Duration
	}{
		{"500 operations, 8 MB", bench.Spec{Operations: 500, Size: 8 << 20}, 5 * time.Second},
		{"10,000 operations", bench.Spec{Operations: 10_000}, 10 * time.Second},
	} {
		kind.spec.Scene, kind.spec.Mocks = bench.SceneDocument, 1
		group := &servers{settings: s}
		began := time.Now()
		_, err := group.start(ctx, "document", kind.spec)
		took := time.Since(began)
		var peak int64
		if err == nil {
			peak, err = group.all[0].Peak()
		}
		group.end()
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		t.within(kind.name+", loaded", took, kind.limit)
		t.megabytes("  memory, at most", peak, 500)
	}
	return servedDocuments(ctx, s, t)
}

// servedDocuments lets the product itself serve documents from files: one whose schemas lead to one another in every way, and as
// many copies of a given one as have the same length.
func servedDocuments(ctx context.Context, s settings, t *table) error {
	const size = 8 << 20
	dir, end, err := temporary()
	if err != nil {
		return err
	}
	defer end()
	binary, err := bench.Build(ctx, dir)
	if err != nil {
		return err
	}
	texts := map[string][]byte{"500 operations, 1,500 schemas in a tangle": bench.Tangle{Operations: 500, Schemas: 1500, Size: size}.Text()}
	if s.document != "" {
		given, err := os.ReadFile(s.document)
		if err != nil {
			return fmt.Errorf("read the document: %w", err)
		}
		if texts["copies of "+filepath.Base(s.document)], err = bench.Blown(given, size); err != nil {
			return err //nolint:wrapcheck // it says what was blown up
		}
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		report, err := binary.Serving(ctx, texts[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t.within(name+", 8 MB, served: processor time", report.CPU, 5*time.Second)
		t.megabytes("  memory, at most", report.Peak, 500)
	}
	return nil
}

// manage measures changes and lists.
func manage(ctx context.Context, s settings, t *table) error {
	dir, end, err := temporary()
	if err != nil {
		return err
	}
	defer end()
	binary, err := bench.Build(ctx, dir)
	if err != nil {
		return err
	}
	m, stop, err := binary.Manage(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if err := applied(ctx, s, t, m); err != nil {
		return err
	}
	return created(ctx, s, t, m, dir)
}

// applied measures definitions, and the list of the largest.
func applied(ctx context.Context, s settings, t *table, m *bench.Manager) error {
	best := time.Hour
	for i := range min(s.rounds.Number, 5) {
		slug := fmt.Sprintf("applied-%d", i)
		if err := m.CreateProject(ctx, slug); err != nil {
			return err
		}
		took, err := m.Apply(ctx, slug, 1000)
		if err != nil {
			return err
		}
		best = min(best, took)
	}
	t.within("1,000 mocks in one definition", best, time.Second)
	if err := m.CreateProject(ctx, "long"); err != nil {
		return err
	}
	if _, err := m.Apply(ctx, "long", 10_000); err != nil {
		return err
	}
	best = time.Hour
	for range 20 {
		took, err := m.List(ctx, "long")
		if err != nil {
			return err
		}
		best = min(best, took)
	}
	t.within("first page of 10,000 mocks", best, 20*time.Millisecond)
	return nil
}

// created measures single mocks, made by writers that do not wait for each other. What fails counts in every round, the
// slowest times in the round that other work on the machine disturbed least. Between the rounds the same writers ask a bare
// handler that brings as many bytes to the same disk: where that one is slower than the target, nothing could meet it.
func created(ctx context.Context, s settings, t *table, m *bench.Manager, dir string) error {
	const writers = 16
	var best, floor bench.CreateReport
	var failed int64
	for i := range min(s.rounds.Number, 5) {
		slug := fmt.Sprintf("created-%d", i)
		if err := m.CreateProject(ctx, slug); err != nil {
			return err
		}
		report, err := m.Create(ctx, slug, writers, s.creates)
		if err != nil {
			return err
		}
		bare, err := bench.DiskFloor(ctx, dir, writers, s.creates)
		if err != nil {
			return fmt.Errorf("floor: %w", err)
		}
		failed += report.Failed
		if i == 0 || report.Slow < best.Slow {
			best = report
		}
		if i == 0 || bare.Slow < floor.Slow {
			floor = bare
		}
	}
	told := func(r bench.CreateReport) string {
		return fmt.Sprintf("%.0f/s, median %v, p99 %v", r.PerSecond, r.Median.Round(10*time.Microsecond), r.Slow.Round(10*time.Microsecond))
	}
	t.note("a bare handler that flushes as much", told(floor))
	t.note("single mocks by 16 writers", told(best))
	t.within("  99th percentile of a create", best.Slow, 10*time.Millisecond)
	t.equal("  creates that failed", failed, 0)
	return nil
}
