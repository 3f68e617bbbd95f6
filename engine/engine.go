package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/outbound"
	"github.com/mockbase/mockbase/engine/session"
	"github.com/mockbase/mockbase/engine/simlimit"
	"github.com/mockbase/mockbase/engine/sse"
	"github.com/mockbase/mockbase/engine/webhook"
	"github.com/mockbase/mockbase/engine/websocket"
	"github.com/mockbase/mockbase/ratelimit"
)

// The bounds that hold where the options say nothing (rules N7 and N8).
const (
	DefaultMaxBody   = 10 << 20
	DefaultMaxTarget = 16 << 10
	DefaultMaxHeader = 64 << 10
	// DefaultRecordCap holds nearly every body that a person would read in the journal.
	DefaultRecordCap = 64 << 10
	// DefaultBasePath is the path that all projects live below.
	DefaultBasePath = "/m"
)

// Shield decides whether a request may enter. It sees every request but preflights, before the body is read.
type Shield interface {
	// Admit returns false when the request is refused; the answer is written then.
	Admit(w http.ResponseWriter, r *http.Request) (Admission, bool)
	// Done is told once what status the request was answered with, that of a refused one too; 0 is no answer at all.
	Done(a Admission, status int)
}

// Admission is what a shield says of a request.
type Admission struct {
	// Decision is the one to record; it has no policy where no limit was asked.
	Decision ratelimit.Decision
	// Policy names what refused the request, or "".
	Policy string
	// WouldLimit tells that a rule in dry run would have refused the request.
	WouldLimit bool
	// Ticket is the shield's own and comes back with Done.
	Ticket any
}

// Recorder keeps exchanges. Record must not block, and may not change the exchange.
type Recorder interface {
	Record(x *mockbase.Exchange)
}

// Sandbox says whose word counts about the browser sandbox (rule Y10).
type Sandbox int

// The operator's choices. With SandboxProject, a project may switch the sandbox off for its own mocks.
const (
	SandboxOn Sandbox = iota
	SandboxProject
	SandboxOff
)

// Options say how an engine serves. The zero value serves below /m, without a shield and without recording.
type Options struct {
	// BasePath is the path that the projects live below, without a slash at the end; "" is DefaultBasePath.
	BasePath string
	// Shield guards all projects; nil is none.
	Shield Shield
	// ClientAddress finds the address of a request's client; nil takes the peer's.
	ClientAddress func(r *http.Request) netip.Addr
	// Admits tells whether a request may call the mocks of a project that asks for a token; nil admits none (rule Y11).
	Admits func(r *http.Request, projectID string) bool
	// Explains tells whether a request may be told why it is answered as it is; nil lets nobody know (rule AA27).
	Explains func(r *http.Request, projectID string) bool
	// Journal keeps exchanges; nil records nothing. A nil pointer in the interface is not nil.
	Journal Recorder
	// Mocks makes mocks of what passes through proxies that record; nil records none.
	Mocks MockRecorder
	// FilesRoot is the folder that file bodies are read from; "" is none (rule O17). Nothing outside it is ever read.
	FilesRoot string
	// RecordCap is how many bytes of a body are recorded; 0 is DefaultRecordCap.
	RecordCap int
	// MaxBody and MaxTarget bound the request body and target in bytes; 0 is the default.
	MaxBody, MaxTarget int64
	// MaxHeader is the bound that the HTTP server has for the head of a request, in bytes; 0 is the default. The engine looks
	// at it for requests that are only described.
	MaxHeader int64
	// BodyTime is how long a request's body may take, besides the time for its length at 16 KiB a second; 0 is a minute.
	BodyTime time.Duration
	// MatchTime is how much processor time the conditions of mocks may spend on one request; 0 is five seconds. A negative
	// one refuses whatever is large enough to be measured.
	MatchTime time.Duration
	// SharedOrigin tells that the dashboard is served from the same origin, so that pages of mocks are sandboxed in
	// browsers unless Sandbox says otherwise (rule Y10).
	SharedOrigin bool
	Sandbox      Sandbox
	// Describe compiles OpenAPI documents; nil refuses them.
	Describe Describe
	// Join reads a document below the files root together with the files that it refers to; nil reads it alone.
	Join Join
	// Upstreams says which addresses proxies and webhooks may call (rules S5, S6 and T13).
	Upstreams outbound.Options
	// MaxStreams bounds the open event streams, and likewise the WebSocket conversations; 0 is the default of both.
	MaxStreams int
	// Limits keeps the buckets of simulated limits. Without it none is served: what asks for one is refused.
	Limits *simlimit.Keeper
	// KeySecret makes the digests of secrets in keys of limits (rule M-81). Engines that share buckets share it; none is a
	// random one.
	KeySecret []byte
	// MaxSessions bounds the sessions of each project beside the default one; 0 is session.DefaultQuota (rule AA7).
	MaxSessions int
	// Data keeps the data of collections that persist; nil keeps none beyond the engine's life (rule V16).
	Data DataStore
	// Clock says what time it is; nil is time.Now.
	Clock func() time.Time
	// Logger hears of published programs; nil is silent.
	Logger *slog.Logger
}

// Engine answers the requests of the mock plane. Its methods may be called at the same time.
type Engine struct {
	options Options
	// prefix is the base path with a slash at the end.
	prefix string
	// nowhere stands for a project that does not exist: no mocks, default settings.
	nowhere *program
	// files is the root of file bodies, nil without one.
	files    *os.Root
	scripts  scripts
	programs atomic.Pointer[registry]
	// maxSessions bounds the sessions of each project; 0 is the default.
	maxSessions atomic.Int64
	// examined is the program of the snapshot that Warnings saw last.
	examined atomic.Pointer[program]
	// prepared are programs that may be published next, by the ids of their projects.
	prepared sync.Map
	// checked are the routes of mocks that may be stored next.
	checked checkedRoutes
	date    dateLine
	library library
	calls   sync.Pool

	// policy is the operator's, and reach that of the projects that do not narrow it.
	policy  *outbound.Policy
	reach   *reach
	streams *sse.Hub
	talks   *websocket.Host
	hooks   *webhook.Queue

	// keeper stores the data of collections that persist, nil without a store.
	keeper *keeper

	// serials name what sessions remember.
	serials atomic.Uint64

	mu sync.Mutex
	// sessions are those of each published project.
	sessions map[string]*session.Registry
	// history is what served each published project before.
	history map[string]*past
	ended   context.Context //nolint:containedctx // all waits end with it
	end     context.CancelFunc
}

var _ http.Handler = (*Engine)(nil)

// New makes an engine without projects.
func New(o Options) (*Engine, error) {
	if o.BasePath == "" {
		o.BasePath = DefaultBasePath
	}
	if o.BasePath[0] != '/' || o.BasePath[len(o.BasePath)-1] == '/' {
		return nil, fmt.Errorf("make engine: base path %q does not begin with a slash, or ends with one", o.BasePath)
	}
	if o.MaxBody < 0 || o.MaxTarget < 0 || o.RecordCap < 0 {
		return nil, fmt.Errorf("make engine: a bound is negative (body %d, target %d, recorded %d)", o.MaxBody, o.MaxTarget, o.RecordCap)
	}
	o.complete()
	e := &Engine{options: o, prefix: o.BasePath + "/", sessions: make(map[string]*session.Registry), history: make(map[string]*past)}
	e.LimitSessions(o.MaxSessions)
	e.ended, e.end = context.WithCancel(context.Background())
	e.policy = outbound.New(o.Upstreams)
	e.reach = e.newReach(e.policy, nil)
	e.streams, e.talks, e.hooks = sse.NewHub(o.MaxStreams), websocket.NewHost(o.MaxStreams), webhook.New(e.reach.hooks, e.reportHook)
	e.programs.Store(&registry{})
	if err := e.openFiles(); err != nil {
		return nil, err
	}
	nowhere, err := e.compile(&mockbase.Snapshot{Project: &mockbase.Project{}}, nil)
	if err != nil {
		return nil, fmt.Errorf("make engine: %w", err)
	}
	e.nowhere, e.keeper = nowhere, startKeeper(o.Data, o.Logger)
	return e, nil
}

// complete fills in what the caller left to the engine.
func (o *Options) complete() {
	if len(o.KeySecret) == 0 {
		o.KeySecret = []byte(rand.Text())
	}
	o.MaxBody = orDefault(o.MaxBody, DefaultMaxBody)
	o.MaxTarget = orDefault(o.MaxTarget, DefaultMaxTarget)
	if o.BodyTime == 0 {
		o.BodyTime = bodyTime
	}
	if o.MatchTime == 0 {
		o.MatchTime = matchTime
	}
	o.MaxHeader = max(orDefault(o.MaxHeader, DefaultMaxHeader), headerSlack+1)
	o.RecordCap = orDefault(o.RecordCap, DefaultRecordCap)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ClientAddress == nil {
		o.ClientAddress = peerAddress
	}
}

func (e *Engine) openFiles() error {
	if e.options.FilesRoot == "" {
		return nil
	}
	root, err := os.OpenRoot(e.options.FilesRoot)
	if err != nil {
		return fmt.Errorf("open files root: %w", err)
	}
	e.files = root
	return nil
}

func orDefault[T int | int64](n, otherwise T) T {
	if n == 0 {
		return otherwise
	}
	return n
}

func peerAddress(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap()
}

// Flush stores what collections that persist hold by now (rule V16). Call it once more when the last request was answered
// after Close.
func (e *Engine) Flush(ctx context.Context) error { return e.keeper.flush(ctx) }

// Close ends all delays, so that the answers in flight finish at once (rule N13), waits a moment for webhooks under way
// (rule S9), stores what persists, and closes the files root. It may be called again.
func (e *Engine) Close() error {
	e.end()
	ctx, cancel := context.WithTimeout(context.Background(), closingTime)
	defer cancel()
	e.hooks.Close(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.keeper.close()
	for _, sessions := range e.sessions {
		sessions.Close()
	}
	for _, p := range e.programs.Load().byID {
		p.reach.close()
	}
	e.reach.close()
	if e.files == nil {
		return err
	}
	return errors.Join(err, e.files.Close())
}
