package parking

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// longAgo is a deadline that ends a read at once.
var longAgo = time.Unix(1, 0) //nolint:gochecknoglobals // a constant in all but name

// line is a connection of HTTP/1, which is with the lot or, as a tenancy, with net/http.
type line struct {
	lot  *Lot
	conn net.Conn
	// opened is when the client connected.
	opened time.Time

	// served counts the requests that net/http has read the head of.
	served atomic.Int64

	mu sync.Mutex
	// heads follows all bytes that net/http was given.
	heads heads
	// ahead are bytes that came while nobody asked for them.
	ahead []byte
	// delayed is the answer that waits, nil for none. watched tells that the lot reads, to notice the client leaving.
	delayed *Delayed
	watched bool

	first [1]byte
}

// Delayed is an answer whose handler has returned.
type Delayed struct {
	// Answer writes the answer, on the connection that it belongs to. It is called as a handler is, with a request of no
	// content, whose context ends as that of any request. Header is to be what the handler had set before.
	Answer func(w http.ResponseWriter, r *http.Request)
	// Left is called instead when the client has gone, or the server closes; the handler that parked may not have returned yet
	// then.
	Left func()

	// head is what net/http reads as the head of the request that Answer is called with.
	head []byte
	// due tells that the time has come; rung is closed then, where nobody reads.
	due  bool
	rung chan struct{}
}

// begins waits for the first byte of a request. It returns false when none comes.
func (l *line) begins() bool {
	for blank := 0; ; {
		l.passBlank(&blank)
		if len(l.ahead) > 0 {
			return true
		}
		n, _ := l.conn.Read(l.first[:])
		if n == 0 {
			return false
		}
		l.ahead = append(l.ahead, l.first[:n]...)
	}
}

// mostBlank is how many bytes of empty lines are passed over before a request: net/http does so for four.
const mostBlank = 8

// passBlank passes over the ends of empty lines before a request that is not the first (RFC 9112, section 2.2), and counts
// them. net/http does so behind a POST; a connection that was in the lot is new to it.
func (l *line) passBlank(blank *int) {
	if l.served.Load() == 0 {
		return
	}
	for len(l.ahead) > 0 && *blank < mostBlank && (l.ahead[0] == '\r' || l.ahead[0] == '\n') {
		l.ahead = l.ahead[1:]
		*blank++
	}
}

// clean tells whether net/http has read nothing but the requests whose handlers it has called.
func (l *line) clean() bool { return l.heads.whole() && l.heads.ended == l.served.Load() }

// wake tells that the time of a delayed answer has come.
func (l *line) wake(d *Delayed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.due {
		return
	}
	d.due = true
	if d.rung != nil {
		close(d.rung)
	}
	if l.watched && l.delayed == d {
		_ = l.conn.SetReadDeadline(longAgo)
	}
}

// await waits until an answer is due. It returns false when the client leaves before.
func (l *line) await(d *Delayed) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for blank := 0; !d.due && len(l.ahead) == 0; {
		l.watched = true
		_ = l.conn.SetReadDeadline(time.Time{})
		l.mu.Unlock()
		n, err := l.conn.Read(l.first[:])
		l.mu.Lock()
		l.watched = false
		if n == 0 && !isTimeout(err) {
			return false
		}
		l.ahead = append(l.ahead, l.first[:n]...)
		l.passBlank(&blank)
	}
	if !d.due {
		// The client has sent more already: like net/http, nobody looks whether it is still there.
		rung := make(chan struct{})
		d.rung = rung
		l.mu.Unlock()
		<-rung
		l.mu.Lock()
	}
	return true
}

// takeDelayed returns the answer that waits, once.
func (l *line) takeDelayed() *Delayed {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.delayed
	l.delayed = nil
	return d
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // what a connection returns is not wrapped
	return ok && timeout.Timeout()
}
