package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// managed is the real program with a data directory on disk, without limits, and an administrator's client.
func managed(b *testing.B) *visitor {
	b.Helper()
	dir := b.TempDir()
	server := start(b, "--data-dir="+dir, "--management-limit=disabled", "--engine-limit=disabled")
	api := newClient(b, server.URL)
	api.setUp(b, setupCodeIn(b, dir))
	api.logIn(b)
	api.call(b, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"shop","name":"Shop"}`)
	return api
}

// definitionOf is a definition of n mocks.
func definitionOf(n int, text string) string {
	var d strings.Builder
	d.WriteString(`{"mocks":[`)
	for i := range n {
		if i > 0 {
			d.WriteByte(',')
		}
		fmt.Fprintf(&d, `{"name":"m-%d","request":"GET /m/%[1]d/{id}","response":{"json":{"id":%[1]d,"text":%q}}}`, i, text)
	}
	d.WriteString(`]}`)
	return d.String()
}

// BenchmarkApplyThousandMocks applies 1,000 mocks in one definition, all of which change, and calls one of them: what was
// answered is served (rules M-15 and M-161). It must stay below a second.
func BenchmarkApplyThousandMocks(b *testing.B) {
	api, n := managed(b), 0
	for b.Loop() {
		n++
		text := strconv.Itoa(n)
		api.call(b, http.StatusOK, http.MethodPut, "/api/v1/projects/shop/definition", definitionOf(1000, text))
		if got := api.call(b, http.StatusOK, http.MethodGet, "/m/shop/m/999/7", "").body; !strings.Contains(got, `"text":"`+text+`"`) {
			b.Fatalf("after the change the mock answers %s", got)
		}
	}
}

// BenchmarkCreateMockAmongWriters creates single mocks from 16 writers at once; none may fail, and the 99th percentile must
// stay below 10 ms.
func BenchmarkCreateMockAmongWriters(b *testing.B) {
	const writers = 16
	api := managed(b)
	var (
		group sync.WaitGroup
		next  atomic.Int64
		mu    sync.Mutex
		took  []time.Duration
	)
	total := max(b.N, writers)
	b.ResetTimer()
	for range writers {
		group.Go(func() {
			var own []time.Duration
			for n := next.Add(1); n <= int64(total); n = next.Add(1) {
				began := time.Now()
				answer, err := api.try(b.Context(), http.MethodPost, "/api/v1/projects/shop/mocks", fmt.Sprintf(`{"name":"w-%d","request":"GET /w/%[1]d","response":{"text":"hello"}}`, n))
				if err != nil || answer.StatusCode != http.StatusCreated {
					b.Errorf("create: %v, %+v", err, answer)
					return
				}
				own = append(own, time.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
		})
	}
	group.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkFirstPageOfTenThousandMocks lists the first page of 10,000 mocks, which must take less than 20 ms.
func BenchmarkFirstPageOfTenThousandMocks(b *testing.B) {
	api := managed(b)
	api.call(b, http.StatusOK, http.MethodPut, "/api/v1/projects/shop/definition", definitionOf(10_000, "hello"))
	for b.Loop() {
		api.call(b, http.StatusOK, http.MethodGet, "/api/v1/projects/shop/mocks", "")
	}
}

// BenchmarkBackup copies a database of 10,000 mocks while the server works (M-233).
func BenchmarkBackup(b *testing.B) {
	dir := b.TempDir()
	server := start(b, "--data-dir="+dir, "--management-limit=disabled")
	api := newClient(b, server.URL)
	api.setUp(b, setupCodeIn(b, dir))
	api.logIn(b)
	api.call(b, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"shop","name":"Shop"}`)
	api.call(b, http.StatusOK, http.MethodPut, "/api/v1/projects/shop/definition", definitionOf(10_000, "hello"))
	for b.Loop() {
		api.call(b, http.StatusCreated, http.MethodPost, "/api/v1/admin/backups", "")
	}
	if made, err := filepath.Glob(filepath.Join(dir, "backups", "*.db")); err != nil || len(made) == 0 {
		b.Errorf("%d backups, %v", len(made), err)
	}
}
