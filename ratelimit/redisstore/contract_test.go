package redisstore_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

func TestMain(m *testing.M) {
	redisstore.RedirectClientLog(nil)
	m.Run()
}

// open makes a store that has met its server, and closes it with the test.
func open(tb testing.TB, o redisstore.Options) *redisstore.Store {
	tb.Helper()
	s, err := redisstore.New(o)
	if err != nil {
		tb.Fatalf("new store: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	<-s.Greeted()
	return s
}

func TestRL137_the_redis_store_keeps_the_contract(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	storetest.Run(t, func(t *testing.T) ratelimit.Store {
		t.Helper()
		server.Do("FLUSHALL")
		t.Cleanup(func() { everyKeyEnds(t, server) })
		return open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}}})
	})
}

// everyKeyEnds fails the test for each key that would stay for ever (rule RL60).
func everyKeyEnds(t *testing.T, server *testkit.Redis) {
	t.Helper()
	for key := range strings.Lines(server.Do("KEYS", "*")) {
		key = strings.TrimSuffix(key, "\n")
		if server.Do("TTL", key) == "-1" {
			t.Errorf("RL60: %q never expires", key)
		}
	}
}
