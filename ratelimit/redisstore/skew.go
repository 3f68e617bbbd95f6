package redisstore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// skewEvery is how often the clocks are compared (rule RL56).
const skewEvery = time.Minute

// skew is how far Redis's clock is ahead of the store's.
type skew struct{ known atomic.Int64 }

// measure compares the clocks of all masters with the store's and keeps the largest difference. What a server does not
// answer in time leaves the difference as it was.
func (s *Store) measure(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.target.patience())
	defer cancel()
	switch c := s.current().(type) {
	case *redis.ClusterClient:
		var mu sync.Mutex
		var widest time.Duration
		err := c.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
			ahead, err := s.ahead(ctx, master)
			mu.Lock()
			defer mu.Unlock()
			if ahead.Abs() > widest.Abs() {
				widest = ahead
			}
			return err
		})
		if err == nil {
			s.skew.known.Store(int64(widest))
		}
	default:
		if ahead, err := s.ahead(ctx, c); err == nil {
			s.skew.known.Store(int64(ahead))
		}
	}
}

// ahead returns how far a server's clock is ahead, taken at the middle of the round trip.
func (s *Store) ahead(ctx context.Context, server redis.Cmdable) (time.Duration, error) {
	asked, began := s.clock(), time.Now()
	served, err := server.Time(ctx).Result()
	return served.Sub(asked.Add(time.Since(began) / 2)), err
}
