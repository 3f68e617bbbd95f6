package redisstore

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"sync"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

var _ ratelimit.Availability = (*Store)(nil)

// Health is how the store stands with Redis.
type Health struct {
	// Target names the servers, without credentials.
	Target string
	// Open says that a breaker is open: checks fail without Redis being asked. In a cluster that may hold for some keys
	// only.
	Open bool
	// Since is when Open became what it is; the zero time while nothing ever failed.
	Since time.Time
	// LastError is the newest failure that opened a breaker or kept it open; it stays after recovery. LastErrorClass is its
	// class, "" if there never was one.
	LastError      string
	LastErrorClass Class
}

// Health returns how the store stands with Redis. It asks nobody.
func (s *Store) Health() Health {
	h := Health{Target: s.target.name}
	for _, sh := range s.shards.all() {
		open := sh.breaker.isOpen()
		since, reason := sh.breaker.state()
		if reason == nil || h.Open && !open {
			continue
		}
		if h.LastErrorClass == "" || open && !h.Open || since.After(h.Since) {
			h.Open, h.Since = open, since
			h.LastError, h.LastErrorClass = reason.Error(), reason.class
		}
	}
	return h
}

// Available returns nil while checks reach Redis, and what is wrong while a breaker is open. It asks nobody. In a cluster
// some keys may still be decided.
func (s *Store) Available() error {
	for _, sh := range s.shards.all() {
		if sh.breaker.isOpen() {
			return sh.breaker.refusal()
		}
	}
	return nil
}

// noteEvery is the pace at which the same kind of trouble is logged again.
const noteEvery = time.Minute

// notes tells the operator what only a person can mend. That limits are not enforced meanwhile is told by ratelimit.Limiter.
type notes struct {
	logger *slog.Logger

	mu   sync.Mutex
	told map[Class]time.Time
}

// tell logs a failure of the classes config, full and data: the first one, then one a minute.
func (n *notes) tell(failed *Error, key string, now time.Time) {
	switch failed.class {
	case ClassConfig:
		if n.due(failed.class, now) {
			n.logger.Error("redis refuses the limiter", slog.String("error", failed.Error()))
		}
	case ClassFull:
		if n.due(failed.class, now) {
			n.logger.Error("redis is up but full", slog.String("error", failed.Error()))
		}
	case ClassData:
		if n.due(failed.class, now) {
			// A key may hold a client's address, which belongs into no log.
			digest := sha256.Sum256([]byte(key))
			n.logger.Error("redis holds a foreign value under a key of the limiter",
				slog.String("error", failed.Error()), slog.String("key_digest", hex.EncodeToString(digest[:8])))
		}
	default:
		// That limits are not enforced is said by ratelimit.Limiter.
	}
}

func (n *notes) due(class Class, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if before, told := n.told[class]; told && now.Sub(before) < noteEvery {
		return false
	}
	n.told[class] = now
	return true
}
