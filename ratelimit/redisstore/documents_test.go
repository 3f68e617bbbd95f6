package redisstore_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// sharedDocument is a document with every member set.
func sharedDocument(version int64) redisstore.Document {
	return redisstore.Document{
		Version: version, At: time.UnixMicro(1_760_000_000_123_456 + version), By: "Ada, the \"first\"\n", Text: fmt.Appendf(nil, "{\"n\":%d,\"odd\":\"\x00\xff\"}", version),
	}
}

func documentsAt(t *testing.T, server *testkit.Redis) redisstore.Documents {
	t.Helper()
	return open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}}).Documents()
}

func TestRL130_a_document_is_shared_and_replaced_by_newer_ones_alone(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	t.Cleanup(func() { everyKeyEnds(t, server) })
	one, other := documentsAt(t, server), documentsAt(t, server)
	if got, err := one.Document(t.Context(), "shield"); err != nil || got.Version != 0 || !got.At.IsZero() || got.By != "" || len(got.Text) > 0 {
		t.Fatalf("what is not there is %+v, %v", got, err)
	}
	if server.Do("EXISTS", "ratelimit:document:shield") != "0" {
		t.Error("reading wrote")
	}
	for _, version := range []int64{1, 2, 9} {
		if put, held, err := one.PutDocument(t.Context(), "shield", sharedDocument(version)); err != nil || !put || !cmp.Equal(held, sharedDocument(version)) {
			t.Errorf("version %d: %t %+v %v", version, put, held, err)
		}
		if got, err := other.Document(t.Context(), "shield"); err != nil || !cmp.Equal(got, sharedDocument(version)) {
			t.Errorf("version %d at the other replica: %+v, %v", version, got, err)
		}
	}
	for _, version := range []int64{1, 8, 9} {
		stale := sharedDocument(version)
		stale.Text = []byte("stale")
		if put, held, err := other.PutDocument(t.Context(), "shield", stale); err != nil || put || !cmp.Equal(held, sharedDocument(9)) {
			t.Errorf("version %d in the place of 9: %t %+v %v", version, put, held, err)
		}
	}
	if got, err := one.Document(t.Context(), "another"); err != nil || got.Version != 0 {
		t.Errorf("another document is %+v, %v", got, err)
	}
}

// RL130: documents lie on all masters of a cluster, each on one.
func TestRL130_documents_are_shared_in_a_cluster(t *testing.T) {
	t.Parallel()
	fresh := freshCluster(t)
	one, other := fresh(t).Documents(), fresh(t).Documents()
	for i := range 8 {
		name := fmt.Sprintf("shield-%d", i)
		if put, _, err := one.PutDocument(t.Context(), name, sharedDocument(1)); err != nil || !put {
			t.Errorf("%s: %t %v", name, put, err)
		}
		if got, err := other.Document(t.Context(), name); err != nil || !cmp.Equal(got, sharedDocument(1)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRL130_of_changes_to_one_version_one_succeeds(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	replicas := []redisstore.Documents{documentsAt(t, server), documentsAt(t, server)}
	var won atomic.Int64
	var admins sync.WaitGroup
	for i := range 16 {
		admins.Go(func() {
			next := sharedDocument(1)
			next.Text = fmt.Appendf(nil, "of %d", i)
			put, held, err := replicas[i%2].PutDocument(t.Context(), "shield", next)
			switch {
			case err != nil:
				t.Error(err)
			case put:
				won.Add(1)
			case held.Version != 1 || string(held.Text) == string(next.Text):
				t.Errorf("admin %d lost to %+v", i, held)
			}
		})
	}
	admins.Wait()
	if won.Load() != 1 {
		t.Errorf("%d changes succeeded, want one", won.Load())
	}
}

// RL60: whoever reads keeps a document alive.
func TestRL60_reading_a_document_renews_its_life(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	documents := documentsAt(t, server)
	const key = "ratelimit:document:shield"
	for _, spoil := range [][]string{{"PEXPIRE", key, "1000000"}, {"PERSIST", key}} {
		if _, _, err := documents.PutDocument(t.Context(), "shield", sharedDocument(1)); err != nil {
			t.Fatal(err)
		}
		server.Do(spoil...)
		if _, err := documents.Document(t.Context(), "shield"); err != nil {
			t.Fatal(err)
		}
		if life := server.Do("PTTL", key); len(life) != len("2592000000") {
			t.Errorf("after %v it lives for %s ms", spoil, life)
		}
	}
}

func TestRL130_documents_fail_as_checks_do(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	documents := documentsAt(t, server)
	for name, wrong := range map[string]redisstore.Document{
		"no version":  {Text: []byte("a")},
		"too many":    {Version: 1 << 40},
		"a long text": {Version: 1, Text: []byte(strings.Repeat("a", 5<<20))},
	} {
		if _, _, err := documents.PutDocument(t.Context(), "shield", wrong); !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, foreign := range map[string][]string{
		"a text":            {"SET", "ratelimit:document:shield", "x"},
		"no version number": {"HSET", "ratelimit:document:shield", "version", "x"},
		"below nothing":     {"HSET", "ratelimit:document:shield", "version", "-1"},
		"half a version":    {"HSET", "ratelimit:document:shield", "version", "1.5"},
		"no end of changes": {"HSET", "ratelimit:document:shield", "version", "1760000000000"},
		"no number at all":  {"HSET", "ratelimit:document:shield", "version", "nan"},
		"beyond numbers":    {"HSET", "ratelimit:document:shield", "version", "99999999999999999999"},
		"a list":            {"RPUSH", "ratelimit:document:shield", "x"},
		"no instant":        {"HSET", "ratelimit:document:shield", "version", "3", "at", "x"},
	} {
		server.Do("FLUSHALL")
		server.Do(foreign...)
		if got, err := documents.Document(t.Context(), "shield"); !errors.Is(err, ratelimit.ErrStoreData) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	server.Kill()
	testkit.Eventually(t, "the failure", func() bool {
		_, err := documents.Document(t.Context(), "shield")
		return errors.Is(err, ratelimit.ErrUnavailable)
	})
}
