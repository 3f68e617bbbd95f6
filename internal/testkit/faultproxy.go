//go:build unix

package testkit

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// proxyMode is what a FaultProxy does to connections.
type proxyMode int

const (
	modePass proxyMode = iota
	modeBlackHole
	modeReset
	modeRefuse
)

// FaultProxy is a TCP proxy on a loopback port that stands between a client and its server and fails on demand. It
// starts in the mode of Pass. All methods may be called at any time and hold for open connections too.
type FaultProxy struct {
	// Addr is host and port to connect to, the same through all modes.
	Addr string

	tb       testing.TB
	ctx      context.Context //nolint:containedctx // the test's, for connections made after the constructor
	accepted atomic.Int64
	pumps    sync.WaitGroup

	mu       sync.Mutex
	mode     proxyMode
	upstream string
	delay    time.Duration
	listener net.Listener
	links    map[*link]struct{}
}

// StartFaultProxy starts a proxy in front of the server at upstream. It ends with the test.
func StartFaultProxy(tb testing.TB, upstream string) *FaultProxy {
	tb.Helper()
	p := &FaultProxy{
		tb: tb, ctx: lasting(tb), upstream: upstream, links: map[*link]struct{}{},
		Addr: net.JoinHostPort("127.0.0.1", FreePort(tb)),
	}
	p.listen()
	tb.Cleanup(func() {
		p.Refuse()
		p.pumps.Wait()
	})
	return p
}

// Pass forwards everything, at once. Connections that lost bytes in a black hole are reset, since their two ends no
// longer agree.
func (p *FaultProxy) Pass() {
	p.tb.Helper()
	p.enter(modePass, 0)
}

// Delay forwards requests at once and holds each piece of an answer back for d from when it came: a server that does what
// it is told, but is far away or slow to say so.
func (p *FaultProxy) Delay(d time.Duration) {
	p.tb.Helper()
	p.enter(modePass, d)
}

// BlackHole accepts connections, swallows what is sent in either direction and never answers.
func (p *FaultProxy) BlackHole() {
	p.tb.Helper()
	p.enter(modeBlackHole, 0)
}

// Reset answers each connection, open or new, with RST.
func (p *FaultProxy) Reset() {
	p.tb.Helper()
	p.enter(modeReset, 0)
	p.Cut()
}

// Refuse closes the listener and every open connection: connecting is refused.
func (p *FaultProxy) Refuse() {
	p.tb.Helper()
	p.enter(modeRefuse, 0)
	p.Cut()
}

// Cut resets the connections that are open and changes nothing for new ones.
func (p *FaultProxy) Cut() { p.cut(func(*link) bool { return true }) }

// Forward sends the connections that are made from now on to another server. Open ones keep theirs.
func (p *FaultProxy) Forward(upstream string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.upstream = upstream
}

// Accepted returns how many connections have been accepted so far, in any mode.
func (p *FaultProxy) Accepted() int64 { return p.accepted.Load() }

// Open returns how many connections are open at the moment.
func (p *FaultProxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

func (p *FaultProxy) enter(m proxyMode, delay time.Duration) {
	p.tb.Helper()
	p.mu.Lock()
	p.mode, p.delay = m, delay
	listening := p.listener != nil
	if m == modeRefuse && listening {
		_ = p.listener.Close()
		p.listener = nil
	}
	p.mu.Unlock()
	if m != modeRefuse && !listening {
		p.listen()
	}
	if m == modePass {
		p.cut(func(l *link) bool { return l.holed.Load() })
	}
}

func (p *FaultProxy) listen() {
	p.tb.Helper()
	l, err := listen(p.ctx, p.Addr)
	if err != nil {
		p.tb.Fatalf("listen for the proxy: %v", err)
	}
	p.mu.Lock()
	p.listener = l
	p.mu.Unlock()
	p.pumps.Go(func() { p.accept(l) })
}

func (p *FaultProxy) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		p.accepted.Add(1)
		p.pumps.Go(func() { p.serve(conn) })
	}
}

// serve keeps one connection until an end of it closes or a mode cuts it.
func (p *FaultProxy) serve(client net.Conn) {
	k := &link{client: client, closed: make(chan struct{})}
	p.mu.Lock()
	mode, upstream := p.mode, p.upstream
	if mode == modePass || mode == modeBlackHole {
		p.links[k] = struct{}{}
	}
	p.mu.Unlock()
	defer p.drop(k)
	switch mode {
	case modePass:
		server, err := dial(p.ctx, upstream, startPatience)
		if err != nil || !k.join(server) {
			return
		}
		p.pumps.Go(func() {
			p.deliver(k, client, p.collect(k, server))
			p.drop(k)
		})
		p.pump(k, server, client)
	case modeBlackHole:
		k.holed.Store(true)
		p.pump(k, io.Discard, client)
	default:
		// What was refused a moment ago, or must be reset.
	}
}

// pump copies until an end closes. It reads on in a black hole, so that it hears of a client that gives up.
func (p *FaultProxy) pump(k *link, dst io.Writer, src io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		if err != nil || p.forward(k, dst, buf[:n]) != nil {
			return
		}
	}
}

// forward writes what came, unless the link has fallen into a black hole.
func (p *FaultProxy) forward(k *link, dst io.Writer, text []byte) error {
	if p.swallows() {
		k.holed.Store(true)
	}
	if k.holed.Load() {
		return nil
	}
	_, err := dst.Write(text)
	return err
}

// piece is a part of an answer, and when it is to arrive.
type piece struct {
	text []byte
	due  time.Time
}

// underway is how many pieces of answers may be on their way of one connection.
const underway = 1024

// collect reads answers as they come: a long way holds several pieces at once, and does not carry one after the other.
func (p *FaultProxy) collect(k *link, server io.Reader) <-chan piece {
	pieces := make(chan piece, underway)
	p.pumps.Go(func() {
		defer close(pieces)
		buf := make([]byte, 32<<10)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			select {
			case pieces <- piece{bytes.Clone(buf[:n]), time.Now().Add(p.answerDelay())}:
			case <-k.closed:
				return
			}
		}
	})
	return pieces
}

// deliver writes each piece when it is due, until there are no more or the link is cut.
func (p *FaultProxy) deliver(k *link, client io.Writer, pieces <-chan piece) {
	clock, err := newAlarm()
	if err != nil {
		return
	}
	defer clock.stop()
	p.pumps.Go(func() {
		<-k.closed
		clock.stop()
	})
	for next := range pieces {
		if rest := time.Until(next.due); rest > 0 && !clock.wait(rest) || p.forward(k, client, next.text) != nil {
			return
		}
	}
}

func (p *FaultProxy) answerDelay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.delay
}

func (p *FaultProxy) swallows() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode == modeBlackHole
}

func (p *FaultProxy) drop(k *link) {
	k.reset()
	p.mu.Lock()
	delete(p.links, k)
	p.mu.Unlock()
}

func (p *FaultProxy) cut(which func(*link) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k := range p.links {
		if which(k) {
			k.reset()
		}
	}
}

// link is one connection through the proxy. Once holed, it has lost bytes and forwards nothing more.
type link struct {
	client net.Conn
	holed  atomic.Bool
	closed chan struct{}

	mu     sync.Mutex
	server net.Conn
	down   bool
}

// join adds the server's end. It reports false, and closes it, if the link was cut meanwhile.
func (k *link) join(server net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.down {
		_ = server.Close()
		return false
	}
	k.server = server
	return true
}

// reset closes both ends; the client's end by RST.
func (k *link) reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.down {
		return
	}
	k.down = true
	if tcp, ok := k.client.(*net.TCPConn); ok {
		// Without lingering, closing sends RST.
		_ = tcp.SetLinger(0)
	}
	// Nothing is owed to the ends of a connection that is given up.
	_ = k.client.Close()
	if k.server != nil {
		_ = k.server.Close()
	}
	close(k.closed)
}
