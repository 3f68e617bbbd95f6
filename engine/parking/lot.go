package parking

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase/engine/fault"
)

const (
	// shortest is the least delay that a connection is parked for: parking costs some microseconds.
	shortest = 100 * time.Millisecond
	// linger is how long a connection stays with net/http between two requests. Who sends many requests keeps it there.
	linger = time.Second
)

// Options say how a lot keeps connections.
type Options struct {
	// Shortest is the least delay that is worth it; 0 is 100 milliseconds.
	Shortest time.Duration
	// Linger is how long net/http keeps a connection between two requests; 0 is a second.
	Linger time.Duration
	// Refuse answers, in net/http's place, a request that it hands to no handler; a connection of HTTP/1 closes then. Nil, and
	// no answer, leave it to net/http.
	Refuse func(r *Refused) *http.Response
	// MaxHead bounds the head of a request of HTTP/2 in bytes, as RFC 9113, section 6.5.2, counts them: Refuse answers one that
	// is longer by up to 192 KiB. 0 leaves the bound to the server's MaxHeaderBytes, which is always that of HTTP/1.
	MaxHead int
}

// Lot keeps the connections of one server while nothing happens on them.
type Lot struct {
	server           *http.Server
	headerTimeout    time.Duration
	idleTimeout      time.Duration
	shortest, linger time.Duration
	refuse           func(r *Refused) *http.Response
	maxHead          int
	widened          sync.Once
	tenancies        chan net.Conn
	closed           chan struct{}
	once             sync.Once
	running          sync.WaitGroup

	mu sync.Mutex
	// open are the listeners. lines are the connections that the lot has, and the answers that wait on them.
	open  []net.Listener
	lines map[*line]*Delayed
	// owed counts what a stop waits for: the connections that the lot has, and those whose request has no handler yet.
	owed int
	// none is closed when the lot stops and owes nothing any more.
	none chan struct{}
	// closing tells that no connection is kept any more; it changes under mu. ended tells that every one is closed.
	closing atomic.Bool
	ended   bool
}

// New makes the lot of a server that does not serve yet, and completes its Handler, ConnContext and ConnState. The server's
// times for headers and idle connections hold in the lot too.
func New(server *http.Server, o Options) *Lot {
	l := &Lot{
		server: server, headerTimeout: server.ReadHeaderTimeout, idleTimeout: server.IdleTimeout,
		shortest: orElse(o.Shortest, shortest), linger: orElse(o.Linger, linger), refuse: o.Refuse, maxHead: o.MaxHead,
		tenancies: make(chan net.Conn), closed: make(chan struct{}), lines: map[*line]*Delayed{},
	}
	server.Handler = &reception{next: server.Handler, lot: l}
	server.ConnContext = fault.WithConnection
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		if in, ok := conn.(lodger); ok {
			in.tenant().enter(state)
		}
	}
	return l
}

func orElse(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// Serve serves a listener until it is closed, and closes it. It always returns an error, [http.ErrServerClosed] after Shutdown and Close.
func (l *Lot) Serve(from net.Listener) error { return l.serve(from, nil) }

// ServeTLS is Serve over TLS. The configuration says which protocols are offered.
func (l *Lot) ServeTLS(from net.Listener, config *tls.Config) error { return l.serve(from, config) }

func (l *Lot) serve(from net.Listener, config *tls.Config) error {
	g := &gate{Listener: from, lot: l, failed: make(chan error, 1), closed: make(chan struct{})}
	l.mu.Lock()
	if l.closing.Load() {
		l.mu.Unlock()
		_ = from.Close() // Clients must not wait on it for ever.
		return http.ErrServerClosed
	}
	l.open = append(l.open, from)
	l.running.Add(1)
	l.mu.Unlock()
	go func() {
		defer l.running.Done()
		if err := l.accept(from, config); !l.closing.Load() {
			g.failed <- err
		}
	}()
	return l.server.Serve(g) //nolint:wrapcheck // it is the server's own
}

// accept takes in new connections.
func (l *Lot) accept(from net.Listener, config *tls.Config) error {
	pause := shortestPause
	for {
		conn, err := from.Accept()
		switch {
		case err == nil:
			pause = shortestPause
			l.start(&line{lot: l, conn: conn, opened: time.Now()}, config)
		case !isPassing(err):
			return err //nolint:wrapcheck // it is the listener's own
		default:
			// There is no room for more at the moment. Those that are open go on.
			select {
			case <-time.After(pause):
				pause = min(2*pause, longestPause)
			case <-l.closed:
			}
		}
	}
}

// The pauses of a listener that can accept nothing more at the moment.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = time.Second
)

func isPassing(err error) bool {
	passing, ok := err.(interface{ Temporary() bool })
	return ok && passing.Temporary() && !errors.Is(err, net.ErrClosed)
}

// start receives a new connection.
func (l *Lot) start(fresh *line, config *tls.Config) {
	if !l.enroll(fresh, nil) {
		_ = fresh.conn.Close()
		return
	}
	go func() {
		defer l.depart()
		if config != nil {
			l.shakeHands(fresh, config)
			return
		}
		var until time.Time
		if l.headerTimeout > 0 {
			until = time.Now().Add(l.headerTimeout)
		}
		l.idle(fresh, until)
	}()
}

// enroll lists a connection, unless the lot closes and nothing has begun on it. The caller departs when it is done.
func (l *Lot) enroll(a *line, with *Delayed) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.closing.Load() && with == nil && len(a.ahead) == 0 {
		return false
	}
	l.lines[a] = with
	l.owed++
	l.running.Add(1)
	return true
}

// depart is called when a connection has left the lot.
func (l *Lot) depart() {
	l.settle()
	l.running.Done()
}

// release takes a connection from the list.
func (l *Lot) release(a *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.lines, a)
}

// shakeHands begins TLS. HTTP/2 and clients that do not get so far are net/http's alone.
func (l *Lot) shakeHands(a *line, config *tls.Config) {
	secure := tls.Server(a.conn, config)
	ctx := context.Background()
	if l.headerTimeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, l.headerTimeout)
		defer cancel()
		ctx = bounded
	}
	err := secure.HandshakeContext(ctx)
	refused := err != nil && a.refuseClear(err)
	l.release(a)
	if refused {
		return
	}
	_ = a.conn.SetReadDeadline(time.Time{})
	if err != nil || secure.ConnectionState().NegotiatedProtocol == "h2" {
		l.hand(secure)
		return
	}
	a.conn = secure
	l.hand(rent(a))
}

// rent makes a tenancy for a connection that the lot has. It is owed a handler.
func rent(a *line) *tenancy {
	t := &tenancy{Conn: a.conn, line: a, ahead: len(a.ahead) > 0, used: a.served.Load() > 0}
	t.owed.Store(true)
	a.lot.owe()
	return t
}

// hand gives a connection to net/http.
func (l *Lot) hand(conn net.Conn) {
	if t, ok := conn.(*tenancy); ok {
		if secure, ok := t.Conn.(*tls.Conn); ok {
			conn = &secureTenancy{tenancy: t, secure: secure}
		}
	}
	select {
	case l.tenancies <- conn:
	case <-l.closed:
		_ = conn.Close()
	}
}

// idle waits for the first byte of a request.
func (l *Lot) idle(a *line, until time.Time) {
	l.bound(a, until)
	begun := a.begins()
	l.release(a)
	if !begun {
		_ = a.conn.Close()
		return
	}
	l.hand(rent(a))
}

// take takes a connection back from net/http, which may wait for a request until then, or has left an answer.
func (l *Lot) take(a *line, until time.Time) {
	a.mu.Lock()
	d := a.delayed
	a.mu.Unlock()
	switch {
	case !l.enroll(a, d):
		if a.takeDelayed() != nil {
			d.Left()
		}
		_ = a.conn.Close()
	case d == nil:
		go func() {
			defer l.depart()
			l.idle(a, until)
		}()
	default:
		go func() {
			defer l.depart()
			l.wait(a, d)
		}()
	}
}

// wait waits until an answer is due, and has net/http call for it.
func (l *Lot) wait(a *line, d *Delayed) {
	stays := a.await(d)
	l.release(a)
	if !stays {
		if a.takeDelayed() != nil {
			d.Left()
		}
		_ = a.conn.Close()
		return
	}
	t := rent(a)
	t.head, t.brief = d.head, true
	a.mu.Lock()
	a.heads.ended++
	a.mu.Unlock()
	l.hand(t)
}
