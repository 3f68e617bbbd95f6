package engine_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/journal"
)

// discard is a response writer that keeps nothing; like the one of net/http it makes one header map for each answer.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header {
	if d.header == nil {
		d.header = make(http.Header)
	}
	return d.header
}
func (d *discard) WriteHeader(status int)    { d.status = status }
func (*discard) Write(b []byte) (int, error) { return len(b), nil }

// manyMocks makes a project of n mocks, half with a literal path and half with a parameter.
func manyMocks(n int) []*mockbase.Mock {
	mocks := make([]*mockbase.Mock, 0, n)
	for i := range n {
		path := fmt.Sprintf("/api/v1/resource-%d", i/2)
		if i%2 == 1 {
			path += "/{id}"
		}
		mocks = append(mocks, &mockbase.Mock{
			ID: fmt.Sprintf("mck_%d", i), Name: fmt.Sprintf("mock-%d", i), Version: 1,
			Request:   mockbase.RequestMatcher{Methods: []string{http.MethodGet}, Path: path},
			Responses: []mockbase.Response{{Body: mockbase.Body{Kind: mockbase.BodyJSON, Bytes: []byte(`{"id":7,"name":"Ada"}`)}}},
		})
	}
	return mocks
}

func publish(tb testing.TB, e *engine.Engine, revision int64, mocks []*mockbase.Mock) {
	tb.Helper()
	s := &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: revision}, Mocks: mocks}
	if err := e.Publish(s); err != nil {
		tb.Fatal(err)
	}
}

func benchmarkServe(b *testing.B, o engine.Options, n int, target string) {
	b.Helper()
	e, err := engine.New(o)
	if err != nil {
		b.Fatal(err)
	}
	publish(b, e, 1, manyMocks(n))
	r := httptest.NewRequest(http.MethodGet, target, http.NoBody)
	r.Header.Set("User-Agent", "bench/1")
	r.Header.Set("Accept-Encoding", "gzip")
	askOften(b, e, r, http.StatusOK)
}

// askOften measures how long an engine takes for one request after another, each of which has the same status.
func askOften(b *testing.B, e *engine.Engine, r *http.Request, status int) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		var w discard
		e.ServeHTTP(&w, r)
		if w.status != status {
			b.Fatal(w.status)
		}
	}
}

func BenchmarkServe(b *testing.B) {
	for _, n := range []int{2, 1_000, 10_000, 100_000} {
		last := n/2 - 1
		b.Run(fmt.Sprintf("mocks=%d/literal", n), func(b *testing.B) {
			benchmarkServe(b, engine.Options{}, n, fmt.Sprintf("/m/shop/api/v1/resource-%d", last))
		})
		b.Run(fmt.Sprintf("mocks=%d/parameter", n), func(b *testing.B) {
			benchmarkServe(b, engine.Options{}, n, fmt.Sprintf("/m/shop/api/v1/resource-%d/7", last))
		})
	}
	b.Run("limited", func(b *testing.B) {
		e := newEngine(b, engine.Options{})
		mocks := manyMocks(2)
		mocks[0].RateLimit = &mockbase.RateLimit{Limits: []mockbase.Limit{{Policy: &mockbase.LimitPolicy{
			Algorithm: "gcra", Limit: 1_000_000_000, Window: time.Second,
		}}}}
		publish(b, e, 1, mocks)
		r := httptest.NewRequest(http.MethodGet, "/m/shop/api/v1/resource-0", http.NoBody)
		askOften(b, e, r, http.StatusOK)
	})
	b.Run("journal", func(b *testing.B) {
		j := journal.New(journal.Options{})
		benchmarkServe(b, engine.Options{Journal: j}, 2, "/m/shop/api/v1/resource-0")
	})
}

// BenchmarkFloor is what every handler pays that writes such an answer.
func BenchmarkFloor(b *testing.B) {
	body := []byte(`{"id":7,"name":"Ada"}`)
	b.ReportAllocs()
	for b.Loop() {
		var w discard
		w.Header()["Content-Type"] = []string{"application/json"}
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(body)
	}
}

func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("mocks=%d/all-new", n), func(b *testing.B) {
			mocks := manyMocks(n)
			for b.Loop() {
				e, err := engine.New(engine.Options{})
				if err != nil {
					b.Fatal(err)
				}
				publish(b, e, 1, mocks)
			}
		})
		b.Run(fmt.Sprintf("mocks=%d/one-changed", n), func(b *testing.B) {
			e, err := engine.New(engine.Options{})
			if err != nil {
				b.Fatal(err)
			}
			mocks := manyMocks(n)
			publish(b, e, 1, mocks)
			revision := int64(1)
			for b.Loop() {
				revision++
				changed := *mocks[n/2]
				mocks[n/2] = &changed
				publish(b, e, revision, mocks)
			}
		})
	}
}

func BenchmarkMiss(b *testing.B) {
	e, err := engine.New(engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	publish(b, e, 1, manyMocks(10_000))
	r := httptest.NewRequest(http.MethodGet, "/m/shop/api/v1/nothing/here", http.NoBody)
	askOften(b, e, r, http.StatusNotFound)
}

// A miss that nothing explains looks at the other projects, too: 500 of 100 mocks, whose paths are literal, or patterns that
// have to be tried.
func BenchmarkMissAmongProjects(b *testing.B) {
	for name, path := range map[string]string{"literals": "/api/v1/thing-%d-%d/{id}", "patterns": "/{x:[a-z]+-%d-%d}/{y:[0-9]+}"} {
		b.Run(name, func(b *testing.B) {
			e, err := engine.New(engine.Options{})
			if err != nil {
				b.Fatal(err)
			}
			for i := range 500 {
				mocks := manyMocks(100)
				for j := range mocks {
					mocks[j].Request.Path = fmt.Sprintf(path, i, j)
				}
				p := &mockbase.Project{ID: fmt.Sprintf("prj_%d", i), Slug: fmt.Sprintf("p%d", i), Access: mockbase.AccessPublic, Revision: 1}
				if err := e.Publish(&mockbase.Snapshot{Project: p, Mocks: mocks}); err != nil {
					b.Fatal(err)
				}
			}
			r := httptest.NewRequest(http.MethodGet, "/m/p7/nothing-here/at/all", http.NoBody)
			askOften(b, e, r, http.StatusNotFound)
		})
	}
}
