// Package shield builds what stands before the server from its settings: lists, bans, limits and the circuit, for mocks,
// for the management API and for signing in.
//
// # What an administrator changes
//
// What the configuration does not state may be changed while the server works ([Shield.ChangeSettings]). Such a change is
// stored, and read again at the next start; what the configuration states wins over it (rule C-3). Counts, bans and the
// circuit go on.
//
// Servers that share their counts share these changes too ([Options.Shared]): each looks for newer ones once a second, of
// two changes at a time one is refused, and while nothing can be shared each goes on with what it knows.
//
// # Bans
//
// Bans by an administrator are stored and brought into force again at each start. Those that failed sign-ins earned live in
// the register, which is Redis or the memory of the process; what is in memory is noted, and holds again after a restart.
// Servers that share their register tell each other what administrators do to bans, so that one that is lifted at any of
// them is lifted for good, and a lift that Redis has not taken yet is noted too.
package shield

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// Kept is where settings and bans outlive the process.
type Kept interface {
	Setting(ctx context.Context, name string) (*mockbase.Setting, error)
	PutSetting(ctx context.Context, s *mockbase.Setting) error
	Bans(ctx context.Context) ([]mockbase.Ban, error)
	PutBan(ctx context.Context, b *mockbase.Ban) error
	DeleteBans(ctx context.Context, ids ...string) error
	BanNotes(ctx context.Context) ([]mockbase.BanNote, error)
	ChangeBanNotes(ctx context.Context, put, drop []mockbase.BanNote) error
	AppendAudit(ctx context.Context, e *mockbase.AuditEntry) error
}

// Options make a Shield. Settings, Store, NewMemory and Kept are needed.
type Options struct {
	// Settings are those of the server, Origins says where each came from.
	Settings *config.Settings
	Origins  map[string]config.Origin
	// Store counts; Backend is memory or redis.
	Store   ratelimit.Store
	Backend string
	// NewMemory makes a store in this process, for what falls back to it.
	NewMemory func() (*memstore.Store, error)
	// Bans and Circuits are shared by several servers; nil keeps them in this process.
	Bans     ratelimit.Bans
	Circuits ratelimit.Circuits
	Kept     Kept
	// Shared is where several servers share the settings; nil keeps them in this one.
	Shared Shared
	// Account returns the account that a request signs in to, from its context; "" is none.
	Account func(ctx context.Context) string
	// Accounts returns the e-mail addresses of all accounts, so that bans name them; nil is none.
	Accounts func(ctx context.Context) ([]string, error)
	// Secret makes digests where the settings name no identity secret; one that is kept lets digests outlive the process.
	// Without any there is a random one.
	Secret []byte
	// User returns who sends a request, if this server has verified it; nil never knows.
	User func(r *http.Request) (id string, ok bool)
	// Clock is nil for time.Now, Logger for none.
	Clock  func() time.Time
	Logger *slog.Logger
}

// Shield guards the server. It is safe for concurrent use.
type Shield struct {
	// MockEndpoint and ManagementEndpoint return the route of a request for limits by the endpoint. They are set before
	// the first request; nil takes the path.
	MockEndpoint, ManagementEndpoint func(r *http.Request) string
	// IgnoresCase tells whether letter case makes no other path of a request's. It is set as those are; nil is never.
	IgnoresCase func(r *http.Request) bool
	// TakesSecret tells whether the limit and the bans of signing in stand before a path of the management API. It is set as
	// those are; nil is never.
	TakesSecret func(path string) bool

	options   Options
	addresses *httplimit.Addresses
	identity  *httplimit.Identity
	limiters  limiters
	callers   *callers
	hits      hits
	inFlight  atomic.Int64
	// guarding tells that there is a shield at all.
	guarding bool

	// guard stands before everything that is counted, signIn and failures in addition before signing in.
	guard, signIn, failures            *guard.Guard
	mocks, management, login, loginBan *httplimit.Layers
	register                           ratelimit.Bans
	notes                              *notes
	// byEndpoint tells that a limit asks for the endpoint.
	byEndpoint atomic.Bool

	// changing orders changes of the settings and of bans.
	changing sync.Mutex
	present  atomic.Pointer[state]
	// foreign tells that somebody else's value stands where settings are shared.
	foreign bool
	// mark is that of what Redis held when bans and orders were put there, partial tells that some were not taken.
	mark    string
	partial bool
	// noted are bans of an earlier process that the register has yet to take.
	noted []mockbase.BanNote
	// edits are what was done to bans at any server, editsVersion is that of the stored ones, and editsSeen the document that
	// they have been joined with.
	edits        edits
	editsVersion int64
	editsSeen    []byte
	ends         []func() error
}

// state is the settings in force.
type state struct {
	settings mockbase.ShieldSettings
	version  int64
	// document is what they were read from or written as; the zero document is the configuration.
	document redisstore.Document
}

// The places of requests, which are also the names of the policies that are about them.
const (
	placeMocks      = "engine"
	placeManagement = "management"
	placeLogin      = "login"
)

// New makes a shield, with what was stored in force. What Close ends runs from then on.
func New(ctx context.Context, o Options) (*Shield, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Shield{options: o, callers: newCallers(o.Clock), guarding: o.Settings.ShieldEnabled}
	s.limiters.options = &s.options
	if err := s.openIdentity(); err != nil {
		return nil, err
	}
	begin, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.open(begin.settings); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.present.Store(begin)
	if err := s.loadEdits(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.options.Shared != nil {
		s.catchUp(ctx)
		s.mark, _ = s.look(ctx)
		s.syncEdits(ctx)
	}
	s.restoreForce(ctx, &s.present.Load().settings.Circuit)
	if err := errors.Join(s.restoreBans(ctx), s.restoreNotes(ctx)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.follow()
	return s, nil
}

// openIdentity makes what finds out who is asking.
func (s *Shield) openIdentity() error {
	set := s.options.Settings
	secret := []byte(set.IdentitySecret.Reveal())
	if len(secret) == 0 {
		secret = s.options.Secret
	}
	s.addresses = httplimit.NewAddresses(httplimit.AddressOptions{Logger: s.options.Logger})
	made, err := httplimit.NewIdentity(httplimit.IdentityOptions{
		Secret: secret, Addresses: s.addresses, User: s.user, Base: s.mocksBase(), IgnoreCase: s.ignoresCase, JA3Header: string(set.JA3Header),
		FingerprintLevel: httplimit.Level(set.FingerprintLevel), FingerprintParts: set.FingerprintParts,
	})
	if err != nil {
		return fmt.Errorf("make identity: %w", err)
	}
	s.identity = made
	if set.IdentitySecret == "" && s.options.Backend == BackendRedis {
		s.options.Logger.Warn("there is no secret that servers with the same Redis share: each counts tokens, cookies and hashed addresses for itself",
			slog.String("fix", "set MOCKBASE_IDENTITY_SECRET to the same text on each"))
	}
	return nil
}

// mocksBase is the part of the paths of mocks that nothing leaves (rule B8).
func (s *Shield) mocksBase() string {
	return string(s.options.Settings.BasePath) + engine.DefaultBasePath + "/"
}

func (s *Shield) user(r *http.Request) (string, bool) {
	if s.options.User == nil {
		return "", false
	}
	return s.options.User(r)
}

// open makes guards and layers.
func (s *Shield) open(settings mockbase.ShieldSettings) error {
	s.addresses.Update(s.addressing(&settings))
	s.register = s.options.Bans
	memory, err := memstore.NewBans(memstore.BanOptions{})
	if err != nil {
		return fmt.Errorf("make register of bans: %w", err)
	}
	s.notes = newNotes(&s.options)
	local := &striking{Bans: &noting{Bans: memory, notes: s.notes}, struck: s.auditBan}
	if s.register == nil {
		s.register = local
	} else {
		s.register = &striking{Bans: s.register, struck: s.auditBan}
	}
	rules, err := s.compile(&settings)
	if err != nil {
		return err
	}
	o := guard.Options{
		Bans: s.register, LocalBans: local, Circuits: s.options.Circuits, Clock: s.options.Clock, OnMatch: s.matched, OnChange: s.changed,
		LocalCircuits: memstore.NewCircuits(),
	}
	if o.Circuits == nil {
		o.Circuits = o.LocalCircuits
	}
	if rules.all.Adaptive != nil {
		o.Meter = &guard.RuntimeMeter{InFlight: s.inFlight.Load}
	}
	for _, g := range []struct {
		target *(*guard.Guard)
		rules  guard.Rules
		bare   bool
	}{{&s.guard, rules.all, false}, {&s.signIn, rules.signIn, true}, {&s.failures, rules.failures, false}} {
		made := o
		made.Rules = g.rules
		if g.bare {
			made.Bans, made.LocalBans = nil, nil // Bans are looked at by the other two.
		}
		if g.target != &s.guard {
			made.Meter, made.Circuits, made.LocalCircuits = nil, nil, nil
		}
		if *g.target, err = guard.New(made); err != nil {
			return fmt.Errorf("make shield: %w", err)
		}
		s.ends = append(s.ends, (*g.target).Close)
	}
	s.byEndpoint.Store(rules.byEndpoint)
	return s.openLayers(&settings)
}

// openLayers makes what stands before handlers.
func (s *Shield) openLayers(settings *mockbase.ShieldSettings) error {
	set := s.options.Settings
	common := httplimit.LayerOptions{
		Addresses: s.addresses, Headers: dialects(set.ShieldHeaders), Status: int(set.ShieldStatus), Body: httplimit.Body(set.ShieldBody),
		Part: s.identity.Part, LogMatches: httplimit.MatchLog(set.ShieldLogMatches), Logger: s.options.Logger, Clock: s.options.Clock,
	}
	mocks, management, login, failures := common, common, common, common
	mocks.Place, mocks.Base, mocks.Judge, mocks.HeadersOn, mocks.Pattern = placeMocks, s.mocksBase(), s.watched(s.guard, placeMocks), s.mockHeaders(settings), s.endpointOfMock
	mocks.IgnoreCase, mocks.Part = s.ignoresCase, s.mockPart
	management.Place, management.Judge, management.HeadersOn = placeManagement, s.watched(s.guard, placeManagement), s.managementHeaders()
	management.Pattern, management.Authenticated = s.endpointOfManagement, s.authenticated
	login.Place, login.Judge, login.HeadersOn = placeLogin, s.watched(s.signIn, placeLogin), s.managementHeaders()
	failures.Place, failures.Judge, failures.HeadersOn, failures.Part = placeLogin, s.failures, httplimit.OnNever, s.accountPart
	failures.Status, management.TellDryRuns, login.TellDryRuns = 0, true, true
	for _, l := range []struct {
		target  *(*httplimit.Layers)
		options httplimit.LayerOptions
	}{{&s.mocks, mocks}, {&s.management, management}, {&s.login, login}, {&s.loginBan, failures}} {
		made, err := httplimit.NewLayers(l.options)
		if err != nil {
			return fmt.Errorf("make shield: %w", err)
		}
		*l.target = made
		s.ends = append(s.ends, made.Close)
	}
	return nil
}

func dialects(list []config.Dialect) []httplimit.Dialect {
	made := make([]httplimit.Dialect, 0, len(list))
	for _, d := range list {
		made = append(made, httplimit.Dialect(d))
	}
	return made
}

// mockHeaders says which answers of mocks carry limit fields (rule RL120).
func (s *Shield) mockHeaders(settings *mockbase.ShieldSettings) httplimit.When {
	configured := httplimit.When(s.options.Settings.ShieldHeadersOn)
	switch {
	case settings.ExposeHeaders:
		return httplimit.OnAlways
	case configured == httplimit.OnAlways:
		return httplimit.OnDenied
	default:
		return configured
	}
}

// managementHeaders says the same of the management API, which always tells how much is left unless nothing shall be
// told at all (rules M-16 and RL120).
func (s *Shield) managementHeaders() httplimit.When {
	if s.options.Settings.ShieldHeadersOn == config.HeadersOn(httplimit.OnNever) {
		return httplimit.OnNever
	}
	return httplimit.OnAlways
}

// addressing is how the address of a client is found.
func (s *Shield) addressing(settings *mockbase.ShieldSettings) httplimit.AddressOptions {
	o := httplimit.AddressOptions{Header: settings.ClientHeader, IPv6Prefix: settings.IPv6Prefix}
	for _, text := range settings.TrustedProxies {
		if n, err := parseNetwork(text); err == nil {
			o.TrustedProxies = append(o.TrustedProxies, n)
		}
	}
	if s.options.Settings.ShieldHashAddresses {
		o.Digest = s.hashAddress
	}
	return o
}

// hashAddress makes a digest of an address (rule RL133).
func (s *Shield) hashAddress(text string) string { return s.identity.Digest("ip", text) }

// Client returns the address of a request's client.
func (s *Shield) Client(r *http.Request) netip.Addr { return s.addresses.Client(r) }

// Limiters are those that count, for reports.
func (s *Shield) Limiters() []*ratelimit.Limiter { return s.limiters.all() }

// Guards are the guards with the names of their places, for reports.
func (s *Shield) Guards() []*guard.Guard { return []*guard.Guard{s.guard, s.signIn, s.failures} }

// Circuit is the state of the circuit, and Factor that of the adaptive limits.
func (s *Shield) Circuit() (guard.CircuitStatus, float64) { return s.guard.Circuit(), s.guard.Factor() }

// BanStatus are the numbers of bans in force.
func (s *Shield) BanStatus() guard.BanStatus { return s.failures.BanStatus() }

// Close ends the shield. It may be called again.
func (s *Shield) Close() error {
	var errs []error
	for _, end := range slices.Backward(s.ends) {
		errs = append(errs, end())
	}
	s.ends = nil
	return errors.Join(errs...)
}
