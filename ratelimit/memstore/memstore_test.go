package memstore_test

import (
	"testing"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

func newStore(tb testing.TB, o memstore.Options) *memstore.Store {
	tb.Helper()
	s, err := memstore.New(o)
	if err != nil {
		tb.Fatalf("new store: %v", err)
	}
	return s
}

func TestRL137_the_memory_store_keeps_the_contract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) ratelimit.Store {
		t.Helper()
		return newStore(t, memstore.Options{})
	})
}
