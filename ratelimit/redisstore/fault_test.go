package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// answer is an error reply of Redis.
type answer string

func (a answer) Error() string { return string(a) }

// RedisError marks it as one.
func (answer) RedisError() {}

var _ redis.Error = answer("")

func TestRL52_errors_are_judged_by_the_command_that_tells_most(t *testing.T) {
	t.Parallel()
	const aborted = answer("EXECABORT Transaction discarded because of previous errors.")
	for _, c := range []struct {
		name string
		errs []error
		want redisstore.Class
		kind error
	}{
		{"deadline", []error{context.DeadlineExceeded}, redisstore.ClassTransport, ratelimit.ErrUnavailable},
		{"end of file", []error{io.EOF, io.EOF}, redisstore.ClassTransport, ratelimit.ErrUnavailable},
		{"pool exhausted", []error{redis.ErrPoolTimeout}, redisstore.ClassTransport, ratelimit.ErrUnavailable},
		{"READONLY", []error{answer("READONLY You can't write against a read only replica.")}, redisstore.ClassUnavailable, ratelimit.ErrUnavailable},
		{"READONLY behind EXECABORT", []error{aborted, answer("READONLY You can't write against a read only replica."), aborted}, redisstore.ClassUnavailable, ratelimit.ErrUnavailable},
		{"LOADING", []error{answer("LOADING Redis is loading the dataset in memory")}, redisstore.ClassUnavailable, ratelimit.ErrUnavailable},
		{"MASTERDOWN", []error{answer("MASTERDOWN Link with MASTER is down")}, redisstore.ClassUnavailable, ratelimit.ErrUnavailable},
		{"CLUSTERDOWN", []error{answer("CLUSTERDOWN The cluster is down")}, redisstore.ClassUnavailable, ratelimit.ErrUnavailable},
		{"TRYAGAIN", []error{answer("TRYAGAIN Multiple keys request during rehashing of slot")}, redisstore.ClassUnavailable, ratelimit.ErrUnavailable},
		{"max clients", []error{answer("ERR max number of clients reached")}, redisstore.ClassUnavailable, ratelimit.ErrUnavailable},
		{"something new", []error{answer("NEWS we never heard of")}, redisstore.ClassUnavailable, ratelimit.ErrUnavailable},
		{"EXECABORT without a word", []error{aborted, nil, aborted}, redisstore.ClassUnavailable, ratelimit.ErrUnavailable},
		{"OOM", []error{answer("OOM command not allowed when used memory > 'maxmemory'.")}, redisstore.ClassFull, ratelimit.ErrStoreFull},
		{"OOM of the second command", []error{aborted, answer("OOM command not allowed")}, redisstore.ClassFull, ratelimit.ErrStoreFull},
		{"OOM of EXEC itself", []error{answer("EXECABORT Transaction discarded because of: OOM command not allowed")}, redisstore.ClassFull, ratelimit.ErrStoreFull},
		{"NOAUTH", []error{answer("NOAUTH Authentication required.")}, redisstore.ClassConfig, ratelimit.ErrConfig},
		{"WRONGPASS from the handshake", []error{fmt.Errorf("failed to authenticate: %w", answer("WRONGPASS invalid username-password pair"))}, redisstore.ClassConfig, ratelimit.ErrConfig},
		{"NOPERM", []error{aborted, answer("NOPERM User app has no permissions to run the 'expire' command")}, redisstore.ClassConfig, ratelimit.ErrConfig},
		{"MOVED", []error{aborted, answer("MOVED 866 10.0.0.7:6379")}, redisstore.ClassConfig, ratelimit.ErrConfig},
		{"ASK", []error{answer("ASK 866 10.0.0.7:6379")}, redisstore.ClassConfig, ratelimit.ErrConfig},
		{"no such database", []error{answer("ERR DB index is out of range")}, redisstore.ClassConfig, ratelimit.ErrConfig},
		{"WRONGTYPE", []error{answer("WRONGTYPE Operation against a key holding the wrong kind of value"), nil}, redisstore.ClassData, ratelimit.ErrStoreData},
		{"not a number", []error{answer("ERR value is not an integer or out of range")}, redisstore.ClassData, ratelimit.ErrStoreData},
		{"foreign value under a script's key", []error{answer("FOREIGN value under a key of the limiter")}, redisstore.ClassData, ratelimit.ErrStoreData},
	} {
		err := redisstore.Judge("single", c.errs...)
		failed, ok := errors.AsType[*redisstore.Error](err)
		if !ok || failed.Class() != c.want || failed.ErrorClass() != string(c.want) || !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want class %s as %v", c.name, err, c.want, c.kind)
			continue
		}
		for _, kind := range []error{ratelimit.ErrUnavailable, ratelimit.ErrStoreFull, ratelimit.ErrStoreData, ratelimit.ErrConfig} {
			if !errors.Is(c.kind, kind) && errors.Is(err, kind) {
				t.Errorf("%s: %v is also %v", c.name, err, kind)
			}
		}
	}
}

func TestRL52_what_is_no_failure(t *testing.T) {
	t.Parallel()
	if err := redisstore.Judge("single", nil, nil); err != nil {
		t.Errorf("no error: %v", err)
	}
	overflow := answer("ERR increment or decrement would overflow")
	if err := redisstore.Judge("single", overflow, nil, overflow); !errors.Is(err, redisstore.ErrOverflow) {
		t.Errorf("overflow: %v", err)
	}
	failed, ok := errors.AsType[*redisstore.Error](redisstore.Judge("cluster", answer("MOVED 866 10.0.0.7:6379")))
	if !ok || failed.Class() != redisstore.ClassUnavailable {
		t.Errorf("MOVED in a cluster that is moving: %v, want it unavailable", failed)
	}
}

func TestError_says_where_what_and_what_to_do(t *testing.T) {
	t.Parallel()
	err := redisstore.Judge("single", answer("MOVED 866 10.0.0.7:6379"))
	want := "ask redis at here: MOVED 866 10.0.0.7:6379 (this is a cluster: configure it as one)"
	if err.Error() != want {
		t.Errorf("error = %q, want %q", err, want)
	}
}
