package parking

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"sync"
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
}

// Lot keeps the connections of one server while nothing happens on them.
type Lot struct {
	server           *http.Server
	headerTimeout    time.Duration
	idleTimeout      time.Duration
	shortest, linger time.Duration
	tenancies        chan net.Conn
	closed           chan struct{}
	once             sync.Once
	running          sync.WaitGroup

	mu sync.Mutex
	// open are the listeners. lines are the connections that the lot has, and the answers that wait on them.
	open  []net.Listener
	lines map[*line]*Delayed
	// delayed counts the answers that wait for their handler; none is closed when there are none any more.
	delayed int
	none    chan struct{}
	// closing tells that no connection is kept any more, ended that every one is closed.
	closing, ended bool
}

// New makes the lot of a server that does not serve yet, and completes its Handler, ConnContext and ConnState. The server's
// times for headers and idle connections hold in the lot too.
func New(server *http.Server, o Options) *Lot {
	l := &Lot{
		server: server, headerTimeout: server.ReadHeaderTimeout, idleTimeout: server.IdleTimeout,
		shortest: orElse(o.Shortest, shortest), linger: orElse(o.Linger, linger),
		tenancies: make(chan net.Conn), closed: make(chan struct{}), lines: map[*line]*Delayed{},
	}
	server.Handler = &reception{next: server.Handler}
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

// Serve serves a listener until it is closed. It always returns an error, [http.ErrServerClosed] after Shutdown and Close.
func (l *Lot) Serve(from net.Listener) error { return l.serve(from, nil) }

// ServeTLS is Serve over TLS. The configuration says which protocols are offered.
func (l *Lot) ServeTLS(from net.Listener, config *tls.Config) error { return l.serve(from, config) }

func (l *Lot) serve(from net.Listener, config *tls.Config) error {
	g := &gate{Listener: from, lot: l, failed: make(chan error, 1), closed: make(chan struct{})}
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		return http.ErrServerClosed
	}
	l.open = append(l.open, from)
	l.running.Add(1)
	l.mu.Unlock()
	go func() {
		defer l.running.Done()
		if err := l.accept(from, config); !l.closes() {
			g.failed <- err
		}
	}()
	return l.server.Serve(g) //nolint:wrapcheck // it is the server's own
}

func (l *Lot) closes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing
}

// accept takes in new connections.
func (l *Lot) accept(from net.Listener, config *tls.Config) error {
	pause := shortestPause
	for {
		conn, err := from.Accept()
		switch {
		case err == nil:
			pause = shortestPause
			l.start(&line{lot: l, conn: conn}, config)
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
		defer l.running.Done()
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

// enroll lists a connection, unless the lot closes. The caller lets running know when it is done.
func (l *Lot) enroll(a *line, with *Delayed) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.closing && with == nil {
		return false
	}
	l.lines[a] = with
	l.running.Add(1)
	return true
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
	l.release(a)
	if err != nil || secure.ConnectionState().NegotiatedProtocol == "h2" {
		l.hand(secure)
		return
	}
	a.conn = secure
	l.hand(rent(a))
}

// rent makes a tenancy for a connection that the lot has.
func rent(a *line) *tenancy { return &tenancy{Conn: a.conn, line: a, ahead: len(a.ahead) > 0} }

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
	if len(a.ahead) == 0 {
		_ = a.conn.SetReadDeadline(until)
		n, _ := a.conn.Read(a.first[:])
		a.ahead = append(a.ahead, a.first[:n]...)
	}
	l.release(a)
	if len(a.ahead) == 0 {
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
			l.gone(d)
		}
		_ = a.conn.Close()
	case d == nil:
		go func() {
			defer l.running.Done()
			l.idle(a, until)
		}()
	default:
		go func() {
			defer l.running.Done()
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
			l.gone(d)
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

// enter counts an answer that is to wait, unless the lot closes.
func (l *Lot) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return false
	}
	l.delayed++
	return true
}

// answered counts an answer that waits no more.
func (l *Lot) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delayed--
	if l.delayed == 0 {
		l.endNone()
	}
}

// endNone tells who waits for it that no answer is delayed any more.
func (l *Lot) endNone() {
	if l.none != nil {
		close(l.none)
		l.none = nil
	}
}

// gone ends an answer that nobody waits for.
func (l *Lot) gone(d *Delayed) {
	defer l.answered()
	d.Left()
}

// Shutdown stops accepting, closes the connections without a request, waits until delayed answers are with their handlers and
// then until all handlers are done. At the end of ctx it fails with its error; what is left is closed by Close.
func (l *Lot) Shutdown(ctx context.Context) error {
	l.mu.Lock()
	l.closing = true
	for _, from := range l.open {
		_ = from.Close() // It may be closed already.
	}
	none := l.none
	if none == nil {
		none = make(chan struct{})
		l.none = none
	}
	if l.delayed == 0 {
		l.endNone()
	}
	for a, d := range l.lines {
		if d == nil {
			_ = a.conn.Close()
		}
	}
	l.mu.Unlock()
	select {
	case <-none:
	case <-ctx.Done():
		return fmt.Errorf("wait for delayed answers: %w", ctx.Err())
	}
	if err := l.server.Shutdown(ctx); err != nil {
		return err //nolint:wrapcheck // it is the server's own
	}
	return l.Close()
}

// Close closes every connection, and waits until the lot has none.
func (l *Lot) Close() error {
	l.mu.Lock()
	l.closing, l.ended = true, true
	for _, from := range l.open {
		_ = from.Close() // It may be closed already.
	}
	left := maps.Clone(l.lines)
	// Once it is let go of, a line may change its connection, to one over TLS.
	conns := make([]net.Conn, 0, len(left))
	for a := range left {
		conns = append(conns, a.conn)
	}
	l.mu.Unlock()
	l.once.Do(func() { close(l.closed) })
	err := l.server.Close()
	for _, conn := range conns {
		_ = conn.Close()
	}
	for a, d := range left {
		if d != nil {
			a.wake(d)
		}
	}
	l.running.Wait()
	return err //nolint:wrapcheck // it is the server's own
}
