package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// shield keeps the server alive: a guard for each plane and one for sign-ins, over one store. A guard is nil where there
// is no limit.
type shield struct {
	addresses                 *httplimit.Addresses
	engine, management, login *httplimit.Guard
	limiters                  []*ratelimit.Limiter
	// bans is nil where failed sign-ins ban nobody, lists where nobody is on the safelist or the blocklist.
	bans, lists *httplimit.Layers
	// redis is nil where the counts are not in Redis; memories are the stores in this process, those that stand in too.
	redis    *redisstore.Store
	memories []*memstore.Store
	// where names the store for people.
	where string
}

// openShield makes the shield's store and guards.
func (s *server) openShield() error {
	made := &shield{addresses: s.newAddresses(), where: "off"}
	s.shield = made
	if !s.settings.ShieldEnabled {
		return nil
	}
	store, err := s.openLimitStore(made)
	if err != nil {
		return err
	}
	for _, g := range []struct {
		target *(*httplimit.Guard)
		name   string
		limit  config.Limit
	}{
		{&made.engine, "engine", s.settings.EngineLimit.By(s.settings.ShieldAlgorithm)},
		{&made.management, "management", s.settings.ManagementLimit.By(s.settings.ShieldAlgorithm)},
		{&made.login, "login", s.settings.LoginLimit.By(s.settings.ShieldAlgorithm)},
	} {
		if len(g.limit.Policies) == 0 {
			continue
		}
		guard, err := s.newGuard(store, g.name, g.limit)
		if err != nil {
			return &failure{code: exitUsage, what: "limit " + g.name, err: err}
		}
		*g.target = guard
	}
	if err := s.openLists(); err != nil {
		return err
	}
	return s.openBans()
}

func (s *server) newAddresses() *httplimit.Addresses {
	o := httplimit.AddressOptions{
		Header: string(s.settings.ClientAddressHeader), IPv6Prefix: int(s.settings.IPv6Prefix), Logger: s.log.Logger,
	}
	for _, n := range s.settings.TrustedProxies {
		o.TrustedProxies = append(o.TrustedProxies, netip.Prefix(n))
	}
	return httplimit.NewAddresses(o)
}

// openLimitStore makes the store that all guards count in: Redis where one is named, else this process's memory.
func (s *server) openLimitStore(made *shield) (ratelimit.Store, error) {
	addrs := s.settings.RedisAddrs
	if s.settings.RedisURL != "" {
		addrs = []string{s.settings.RedisURL.Reveal()}
	}
	if len(addrs) == 0 {
		made.where = "counted in this process's memory"
		return s.newMemory()
	}
	redisstore.RedirectClientLog(s.log.Logger)
	place := redisstore.Config{
		Addrs: addrs, Master: s.settings.RedisMaster, Cluster: s.settings.RedisCluster, TLSCA: s.settings.RedisTLSCA,
		Budget: s.settings.RedisBudget.Span(), PoolSize: int(s.settings.RedisPoolSize),
	}
	store, err := redisstore.New(redisstore.Options{
		Config: place, Prefix: s.settings.ShieldKeyPrefix, ProbeInterval: s.settings.RedisProbeInterval.Span(),
		BatchFlights: int(s.settings.RedisBatchFlights), WithoutLocalDenials: !s.settings.RedisLocalDenials,
		Clock: s.clock, Logger: s.log.Logger,
	})
	if err != nil {
		return nil, &failure{
			code: exitUsage, what: config.Spell(s.redisSetting(), s.origins[s.redisSetting()]), err: err,
			fix: "write redis://[user:password@]host[:port][/db], rediss://… for TLS, or host:port",
		}
	}
	made.redis, made.where = store, "counted in Redis at "+place.String()
	s.ends = append(s.ends, store.Close)
	s.greet(store, place.String())
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

// newGuard makes a guard with a limiter of its own. Sign-in never fails open (rule M-37).
func (s *server) newGuard(store ratelimit.Store, name string, limit config.Limit) (*httplimit.Guard, error) {
	mode := ratelimit.Mode(s.settings.LimitStoreFailure)
	if name == "login" && mode == ratelimit.FailOpen {
		mode = ratelimit.FailMemory
	}
	o := ratelimit.Options{
		Name: name, Store: store, OnFailure: mode, Clock: s.clock, Logger: s.log.Logger, ProbeInterval: s.settings.RedisProbeInterval.Span(),
	}
	if mode == ratelimit.FailMemory {
		fallback, err := s.newMemory()
		if err != nil {
			return nil, err
		}
		o.Fallback = fallback
	}
	limiter, err := ratelimit.NewLimiter(o)
	if err != nil {
		return nil, err
	}
	s.shield.limiters = append(s.shield.limiters, limiter)
	when := httplimit.When(s.settings.ShieldHeadersOn)
	if name != "engine" && when == httplimit.OnDenied {
		when = httplimit.OnAlways // the management plane always says how much is left (rules M-16 and RL120)
	}
	guard, err := httplimit.New(httplimit.Options{
		Limiter: limiter, Policies: limit.Named(name), Addresses: s.shield.addresses, Key: string(s.settings.ShieldKey),
		Headers: dialects(s.settings.ShieldHeaders), HeadersOn: when, Status: int(s.settings.ShieldStatus),
		Body: httplimit.Body(s.settings.ShieldBody), Exclude: s.settings.ShieldExclude,
		LogMatches: httplimit.MatchLog(s.settings.ShieldLogMatches), Logger: s.log.Logger, Clock: s.clock,
	})
	if err != nil {
		return nil, err
	}
	s.ends = append(s.ends, guard.Close)
	return guard, nil
}

func dialects(list []config.Dialect) []httplimit.Dialect {
	made := make([]httplimit.Dialect, 0, len(list))
	for _, d := range list {
		made = append(made, httplimit.Dialect(d))
	}
	return made
}

// trouble says what is wrong with the shield's store, or nil.
func (s *shield) trouble() error {
	for _, l := range s.limiters {
		if h := l.Health(); h.Degraded {
			return fmt.Errorf("since %s, failing %s: %s: %s", h.Since.UTC().Format(time.RFC3339), h.Mode, h.Reason, h.LastError)
		}
	}
	return nil
}

// limitTexts are the shield's limits for people.
func (s *server) limitTexts() []string {
	if !s.settings.ShieldEnabled {
		return []string{"switched off"}
	}
	texts := []string{limitText("engine", s.settings.EngineLimit), limitText("management", s.settings.ManagementLimit)}
	if len(s.settings.LoginBan.Rules) == 0 {
		texts = append(texts, "bans of sign-in disabled")
	}
	return texts
}
