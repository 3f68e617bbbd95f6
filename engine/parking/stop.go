package parking

import (
	"context"
	"fmt"
	"maps"
	"net"
	"time"
)

const (
	// spared is how long a connection may be open without a byte before a stop closes it, as with net/http.
	spared = 5 * time.Second
	// underway is how long a stop waits on a connection between two requests for what the client may have sent already.
	underway = 10 * time.Millisecond
)

// owe counts one thing more that a stop waits for.
func (l *Lot) owe() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owed++
}

// enter counts an answer that is to wait, unless the lot closes.
func (l *Lot) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing.Load() {
		return false
	}
	l.owed++
	return true
}

// settle counts one down.
func (l *Lot) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owed--
	l.check()
}

// check ends the wait of a stop when nothing is owed any more.
func (l *Lot) check() {
	if l.none != nil && l.owed == 0 {
		close(l.none)
		l.none = nil
	}
}

// bound says how long a connection may wait for a request.
func (l *Lot) bound(a *line, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing.Load() {
		until = a.lastCall()
	}
	_ = a.conn.SetReadDeadline(until)
}

// lastCall returns until when a request is waited for after a stop has begun.
func (l *line) lastCall() time.Time {
	soon := time.Now().Add(underway)
	if late := l.opened.Add(spared); l.served.Load() == 0 && late.After(soon) {
		return late
	}
	return soon
}

// Shutdown stops accepting, closes the connections between two requests, and waits until delayed answers are with their
// handlers, until new connections have had five seconds for their request, and then until all handlers are done. Whoever is
// answered from now on is told that the connection closes. At the end of ctx it fails with its error; what is left is closed
// by Close.
func (l *Lot) Shutdown(ctx context.Context) error {
	// Before anything is closed: who was told that the connection stays may send on it.
	l.server.SetKeepAlivesEnabled(false)
	select {
	case <-l.stop():
	case <-ctx.Done():
		return fmt.Errorf("wait for delayed answers: %w", ctx.Err())
	}
	// From here on net/http begins with no request.
	if err := l.server.Shutdown(ctx); err != nil {
		return err //nolint:wrapcheck // it is the server's own
	}
	return l.Close()
}

// stop stops accepting and waits on the connections that the lot has only as long as a request may come. What it returns is
// closed when every request has its handler.
func (l *Lot) stop() (none <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closing.Store(true)
	for _, from := range l.open {
		_ = from.Close() // It may be closed already.
	}
	for a, d := range l.lines {
		if d == nil {
			_ = a.conn.SetReadDeadline(a.lastCall())
		}
	}
	if l.none == nil {
		l.none = make(chan struct{})
	}
	none = l.none
	l.check()
	return none
}

// Close closes every connection, and waits until the lot has none.
func (l *Lot) Close() error {
	l.mu.Lock()
	l.closing.Store(true)
	l.ended = true
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
