package parking

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// tenancy is a connection as net/http has it, from when it is accepted to when it is closed.
type tenancy struct {
	net.Conn

	line *line
	// head is read before what the client sent, and is none of it.
	head []byte
	// ahead tells that the line has bytes that come first.
	ahead bool
	// used tells that there were requests before, so that HTTP/2 may not begin here; false once its beginning has passed.
	used bool
	// brief tells that the connection goes back as soon as nothing is to be read.
	brief bool
	// idle tells that net/http waits for the next request. leaving tells that closing gives the connection back to the lot; it
	// changes under the line's lock. Both are looked at much more often than they change.
	idle, leaving atomic.Bool
	// owed tells that a stop has to wait until a handler has the first request.
	owed atomic.Bool

	// The rest is guarded by the line's lock.

	// until tells how long net/http waits for the next request.
	until time.Time
	// left tells that the connection was closed, seized that it speaks HTTP no more.
	left, seized bool
}

// secureTenancy is one over TLS: net/http asks it for the state of TLS.
type secureTenancy struct {
	*tenancy

	secure *tls.Conn
}

// ConnectionState is where net/http finds what [http.Request.TLS] is to be.
func (t *secureTenancy) ConnectionState() tls.ConnectionState { return t.secure.ConnectionState() }

// lodger is what every tenancy is.
type lodger interface{ tenant() *tenancy }

var (
	_ lodger        = (*tenancy)(nil)
	_ lodger        = (*secureTenancy)(nil)
	_ io.ReaderFrom = (*tenancy)(nil)
)

func (t *tenancy) tenant() *tenancy { return t }

// NetConn returns the connection below.
func (t *tenancy) NetConn() net.Conn { return t.Conn }

// CloseWrite says that nothing more is sent, where the connection below can.
func (t *tenancy) CloseWrite() error {
	if half, ok := t.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite() //nolint:wrapcheck // it stands in for the connection
	}
	return fmt.Errorf("close one direction: %w", errors.ErrUnsupported)
}

// ReadFrom lets the system copy from files where the connection below can.
func (t *tenancy) ReadFrom(from io.Reader) (int64, error) {
	if to, ok := t.Conn.(io.ReaderFrom); ok {
		return to.ReadFrom(from) //nolint:wrapcheck // it stands in for the connection
	}
	return io.Copy(struct{ io.Writer }{t.Conn}, from) //nolint:wrapcheck // it stands in for the connection
}

// Read reads what the client sent.
func (t *tenancy) Read(p []byte) (int, error) {
	if len(t.head) > 0 {
		n := copy(p, t.head)
		t.head = t.head[n:]
		return n, nil
	}
	if t.ahead {
		if n := t.readAhead(p); n > 0 {
			return n, nil
		}
	}
	for {
		n, err := t.Conn.Read(p)
		if n > 0 {
			t.heard(p[:n])
			return n, err //nolint:wrapcheck // it stands in for the connection
		}
		if t.idle.Load() && isTimeout(err) && t.rests() {
			continue
		}
		if t.leaving.Load() {
			// To net/http it looks as if the client had gone, and it lets go of everything.
			return 0, io.EOF
		}
		return n, err //nolint:wrapcheck // it stands in for the connection
	}
}

// readAhead reads what came while nobody asked for it.
func (t *tenancy) readAhead(p []byte) int {
	t.line.mu.Lock()
	defer t.line.mu.Unlock()
	if t.leaving.Load() {
		return 0
	}
	n := copy(p, t.line.ahead)
	t.line.ahead = t.line.ahead[n:]
	t.feed(p[:n])
	t.ahead = len(t.line.ahead) > 0
	return n
}

// heard follows what net/http is given. What it gets while it lets go of the connection it does not look at.
func (t *tenancy) heard(p []byte) {
	t.line.mu.Lock()
	defer t.line.mu.Unlock()
	switch {
	case t.leaving.Load():
		t.line.ahead = append(t.line.ahead, p...)
	case !t.seized:
		t.feed(p)
	}
}

// feed follows what net/http is about to get.
func (t *tenancy) feed(p []byte) {
	if t.used {
		t.used = t.line.heads.refuse(p)
	}
	t.line.heads.feed(p)
	if t.line.heads.phase == beyond {
		// Of HTTP/2 one does not know when there is a handler.
		t.acquit()
	}
}

// acquit tells a stop that it need not wait for this one.
func (t *tenancy) acquit() {
	if t.owed.Load() && t.owed.CompareAndSwap(true, false) {
		t.line.lot.settle()
	}
}

// rests is asked when a read has timed out. It returns true when the connection must stay with net/http, for the rest of the
// time; else it goes back to the lot if that is what the time was for.
func (t *tenancy) rests() bool {
	t.line.mu.Lock()
	defer t.line.mu.Unlock()
	if t.until.IsZero() {
		return false
	}
	until := t.until
	if t.line.clean() && !t.seized {
		t.leaving.Store(true)
		return false
	}
	t.until = time.Time{}
	_ = t.Conn.SetReadDeadline(until)
	return true
}

// SetReadDeadline bounds the time of reads. While net/http waits for the next request, the time until the connection goes back
// to the lot is shorter.
func (t *tenancy) SetReadDeadline(deadline time.Time) error {
	if t.idle.Load() {
		deadline = t.shorten(deadline)
	}
	return t.Conn.SetReadDeadline(deadline) //nolint:wrapcheck // it stands in for the connection
}

// shorten returns when the connection goes back to the lot, instead of when the time for the next request is over.
func (t *tenancy) shorten(deadline time.Time) time.Time {
	l := t.line
	l.mu.Lock()
	defer l.mu.Unlock()
	t.until = time.Time{}
	if deadline.IsZero() || !l.clean() || l.lot.linger >= l.lot.idleTimeout {
		return deadline
	}
	t.until = deadline
	if t.brief {
		return longAgo
	}
	return deadline.Add(l.lot.linger - l.lot.idleTimeout)
}

// Close closes the connection, or gives it back to the lot.
func (t *tenancy) Close() error {
	// Last, as the lot is to have it by then.
	defer t.acquit()
	t.line.mu.Lock()
	leaving, left := t.leaving.Load(), t.left
	t.left = true
	t.line.mu.Unlock()
	switch {
	case !leaving:
		if d := t.line.takeDelayed(); d != nil {
			d.Left()
		}
		return t.Conn.Close() //nolint:wrapcheck // it stands in for the connection
	case !left:
		t.line.lot.take(t.line, t.until)
	}
	return nil
}

// enter follows what net/http does with the connection.
func (t *tenancy) enter(state http.ConnState) {
	switch state {
	case http.StateActive:
		t.line.served.Add(1)
		t.idle.Store(false)
		if !t.line.lot.closing.Load() {
			// Later on, net/http may still look whether it has stopped.
			t.acquit()
		}
	case http.StateIdle:
		t.idle.Store(true)
	case http.StateHijacked:
		t.line.mu.Lock()
		defer t.line.mu.Unlock()
		t.seized = true
	case http.StateNew, http.StateClosed:
	}
}

// parks gives the connection back to the lot with an answer, if nothing else is on its way.
func (t *tenancy) parks(d *Delayed) bool {
	l := t.line
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.seized || t.leaving.Load() || t.left || !l.clean() || !l.lot.enter() {
		return false
	}
	t.owed.Store(true) // Until the lot has it.
	t.leaving.Store(true)
	l.delayed = d
	return true
}

// misframed tells whether a request of this connection stated its length in two ways (RFC 9112, sections 6.1 and 6.3).
func (t *tenancy) misframed(r *http.Request) bool {
	t.line.mu.Lock()
	defer t.line.mu.Unlock()
	return t.line.heads.twice || !r.ProtoAtLeast(1, 1) && t.line.heads.everCoded
}
