package redisstore

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/ratelimit"
)

// Class says what kind of failure kept Redis from deciding (rule RL52). Classes are the label of metrics and the last error
// class of a health report.
type Class string

// The classes of failures.
const (
	// ClassTransport: no answer in time, no connection, or a connection that broke.
	ClassTransport Class = "transport"
	// ClassUnavailable: Redis answered that it cannot serve at the moment.
	ClassUnavailable Class = "unavailable"
	// ClassFull: Redis is up and takes no more.
	ClassFull Class = "full"
	// ClassConfig: Redis will not serve us until somebody changes a configuration.
	ClassConfig Class = "config"
	// ClassData: a foreign value lies under one of our keys.
	ClassData Class = "data"
	// ClassBreaker: Redis was not asked, because it failed too often.
	ClassBreaker Class = "breaker_open"
	// ClassQueueFull: too many checks waited for Redis already. Redis is not to blame.
	ClassQueueFull Class = "queue_full"
	// ClassClosed: the store was closed.
	ClassClosed Class = "closed"
)

// Error is why Redis did not decide a check. It wraps one of ErrUnavailable, ErrStoreFull, ErrStoreData and ErrConfig of
// package ratelimit, and the cause. It holds no secret.
type Error struct {
	class Class
	// target names the servers.
	target string
	// hint says what to do, where that is known.
	hint  string
	cause error
}

// Class returns the kind of failure.
func (e *Error) Class() Class { return e.class }

// ErrorClass is Class as text, for packages that do not know this one.
func (e *Error) ErrorClass() string { return string(e.class) }

// Error says which servers failed, how, and what to do about it.
func (e *Error) Error() string {
	text := "ask redis at " + e.target + ": " + e.cause.Error()
	if e.hint != "" {
		text += " (" + e.hint + ")"
	}
	return text
}

// Unwrap returns the kind of failure in the words of package ratelimit, and the cause.
func (e *Error) Unwrap() []error { return []error{e.kind(), e.cause} }

func (e *Error) kind() error {
	switch e.class {
	case ClassFull:
		return ratelimit.ErrStoreFull
	case ClassData:
		return ratelimit.ErrStoreData
	case ClassConfig:
		return ratelimit.ErrConfig
	default:
		return ratelimit.ErrUnavailable
	}
}

// errOverflow says that the counter cannot grow. It is a denial and no failure: an overflow must not become a bypass.
var errOverflow = errors.New("increment would overflow")

// reply is what one error reply of Redis means.
type reply struct {
	prefix string
	class  Class
	hint   string
}

// replies is the table of rule RL52. The first prefix that fits decides; what fits none is unavailable.
var replies = []reply{
	{"READONLY", ClassUnavailable, "this server is a read-only replica"},
	{"LOADING", ClassUnavailable, ""},
	{"MASTERDOWN", ClassUnavailable, ""},
	{"CLUSTERDOWN", ClassUnavailable, ""},
	{"TRYAGAIN", ClassUnavailable, ""},
	{"OOM", ClassFull, "redis is up and full: raise maxmemory, or give the limiter an instance of its own"},
	{"NOAUTH", ClassConfig, "redis wants a password: put it in the URL, or in a file"},
	{"WRONGPASS", ClassConfig, "redis refuses the user or the password"},
	{"NOPERM", ClassConfig, "grant the user what the package documentation of redisstore lists"},
	{"ERR invalid password", ClassConfig, "redis refuses the password"},
	{"ERR AUTH", ClassConfig, "redis has no password set: leave it out of the URL, or set a user"},
	{"ERR Client sent AUTH", ClassConfig, "redis has no password set: leave it out of the URL"},
	{"ERR DB index", ClassConfig, "this database does not exist on the server"},
	{"ERR SELECT", ClassConfig, "a cluster has database 0 only"},
	{"ERR unknown command", ClassConfig, "redis 6.2 or later is needed, with no command renamed"},
	{"WRONGTYPE", ClassData, ""},
	{"ERR value is not an integer", ClassData, ""},
	{foreignReply, ClassData, ""},
}

// judge says what the errors of one check mean (rule RL52). Each command has its own, and the one that tells most
// decides: EXECABORT only says that another command was refused. It returns nil where nothing failed, and errOverflow for
// a counter at its end.
func (t *target) judge(errs ...error) error {
	var told error
	for _, err := range errs {
		if err == nil {
			continue
		}
		text, answered := replyText(err)
		if answered && strings.HasPrefix(text, "ERR increment or decrement would overflow") {
			return errOverflow
		}
		if told == nil || !aborted(text) {
			told = err
		}
		if !aborted(text) {
			break
		}
	}
	if told == nil {
		return nil
	}
	return t.failure(told)
}

func (t *target) failure(err error) *Error {
	failed := &Error{class: ClassTransport, target: t.name, cause: err}
	text, answered := replyText(err)
	if !answered {
		return failed
	}
	if t.movedAway(text) {
		failed.class, failed.hint = ClassConfig, "this is a cluster: configure it as one"
		return failed
	}
	failed.class = ClassUnavailable
	for _, r := range replies {
		if strings.HasPrefix(text, r.prefix) {
			failed.class, failed.hint = r.class, r.hint
			break
		}
	}
	return failed
}

// movedAway says that a server which was not configured as a cluster sends us to another one. A cluster client follows by
// itself; where it gave up, the cluster is moving.
func (t *target) movedAway(text string) bool {
	return !t.cluster && (strings.HasPrefix(text, "MOVED ") || strings.HasPrefix(text, "ASK ") || strings.HasPrefix(text, "CROSSSLOT"))
}

// readOnly says that the failure is a replica's: the addresses lead to another server than they did.
func readOnly(err error) bool {
	text, answered := replyText(err)
	return answered && strings.HasPrefix(text, "READONLY")
}

// aborted says that the reply is EXEC's refusal of a transaction without a reason of its own.
func aborted(text string) bool { return strings.HasPrefix(text, "EXECABORT") }

// replyText returns what Redis answered, without the words around it; false if there was no answer. An EXEC that was
// refused for a reason of its own is that reason.
func replyText(err error) (string, bool) {
	var answer redis.Error
	if !errors.As(err, &answer) {
		return "", false
	}
	text := answer.Error()
	if _, reason, found := strings.Cut(text, "because of: "); found && aborted(text) {
		return reason, true
	}
	return text, true
}
