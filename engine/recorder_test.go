package engine_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

// recorder is a journal that keeps everything.
type recorder struct {
	mu        sync.Mutex
	exchanges []*mockbase.Exchange
}

func (r *recorder) Record(x *mockbase.Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges = append(r.exchanges, x)
}

// Amend is that of a journal.
func (r *recorder) Amend(_, id string, change func(x *mockbase.Exchange)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.exchanges, func(x *mockbase.Exchange) bool { return x.ID == id })
	if at < 0 {
		return false
	}
	amended := *r.exchanges[at]
	change(&amended)
	r.exchanges[at] = &amended
	return true
}

func (r *recorder) all() []*mockbase.Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.exchanges)
}

// last waits until n exchanges are recorded and returns that which began last. The client may have its answer a moment before,
// and the next one be recorded first.
func (r *recorder) last(t *testing.T, n int) *mockbase.Exchange {
	t.Helper()
	var all []*mockbase.Exchange
	testkit.Eventually(t, strconv.Itoa(n)+" exchanges to be recorded", func() bool {
		all = r.all()
		return len(all) >= n
	})
	slices.SortStableFunc(all, func(a, b *mockbase.Exchange) int { return a.At.Compare(b.At) })
	return all[len(all)-1]
}

// later waits until the last exchange holds what it must.
func (x *exchangeCase) later(t *testing.T, _, data string) {
	t.Helper()
	await(t, "the exchange holds "+data, func() bool {
		var exchange any = x.recorded.last(t, x.sent)
		last, err := json.Marshal(exchange)
		if err != nil {
			t.Fatal(err)
		}
		at, err := testkit.LackingJSON(data, last)
		if err != nil {
			t.Fatal(err)
		}
		return at == ""
	})
}
