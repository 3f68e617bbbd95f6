package redisstore

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// probeLife is how long a probe's key lives.
	probeLife = time.Second
	// replaceEvery is the pace at which a client that met a replica is replaced.
	replaceEvery = time.Second
)

// keep is the store's one goroutine. It greets Redis, probes while a breaker is open and replaces the client.
func (s *Store) keep(ctx context.Context) {
	s.greet(ctx)
	close(s.greeted)
	compare := time.NewTicker(skewEvery)
	defer compare.Stop()
	tick := time.NewTicker(s.interval)
	defer tick.Stop()
	probing := false
	var replaced time.Time
	for {
		open := s.shards.open()
		switch {
		case len(open) == 0:
			tick.Stop()
			probing = false
		case !probing:
			tick.Reset(s.interval)
			probing = true
		}
		select {
		case <-ctx.Done():
			s.shards.hangUp()
			return
		case <-tick.C:
			s.probe(ctx, open)
		case <-compare.C:
			if len(open) == 0 {
				s.measure(ctx)
			}
		case <-s.wake:
			if s.replace.Load() && time.Since(replaced) >= replaceEvery {
				s.replace.Store(false)
				replaced = time.Now()
				s.swap(ctx, s.target.dial())
			}
		}
	}
}

// greet makes the first connections, so that no check has to, and finds out at the start whether Redis is there (rule
// RL66).
func (s *Store) greet(ctx context.Context) {
	patient, cancel := context.WithTimeout(ctx, s.target.patience())
	defer cancel()
	client := s.current()
	errs := ask(patient, client, s.probeKey(""))
	if err := s.target.judge(errs...); err != nil {
		if failed, ok := err.(*Error); ok && ctx.Err() == nil { //nolint:errorlint // judge wraps nothing around it.
			s.notes.tell(failed, "", time.Now())
			s.shards.main.breaker.open(time.Now(), failed)
		}
		return
	}
	// A connection that could not be made now is made by the check that needs it.
	_ = s.target.warm(ctx, client)
	s.measure(ctx)
}

// probe asks the servers whose breakers are open, each over a connection of its own (rule RL51).
func (s *Store) probe(ctx context.Context, open []*shard) {
	var group sync.WaitGroup
	for _, sh := range open {
		group.Go(func() { s.probeOne(ctx, sh) })
	}
	group.Wait()
}

func (s *Store) probeOne(ctx context.Context, sh *shard) {
	patient, cancel := context.WithTimeout(ctx, s.target.patience())
	defer cancel()
	if sh.probe == nil {
		sh.probe = s.target.dialProbe()
	}
	err := s.target.judge(ask(patient, sh.probe, s.probeKey(sh.key()))...)
	if failed, ok := err.(*Error); ok { //nolint:errorlint // judge wraps nothing around it.
		sh.hangUp()
		if ctx.Err() == nil {
			s.notes.tell(failed, "", time.Now())
			sh.breaker.blame(failed)
		}
		return
	}
	s.heal(ctx, sh)
}

// heal closes a breaker whose probe succeeded. The checks get a new client first, with its connections made: the old one
// holds connections that died, and goes on refusing to dial for up to a second after many failures.
func (s *Store) heal(ctx context.Context, sh *shard) {
	client := s.target.dial()
	if err := s.warmFor(ctx, client, sh); err != nil {
		_ = client.Close()
		return
	}
	s.swap(ctx, client)
	sh.hangUp()
	sh.breaker.close(time.Now())
}

// warmFor warms the connections to one server. The other masters of a cluster, which may be dead, are warmed without
// waiting for them.
func (s *Store) warmFor(ctx context.Context, client redis.UniversalClient, sh *shard) error {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return s.target.warm(ctx, client)
	}
	patient, cancel := context.WithTimeout(ctx, s.target.patience())
	defer cancel()
	master, err := cluster.MasterForKey(patient, s.probeKey(sh.key()))
	if err != nil {
		return err
	}
	if err := s.target.warmOne(ctx, master); err != nil {
		return err
	}
	s.keepers.Go(func() { _ = s.target.warm(ctx, client) })
	return nil
}

// swap puts a client in the place of the present one, which is closed when the checks on their way have had their time.
func (s *Store) swap(ctx context.Context, client redis.UniversalClient) {
	old := s.current()
	s.use(client)
	s.keepers.Go(func() {
		grace := time.NewTimer(2 * s.target.budget)
		defer grace.Stop()
		select {
		case <-grace.C:
		case <-ctx.Done():
		}
		_ = old.Close()
	})
}

// ask sends a write that shows whether checks would succeed, with every command that they need, and returns the errors
// of all commands.
func ask(ctx context.Context, client redis.UniversalClient, key string) []error {
	pipe := client.TxPipeline()
	pipe.Do(ctx, "set", key, 0, "px", probeLife.Milliseconds())
	pipe.Incr(ctx, key)
	pipe.Expire(ctx, key, probeLife)
	cmds, err := pipe.Exec(ctx)
	errs := make([]error, 0, len(cmds)+1)
	for _, cmd := range cmds {
		errs = append(errs, cmd.Err())
	}
	return append(errs, err)
}

// probeKey returns the key that a probe writes. It has fewer fields than any counter, and in a cluster it lies in the
// slot of the check's key, so that the probe asks the server that holds the slot now.
func (s *Store) probeKey(key string) string {
	if key == "" {
		return s.prefix + ":probe"
	}
	if _, rest, found := strings.Cut(key, "{"); found {
		if tag, _, found := strings.Cut(rest, "}"); found && tag != "" {
			key = tag
		}
	}
	return s.prefix + ":probe:{" + key + "}"
}

// patience is what a probe may take: making a connection, signing in, and one answer.
func (t *target) patience() time.Duration { return dialTimeout + 3*t.budget }

// warm makes the connections that a client keeps, signed in, and loads the scripts. The library makes them too, but signs
// in within the first check that uses them, which at 30 ms a reply is more than its budget.
func (t *target) warm(ctx context.Context, client redis.UniversalClient) error {
	switch c := client.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, t.warmOne)
	case *redis.Client:
		return t.warmOne(ctx, c)
	default:
		return nil
	}
}

func (t *target) warmOne(ctx context.Context, client *redis.Client) error {
	// While the first connections are signed in, the pool makes others to have its number idle again. The second round
	// finds those on top.
	if err := t.signIn(ctx, client); err != nil {
		return err
	}
	if err := t.signIn(ctx, client); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, t.patience())
	defer cancel()
	t.load(ctx, client)
	return nil
}

// signIn makes one connection more than the pool keeps idle, so that one may be in use.
func (t *target) signIn(ctx context.Context, client *redis.Client) error {
	ctx, cancel := context.WithTimeout(ctx, t.patience())
	defer cancel()
	errs := make([]error, min(t.options.MinIdleConns+1, t.options.PoolSize))
	var group sync.WaitGroup
	for i := range errs {
		conn := client.Conn()
		defer func() { _ = conn.Close() }() // All are held until the last one is made.
		group.Go(func() { errs[i] = connect(ctx, conn) })
	}
	group.Wait()
	return t.judge(errs...)
}

// connect makes a connection. Whatever Redis answers on it, it is made.
func connect(ctx context.Context, conn *redis.Conn) error {
	err := conn.Ping(ctx).Err()
	if _, answered := replyText(err); answered {
		return nil
	}
	return err
}
