package bench_test

import (
	"net/http"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/bench"
	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

func TestMain(m *testing.M) {
	redisstore.RedirectClientLog(nil) // A Redis that is away is part of the tests.
	m.Run()
}

// served serves a specification in this process.
func served(tb testing.TB, spec bench.Spec) string {
	tb.Helper()
	h, closeHandler, err := spec.Handler()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(closeHandler)
	return serving(tb, h)
}

// floor is the address of the floor of a server.
func floor(tb testing.TB, addr string) string {
	tb.Helper()
	requests, _ := bench.Spec{Mocks: 1}.Requests()
	answer, err := bench.FloorFor(tb.Context(), addr, requests[0])
	if err != nil {
		tb.Fatal(err)
	}
	return served(tb, bench.Spec{Floor: answer})
}

// run sends b.N requests of a scene to a server.
func run(b *testing.B, addr string, spec bench.Spec) {
	b.Helper()
	load := spec.Load(addr, 16)
	load.Count = int64(b.N)
	b.ReportAllocs()
	b.ResetTimer()
	out, err := load.Run(b.Context())
	b.StopTimer()
	if err != nil || out.Refused > 0 {
		b.Fatalf("%+v, %v", out, err)
	}
	b.ReportMetric(out.PerSecond(), "requests/s")
}

// serveAndRun serves a specification in this process and sends it b.N requests.
func serveAndRun(b *testing.B, spec bench.Spec) {
	b.Helper()
	run(b, served(b, spec), spec)
}

func BenchmarkStatic(b *testing.B) {
	one := bench.Spec{Mocks: 1}
	b.Run("floor", func(b *testing.B) { run(b, floor(b, served(b, one)), one) })
	b.Run("journal off", func(b *testing.B) { serveAndRun(b, one) })
	b.Run("journal on", func(b *testing.B) { serveAndRun(b, bench.Spec{Mocks: 1, Journal: true}) })
}

func BenchmarkMany(b *testing.B) {
	for _, scene := range []bench.Scene{bench.SceneStatic, bench.SceneParameters} {
		for _, mocks := range []int{1, 1000, 10_000} {
			b.Run(string(scene)+strconv.Itoa(mocks), func(b *testing.B) {
				serveAndRun(b, bench.Spec{Mocks: mocks, Scene: scene, Journal: true})
			})
		}
	}
}

func BenchmarkAnswers(b *testing.B) {
	for _, scene := range []bench.Scene{bench.SceneTemplated, bench.SceneLarge, bench.SceneBody, bench.SceneProxy, bench.SceneDocument} {
		b.Run(string(scene), func(b *testing.B) {
			upstream := floor(b, served(b, bench.Spec{Mocks: 1}))
			serveAndRun(b, bench.Spec{Mocks: 1, Scene: scene, Operations: 10, Journal: true, Upstream: upstream})
		})
	}
}

func BenchmarkCrowd(b *testing.B) {
	for _, scene := range []bench.Scene{bench.SceneSlow, bench.SceneEvents} {
		b.Run(string(scene), func(b *testing.B) {
			spec := bench.Spec{Mocks: 1, Scene: scene, Journal: true}
			requests, _ := spec.Requests()
			crowd, err := bench.Gather(b.Context(), served(b, spec), b.N)
			if err != nil {
				b.Fatal(err)
			}
			defer crowd.End()
			if err := crowd.Ask(requests[0], time.Minute); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkShield(b *testing.B) {
	b.Run("none", func(b *testing.B) { serveAndRun(b, bench.Spec{Mocks: 1}) })
	b.Run("memory", func(b *testing.B) { serveAndRun(b, bench.Spec{Mocks: 1, Shield: bench.ShieldInMemory}) })
	b.Run("redis", func(b *testing.B) {
		serveAndRun(b, bench.Spec{Mocks: 1, Shield: testkit.StartRedis(b).URL()})
	})
}

// BenchmarkChecks asks Redis without a server, by the store and with one transaction a check.
func BenchmarkChecks(b *testing.B) {
	redis := testkit.StartRedis(b)
	for _, callers := range []int{1, 64, 256} {
		store, naive, err := bench.RedisChecks(b, redis, redis.Addr, callers)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range []bench.Contender{store, naive} {
			b.Run(c.Name+"/"+strconv.Itoa(callers), func(b *testing.B) {
				for range b.N {
					out, err := c.Checks.Run(b.Context(), 100*time.Millisecond)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(out.PerSecond(), "checks/s")
					b.ReportMetric(float64(out.Median.Microseconds()), "µs/median")
				}
			})
		}
	}
}

// BenchmarkMemory shows what the heap holds after requests that the journal recorded.
func BenchmarkMemory(b *testing.B) {
	serveAndRun(b, bench.Spec{Mocks: 1, Journal: true})
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MB")
}

func BenchmarkStart(b *testing.B) {
	binary, err := bench.Build(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	if err := binary.Fill(b.Context(), 1000); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	report, err := binary.Starts(b.Context(), b.N)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(report.Best.Milliseconds()), "ms/first-answer")
	b.ReportMetric(float64(report.Memory)/(1<<20), "MB")
}

func BenchmarkOutage(b *testing.B) {
	for _, o := range bench.Outages() {
		b.Run(o.Name, func(b *testing.B) {
			for range b.N {
				r := o.Run(b, 700*time.Millisecond)
				if r.Refused > 0 || r.Counted > r.Requests {
					b.Errorf("requests were refused or counted twice: %+v", r)
				}
				b.ReportMetric(float64(r.Before.Microseconds()), "µs/longest")
				b.ReportMetric(float64(r.Open.Microseconds()), "µs/p99-open")
				b.ReportMetric(float64(r.Heal.Milliseconds()), "ms/heal")
			}
		})
	}
}

func TestTheFloorWritesTheSameBytes(t *testing.T) {
	t.Parallel()
	subject := served(t, bench.Spec{Mocks: 1, Journal: true})
	bare := floor(t, subject)
	requests, _ := bench.Spec{Mocks: 1}.Requests()
	want, got := testkit.RawHTTP(t, subject, string(requests[0])), testkit.RawHTTP(t, bare, string(requests[0]))
	if want.Status != http.StatusOK || len(want.Body) != 128 {
		t.Errorf("the mock answers %d with %d bytes", want.Status, len(want.Body))
	}
	lines := func(a *testkit.Answer) map[string]int {
		all := map[string]int{}
		for _, line := range a.Lines {
			all[line.Name] = len(line.Value)
		}
		return all
	}
	if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
		t.Errorf("names and lengths of header lines (-mock +floor):\n%s", diff)
	}
	if diff := cmp.Diff(want.Body, got.Body); diff != "" {
		t.Errorf("bodies (-mock +floor):\n%s", diff)
	}
}

func TestOneRoundTripToRedisForEachRequest(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	// The longest budget that there is: on a busy machine a check may wait for its turn for longer than a server would
	// let it.
	addr := served(t, bench.Spec{Mocks: 1, Shield: redis.URL(), Budget: 2 * time.Second})
	for _, clients := range []int{1, 16} {
		load := bench.Spec{Mocks: 1}.Load(addr, clients)
		load.Count = 1000
		bill, err := bench.RedisCost(t.Context(), redis, load)
		if err != nil {
			t.Fatal(err)
		}
		if bill.RoundTrips > 1.01 || bill.Counted != 1000 {
			t.Errorf("%d clients: %.3f round trips a request, counted %d of 1000; ran %s", clients, bill.RoundTrips, bill.Counted, bill.Commands)
		}
	}
}
