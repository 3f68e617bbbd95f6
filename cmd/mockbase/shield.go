package main

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/shield"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// guarded is what keeps the server alive, with the stores behind it.
type guarded struct {
	*shield.Shield

	// redis is nil where the counts are not in Redis; memories are the stores in this process, those that stand in too.
	redis    *redisstore.Store
	memories []*memstore.Store
	// where names the store for people, backend for figures.
	where, backend string
}

// whereOff is where a shield counts that is switched off.
const whereOff = "off"

// openShield makes the shield and its store.
func (s *server) openShield() error {
	made := &guarded{where: whereOff}
	s.shield = made
	backend := shield.BackendMemory
	store, err := s.openLimitStore(made)
	if err != nil {
		return err
	}
	o := shield.Options{
		Settings: s.settings, Origins: s.origins, Store: store, NewMemory: s.newMemory, Kept: s.store,
		Account: management.SignInAccount, Accounts: s.emails, Secret: s.keys.Derive("shield identity"), User: s.signedIn, Clock: s.clock, Logger: s.log.Logger,
	}
	if made.redis != nil {
		backend = shield.BackendRedis
		o.Bans, o.Circuits, o.Shared = made.redis.Bans(), made.redis.Circuits(), made.redis.Documents()
	}
	o.Backend, made.backend = backend, backend
	if made.Shield, err = shield.New(s.ctx, o); err != nil {
		return &failure{code: exitUsage, what: "shield", err: err}
	}
	s.ends = append(s.ends, made.Close)
	return nil
}

// Status tells how the shield is, with what this process's memory holds.
func (s *guarded) Status(r *http.Request) mockbase.ShieldStatus {
	status := s.Shield.Status(r)
	for _, m := range s.memories {
		status.Store.Keys += int64(m.Len())
		status.Store.Evictions += m.Evictions()
	}
	return status
}

// emails are the e-mail addresses of all accounts.
func (s *server) emails(ctx context.Context) ([]string, error) {
	users, err := s.store.AllUsers(ctx)
	list := make([]string, len(users))
	for i, u := range users {
		list[i] = u.Email
	}
	return list, err //nolint:wrapcheck // What the store says is for people.
}

// signedIn returns who sends a request to the management API by a token that this server made and that is still good. That
// it was not revoked is looked at later.
func (s *server) signedIn(r *http.Request) (string, bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", false
	}
	claims, err := s.keys.Verify(token)
	return claims.UserID, err == nil
}

// openLimitStore makes the store that all guards count in: Redis where one is named, else this process's memory.
func (s *server) openLimitStore(made *guarded) (ratelimit.Store, error) {
	if !s.settings.ShieldEnabled {
		return s.newMemory()
	}
	place, named := s.redisPlace()
	if !named {
		made.where = "counted in this process's memory"
		return s.newMemory()
	}
	store, err := s.openRedis(redisstore.Options{
		Config: place, Prefix: s.settings.ShieldKeyPrefix, WithoutLocalDenials: !s.settings.RedisLocalDenials,
	})
	if err != nil {
		return nil, err
	}
	made.redis, made.where = store, "counted in Redis at "+place.String()
	s.greet(store, place.String())
	return store, nil
}

// redisPlace says where Redis is, and whether one is named at all.
func (s *server) redisPlace() (place redisstore.Config, named bool) {
	addrs := s.settings.RedisAddrs
	if s.settings.RedisURL != "" {
		addrs = []string{s.settings.RedisURL.Reveal()}
	}
	return redisstore.Config{
		Addrs: addrs, Master: s.settings.RedisMaster, Cluster: s.settings.RedisCluster, TLSCA: s.settings.RedisTLSCA,
		Budget: s.settings.RedisBudget.Span(), PoolSize: int(s.settings.RedisPoolSize),
	}, len(addrs) > 0
}

// openRedis makes a store in Redis, with what the settings say of all of them.
func (s *server) openRedis(o redisstore.Options) (*redisstore.Store, error) { //nolint:gocritic // it is made once
	redisstore.RedirectClientLog(s.log.Logger)
	o.ProbeInterval, o.BatchFlights = s.settings.RedisProbeInterval.Span(), int(s.settings.RedisBatchFlights)
	o.Clock, o.Logger = s.clock, s.log.Logger
	store, err := redisstore.New(o)
	if err != nil {
		return nil, &failure{
			code: exitUsage, what: config.Spell(s.redisSetting(), s.origins[s.redisSetting()]), err: err,
			fix: "write redis://[user:password@]host[:port][/db], rediss://… for TLS, or host:port",
		}
	}
	s.ends = append(s.ends, store.Close)
	return store, nil
}

func (s *server) redisSetting() string {
	switch {
	case len(s.settings.RedisAddrs) > 0:
		return "redis-addrs"
	case s.settings.RedisURLFile != "":
		return "redis-url-file"
	default:
		return "redis-url"
	}
}

// greet asks Redis for an answer. A server starts without it: limits are not enforced until it returns (rule C-80).
func (s *server) greet(store *redisstore.Store, place string) {
	err := store.Ping(s.ctx)
	if err == nil {
		return
	}
	about := []any{slog.String("redis", place), slog.String("reason", err.Error())}
	switch s.settings.LimitStoreFailure {
	case "closed":
		s.log.Warn("Redis does not answer: every request is refused with 503 until it returns (failing closed)", about...)
	case "memory":
		s.log.Warn("Redis does not answer: limits are kept in this process's memory until it returns", about...)
	default:
		s.log.Warn("Redis does not answer: limits are not enforced until it returns (failing open)", about...)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(s.ctx))
	gone := make(chan struct{})
	s.ends = append(s.ends, func() error { stop(); <-gone; return nil })
	go func() {
		defer close(gone)
		pace := time.NewTicker(s.settings.RedisProbeInterval.Span())
		defer pace.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
				if store.Available() == nil && store.Ping(ctx) == nil {
					s.log.Info("Redis answers: limits are enforced", slog.String("redis", place))
					return
				}
			}
		}
	}()
}

func (s *server) newMemory() (*memstore.Store, error) {
	made, err := memstore.New(memstore.Options{MaxKeys: int(s.settings.ShieldMaxKeys), MaxBytes: int64(s.settings.ShieldMaxBytes), Clock: s.clock})
	if err != nil {
		return nil, err
	}
	s.shield.memories = append(s.shield.memories, made)
	return made, nil
}

// limitTexts are the shield's limits in force, for people.
func (s *server) limitTexts() []string {
	if !s.settings.ShieldEnabled {
		return []string{"switched off"}
	}
	settings, _ := s.shield.Settings()
	var texts []string
	for i := range settings.Policies {
		if text := limitText(&settings.Policies[i]); text != "" {
			texts = append(texts, text)
		}
	}
	if len(s.settings.LoginBan.Rules) == 0 {
		texts = append(texts, "bans of sign-in disabled")
	}
	if settings.Circuit.Mode != string(guard.CircuitDisabled) {
		texts = append(texts, "circuit at "+settings.Circuit.Threshold)
	}
	return texts
}
