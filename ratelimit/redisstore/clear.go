package redisstore

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
)

// scanned is how many keys Redis looks at in one step of a search.
const scanned = 1_000

// Clear forgets the counters whose namespace, a colon, the identifier as it is written and another colon together begin
// with the prefix; the empty prefix forgets all of the tag. It returns their number. Redis is searched for them step by
// step, which takes the longer the more it holds, so this is for administration. What is counted meanwhile may stay.
func (t *Tagged) Clear(ctx context.Context, prefix string) (int, error) {
	s := t.store
	begins := t.in.prefix + ":" + prefix
	client, err := s.nodeOf(ctx, begins)
	if err != nil {
		return 0, s.target.judge(err)
	}
	pattern := escapePattern(begins) + "*"
	cleared := 0
	for cursor := uint64(0); ; {
		var keys []string
		if keys, cursor, err = client.Scan(ctx, cursor, pattern, scanned).Result(); err != nil {
			return cleared, s.target.judge(err)
		}
		if len(keys) > 0 {
			removed, err := client.Del(ctx, keys...).Result()
			// Afterwards, because until then Redis may still give the denials that are to be forgotten.
			s.denials.forget(keys)
			if err != nil {
				return cleared, s.target.judge(err)
			}
			cleared += int(removed)
		}
		if cursor == 0 {
			return cleared, nil
		}
	}
}

// nodeOf returns the server that holds the keys of a hash tag.
func (s *Store) nodeOf(ctx context.Context, key string) (redis.Cmdable, error) {
	cluster, ok := s.current().(*redis.ClusterClient)
	if !ok {
		return s.current(), nil
	}
	return cluster.MasterForKey(ctx, key)
}

// escapePattern makes a text that matches itself alone.
func escapePattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(text)
}
