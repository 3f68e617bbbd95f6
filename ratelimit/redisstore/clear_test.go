package redisstore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// charge asks for the one unit of a key in a part.
func charge(t *testing.T, part *redisstore.Tagged, namespace, identifier string) ratelimit.Decision {
	t.Helper()
	d, err := part.Take(t.Context(), ratelimit.Request{
		Key:    ratelimit.Key{Namespace: namespace, Identifier: identifier},
		Policy: &ratelimit.Policy{Limit: 1, Window: time.Hour, Align: ratelimit.AlignFirstRequest}, Cost: 1, Now: sharedAt,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// clearing tests what a part forgets, and that it forgets nothing else.
func clearing(t *testing.T, s *redisstore.Store) {
	t.Helper()
	one, other := tagged(t, s, "prj_1/ses_1"), tagged(t, s, "prj_1/ses_10")
	fill := func() {
		for _, part := range []*redisstore.Tagged{one, other} {
			for _, name := range []string{"a", "ab", "a_2"} {
				charge(t, part, name, "k")
				charge(t, part, name, "kk")
				// The second is denied, and remembered to be.
				charge(t, part, name, "k")
			}
		}
	}
	for _, test := range []struct {
		prefix  string
		cleared int
		free    string
	}{
		{"a:k:", 1, "a/k"},
		{"a:", 2, "a/k a/kk"},
		{"a*", 0, ""},
		{"", 6, "a/k a/kk ab/k ab/kk a_2/k a_2/kk"},
	} {
		fill()
		if n, err := one.Clear(t.Context(), test.prefix); n != test.cleared || err != nil {
			t.Errorf("%q: %d cleared, want %d: %v", test.prefix, n, test.cleared, err)
		}
		var free []string
		for _, name := range []string{"a", "ab", "a_2"} {
			for _, key := range []string{"k", "kk"} {
				if charge(t, one, name, key).Allowed {
					free = append(free, name+"/"+key)
				}
				if charge(t, other, name, key).Allowed {
					t.Errorf("%q clears another session", test.prefix)
				}
			}
		}
		if got := strings.Join(free, " "); got != test.free {
			t.Errorf("%q frees %s, want %s", test.prefix, got, test.free)
		}
	}
}

func TestRL121_a_part_forgets_in_a_cluster(t *testing.T) {
	t.Parallel()
	clearing(t, freshCluster(t)(t))
}

func TestRL121_a_part_forgets_what_begins_with_a_prefix(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	clearing(t, open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}}))
	everyKeyEnds(t, server)
}

// More keys than Redis looks at in one step are all found.
func TestRL121_a_part_forgets_many(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}})
	part := tagged(t, s, "prj_1/default")
	for i := range 2_500 {
		charge(t, part, "a", "k"+time.Duration(i).String())
	}
	charge(t, part, "b", "k")
	if n, err := part.Clear(t.Context(), "a:"); n != 2_500 || err != nil {
		t.Errorf("%d cleared: %v", n, err)
	}
	if keys := strings.TrimSpace(server.Do("KEYS", "*:a:*")); keys != "" {
		t.Errorf("there are %s", keys)
	}
}

func TestRL121_clearing_fails_without_redis(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}})
	part := tagged(t, s, "prj_1/default")
	charge(t, part, "a", "k")
	server.Kill()
	if n, err := part.Clear(t.Context(), ""); err == nil || n != 0 {
		t.Errorf("%d cleared: %v", n, err)
	}
}
