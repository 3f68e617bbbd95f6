package redisstore

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// shard is one server as the checks see it: a queue before it, a breaker, and the probe that closes that again.
type shard struct {
	breaker breaker
	queue   queue
	// probe is the keeper's own; nil while there is no connection.
	probe redis.UniversalClient

	mu sync.Mutex
	// failing is a key that lies on the server.
	failing string
}

func (s *shard) remember(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = key
}

func (s *shard) key() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failing
}

// hangUp closes the probe's connection. Only the keeper calls it.
func (s *shard) hangUp() {
	if s.probe != nil {
		// The connection is given up, whatever state it is in.
		_ = s.probe.Close()
		s.probe = nil
	}
}

// shards are the servers: main alone, or the masters of a cluster by address; main then stands for the cluster as a
// whole, while its map of slots cannot be had.
type shards struct {
	main shard

	mu      sync.RWMutex
	masters map[string]*shard
}

// of returns the shard that holds a key, and in a cluster its master's client. With an error, the shard is the one to
// blame.
func (s *shards) of(ctx context.Context, client redis.UniversalClient, key string, deadline time.Time) (*shard, *redis.Client, error) {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok || s.main.breaker.isOpen() {
		return &s.main, nil, nil
	}
	// Where the map of slots must be asked for, that takes from the check's time.
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	master, err := cluster.MasterForKey(ctx, key)
	if err != nil {
		return &s.main, nil, err
	}
	return s.at(master.Options().Addr), master, nil
}

// at returns the shard of a master.
func (s *shards) at(addr string) *shard {
	s.mu.RLock()
	sh := s.masters[addr]
	s.mu.RUnlock()
	if sh != nil {
		return sh
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.masters == nil {
		s.masters = map[string]*shard{}
	}
	if s.masters[addr] == nil {
		s.masters[addr] = &shard{}
	}
	return s.masters[addr]
}

// open returns the shards whose breakers are open.
func (s *shards) open() []*shard {
	var open []*shard
	for _, sh := range s.all() {
		if sh.breaker.isOpen() {
			open = append(open, sh)
		}
	}
	return open
}

func (s *shards) hangUp() {
	for _, sh := range s.all() {
		sh.hangUp()
	}
}

func (s *shards) all() []*shard {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*shard, 0, 1+len(s.masters))
	all = append(all, &s.main)
	for _, sh := range s.masters {
		all = append(all, sh)
	}
	return all
}
