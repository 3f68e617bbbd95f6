package management

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
	"github.com/mockbase/mockbase/management/catalog"
)

// BuildInfo names the binary.
type BuildInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	BuiltAt string `json:"builtAt"`
}

// Instance is how a server is told from others on the screen.
type Instance struct {
	Name  string `json:"name"`
	Color string `json:"color"`
}

// Options are the parts that a server is made of.
type Options struct {
	Catalog  *catalog.Catalog
	Accounts Accounts
	// Traffic is nil where nothing is recorded.
	Traffic Traffic
	// Mocks is the plane that serves mocks; nil is 404 for what asks it.
	Mocks MockPlane
	// State is what mocks remember; nil is 404 for all of that.
	State State
	// Limits are the simulated limits of mocks; nil is 404 for them.
	Limits Limits
	// Connections are the open streams of mocks; nil is 404 for them.
	Connections Connections
	Keys        *auth.KeyRing
	// Hasher hashes passwords; nil is one with the costs of rule M-36.
	Hasher *auth.Hasher
	// SetupCode lets the first administrator in; nil when there is one already.
	SetupCode *auth.SetupCode
	// Shield is put before everything below /api/v1, LoginShield in addition before what takes a secret from a person
	// (rules M-16 and M-37); nil is none.
	Shield, LoginShield func(http.Handler) http.Handler
	// LoginBan is put before what takes a secret from a person, where it sees the status of each answer: of those who
	// guess it lets nothing through (rule M-37). It finds the account that is signed in to by [SignInAccount]; nil is none.
	LoginBan func(http.Handler) http.Handler
	// Sleep holds back attempts to sign in to an account that many addresses guess at (rule M-37), until the context ends;
	// nil waits on the clock of the machine.
	Sleep func(ctx context.Context, d time.Duration) error
	// Federation signs people in by an identity provider (rule M-43); nil is none, and 404 for it.
	Federation *Federation
	// HidePasswords lets people sign in by the identity provider alone.
	HidePasswords bool
	// Guardian is what administrators see and change of the shield; nil is 404 for all of that.
	Guardian Guardian
	// Backups and Configuration are what administrators see and change of the server itself, System tells how it is; nil is
	// 404 for each.
	Backups       Backups
	Configuration Configuration
	System        func(context.Context) (mockbase.SystemState, error)
	// Settings are what administrators changed last; nil is the defaults.
	Settings func() mockbase.InstanceSettings
	// Warnings are those that a mock has among the others of its project; nil is none.
	Warnings func(*mockbase.Snapshot, *mockbase.Mock) []mockbase.FieldError
	// Drift says how the mocks of a project differ from one of its documents; nil is none.
	Drift func(s *mockbase.Snapshot, document string) []mockbase.FieldError
	// Fetch reads the file at an address, for imports and documents by URL; nil fetches nothing.
	Fetch Fetcher
	// ClientAddress tells who sent a request; nil is the peer.
	ClientAddress func(*http.Request) netip.Addr
	// Web answers / and the other pages. It may answer 404 without a body of its own; nil means that there are none.
	Web http.Handler
	// Readiness is asked by /readyz; nil is always ready.
	Readiness func(context.Context) Readiness
	// Metrics returns what /metrics answers, in the text format of Prometheus, version 0.0.4; nil is 404. An administrator
	// gets it, and everybody where PublicMetrics is set (M-243).
	Metrics       func() ([]byte, error)
	PublicMetrics bool
	// AllowedHosts are the host names that requests may be sent to, beside loopback names and the one of PublicURL.
	// Empty switches the check off: give the loopback names on a listener that only they reach (rule M-17).
	AllowedHosts []string
	// Origins may call from a browser, such as "https://tools.example.com"; ours may always.
	Origins []string
	// PublicURL is where people reach this server, MocksURL where they reach the mocks: scheme, host, port and no slash
	// at the end. Empty means as the request came.
	PublicURL, MocksURL string
	// OwnURLs are the addresses of a project that its own host and its own port have, without a slash at the end, each ""
	// where there is none; nil means that no project has any.
	OwnURLs func(slug string) (host, port string)
	// BasePath is the path that a proxy has in front of all of ours, without a slash at the end; requests come without it.
	BasePath string
	// InsecureCookies allows a refresh cookie over plain HTTP beyond loopback (rule M-35).
	InsecureCookies bool
	// MockSchema is the JSON Schema at /schemas/mock/v1.json.
	MockSchema []byte
	Instance   Instance
	Build      BuildInfo
	// Clock is nil for time.Now, Logger for none.
	Clock  func() time.Time
	Logger *slog.Logger
}

// Server answers everything that is not below /m. It is safe for concurrent use.
type Server struct {
	Options

	clock     func() time.Time
	log       *slog.Logger
	hasher    *auth.Hasher
	echo      *echo.Echo
	handler   http.Handler
	statuses  map[mockbase.Code]int
	hosts     map[string]bool
	origins   map[string]bool
	documents documents
	facts     documentFacts
	replays   *replays
	slowdown  *slowdown
	// secrets are the methods and paths of the routes that take a secret from a person.
	secrets map[string]bool
	tickets *tickets
	streams *streams
	watches watches
}

var _ http.Handler = (*Server)(nil)

var errOptions = errors.New("catalog, accounts and keys are needed")

// New makes a server. It fails when a part that it cannot do without is missing, when an address in the options is none,
// and when a route has no rights.
func New(o Options) (*Server, error) {
	if o.Catalog == nil || o.Accounts == nil || o.Keys == nil {
		return nil, fmt.Errorf("make management server: %w", errOptions)
	}
	s := &Server{
		Options: o, clock: o.Clock, log: o.Logger, hasher: o.Hasher,
		statuses: statusTable(), documents: newDocuments(o.BasePath), hosts: map[string]bool{}, origins: map[string]bool{},
	}
	s.fallbacks()
	s.replays = newReplays(s.Accounts, s.clock)
	s.tickets, s.streams = newTickets(s.clock), newStreams()
	s.slowdown, s.secrets = newSlowdown(s.clock, o.Sleep), secretRoutes()
	if err := s.places(); err != nil {
		return nil, fmt.Errorf("make management server: %w", err)
	}
	s.echo = newEcho()
	s.echo.HTTPErrorHandler = s.handleError
	s.echo.Use(s.recovered, s.pages)
	if err := s.register(s.table()); err != nil {
		return nil, fmt.Errorf("make management server: %w", err)
	}
	s.handler = s.frame(o.Shield)
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// fallbacks fills in what the options left out.
func (s *Server) fallbacks() {
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.hasher == nil {
		s.hasher = auth.NewHasher(auth.HasherOptions{})
	}
	if s.Traffic == nil {
		s.Traffic = nothing{}
	}
	if s.Readiness == nil {
		s.Readiness = func(context.Context) Readiness { return Readiness{Status: Ready} }
	}
	if s.ClientAddress == nil {
		s.ClientAddress = peerAddress
	}
}

// peerAddress is the address at the other end of the connection.
func peerAddress(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap()
}

// places reads the hosts and origins that the options name.
func (s *Server) places() error {
	for _, host := range s.AllowedHosts {
		s.hosts[hostName(host)] = true
	}
	if s.PublicURL != "" {
		at, err := readOrigin(s.PublicURL)
		if err != nil {
			return err
		}
		s.hosts[hostName(at.Host)] = true
	}
	for _, text := range s.Origins {
		at, err := readOrigin(text)
		if err != nil {
			return err
		}
		s.origins[originOf(at)] = true
	}
	return nil
}

var errOrigin = errors.New("an address is written like https://mocks.example.com")

func readOrigin(text string) (*url.URL, error) {
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, fmt.Errorf("read %q: %w", text, errOrigin)
	}
	return at, nil
}

// newEcho makes a router that says and reads nothing by itself.
func newEcho() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort, e.Debug = true, true, false
	e.Logger.SetOutput(io.Discard)
	// The client's address comes from Options.ClientAddress alone: Echo's own extractors trust headers.
	e.IPExtractor = echo.ExtractIPDirect()
	return e
}

// ownURL is where people and programs reach the management API and the pages, without a slash at the end.
func (s *Server) ownURL(r *http.Request) string {
	base := s.PublicURL
	if base == "" {
		scheme := "http://"
		if r.TLS != nil {
			scheme = "https://"
		}
		base = scheme + r.Host
	}
	return strings.TrimSuffix(base, "/") + s.BasePath
}

// mocksURL is the address below which a project's mocks answer.
func (s *Server) mocksURL(r *http.Request, slug string) string {
	if s.MocksURL == "" {
		return s.ownURL(r) + "/m/" + slug
	}
	return strings.TrimSuffix(s.MocksURL, "/") + s.BasePath + "/m/" + slug
}
