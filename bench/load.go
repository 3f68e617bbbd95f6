package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Load is a number of clients that call one server as fast as it answers.
type Load struct {
	// Addr is a loopback host and port.
	Addr string
	// Requests are the bytes that each client sends in turn; clients begin at different ones.
	Requests [][]byte
	// Numbered counts up the number in the only request, so that a hundred thousand different ones cost the clients nothing.
	Numbered Numbers
	// Clients is the number of connections.
	Clients int
	// For ends the load after a time, Count after so many requests; a zero member does not end it, and one must be set.
	For   time.Duration
	Count int64
	// Pause is what each client waits between requests; 0 is none.
	Pause time.Duration
}

// Numbers are the decimal digits in a request that count from 0, each client from another place.
type Numbers struct {
	// At is the place of the first digit, Digits their number, and Count how many different requests there are; 0 is one.
	At, Digits, Count int
}

// write writes a number where its digits are.
func (n Numbers) write(request []byte, number int) {
	for i := n.At + n.Digits - 1; i >= n.At; i-- {
		request[i] = byte('0' + number%10)
		number /= 10
	}
}

// Outcome is what came of a load.
type Outcome struct {
	// Requests counts the answers, Refused those of them whose status was not 200.
	Requests, Refused int64
	Took              time.Duration
	// Median is the time of the middle one, where that was measured.
	Median time.Duration
}

// PerSecond is the throughput.
func (o Outcome) PerSecond() float64 { return float64(o.Requests) / o.Took.Seconds() }

// answerPatience bounds the wait for one answer beyond the length of the load.
const answerPatience = time.Minute

// Run calls the server until the load ends. An answer that does not come, or that no HTTP server would send, is an
// error; one with another status than 200 is not.
func (l *Load) Run(ctx context.Context) (Outcome, error) {
	if l.Clients <= 0 || len(l.Requests) == 0 || l.For == 0 && l.Count == 0 {
		return Outcome{}, fmt.Errorf("load of %d clients and %d requests for %v or %d never ends", l.Clients, len(l.Requests), l.For, l.Count)
	}
	clients := make([]*client, l.Clients)
	for i := range clients {
		c, err := l.connect(ctx)
		if err != nil {
			return Outcome{}, err
		}
		defer func() { _ = c.conn.Close() }()
		clients[i] = c
	}
	until := &limit{counts: l.Count > 0}
	until.left.Store(l.Count)
	if l.For > 0 {
		defer time.AfterFunc(l.For, until.end).Stop()
	}
	defer context.AfterFunc(ctx, until.end)()
	var group sync.WaitGroup
	began := time.Now()
	for i, c := range clients {
		group.Go(func() { c.err = l.work(ctx, c, i*max(len(l.Requests), l.Numbered.Count)/len(clients), until) })
	}
	group.Wait()
	return sum(clients, time.Since(began))
}

// limit says when a load ends.
type limit struct {
	ended  atomic.Bool
	counts bool
	left   atomic.Int64
}

func (l *limit) end() { l.ended.Store(true) }

// more takes one request from what is left.
func (l *limit) more() bool {
	return !l.ended.Load() && (!l.counts || l.left.Add(-1) >= 0)
}

// work sends the requests in turn, from the one at first.
func (l *Load) work(ctx context.Context, c *client, first int, until *limit) error {
	numbered := bytes.Clone(l.Requests[0])
	for n := first; n == first && !until.counts || until.more(); n++ {
		request := l.Requests[n%len(l.Requests)]
		if l.Numbered.Count > 0 {
			l.Numbered.write(numbered, n%l.Numbered.Count)
			request = numbered
		}
		if err := c.exchange(request); err != nil {
			return err
		}
		if l.Pause > 0 {
			pause(ctx, l.Pause)
		}
	}
	return nil
}

func sum(clients []*client, took time.Duration) (Outcome, error) {
	out := Outcome{Took: took}
	var errs []error
	for _, c := range clients {
		out.Requests += c.answers
		out.Refused += c.refused
		errs = append(errs, c.err)
	}
	return out, errors.Join(errs...)
}

// pause waits, or less when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// client is one connection that is kept open.
type client struct {
	conn             net.Conn
	buffer           []byte
	have             int
	answers, refused int64
	err              error
}

func (l *Load) connect(ctx context.Context) (*client, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", l.Addr)
	if err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	// One deadline for the whole load: setting one for each answer would cost as much as a tenth of the answer.
	if l.For > 0 {
		_ = conn.SetDeadline(time.Now().Add(l.For + answerPatience))
	}
	return &client{conn: conn, buffer: make([]byte, 64<<10)}, nil
}

const (
	statusOK      = "HTTP/1.1 200 "
	endOfHead     = "\r\n\r\n"
	contentLength = "\r\nContent-Length: "
)

// exchange sends one request and takes its answer in.
func (c *client) exchange(request []byte) error {
	if _, err := c.conn.Write(request); err != nil {
		return fmt.Errorf("send request %d: %w", c.answers+1, err)
	}
	for {
		size, err := answerSize(c.buffer[:c.have])
		if err != nil {
			return fmt.Errorf("read answer %d: %w", c.answers+1, err)
		}
		if size > 0 && c.have >= size {
			if !bytes.HasPrefix(c.buffer, []byte(statusOK)) {
				c.refused++
			}
			c.have = copy(c.buffer, c.buffer[size:c.have])
			c.answers++
			return nil
		}
		n, err := c.conn.Read(c.buffer[c.have:])
		if c.have += n; err != nil {
			return fmt.Errorf("read answer %d: %w", c.answers+1, err)
		}
	}
}

// answerSize is the length of the answer that data begins with, or 0 when its head is not all there. Bodies are never
// chunked here.
func answerSize(data []byte) (int, error) {
	head := bytes.Index(data, []byte(endOfHead))
	if head < 0 {
		return 0, nil
	}
	at := bytes.Index(data[:head], []byte(contentLength))
	if at < 0 {
		return 0, fmt.Errorf("answer without a length: %q", data[:head])
	}
	digits := data[at+len(contentLength) : head]
	if end := bytes.IndexByte(digits, '\r'); end >= 0 {
		digits = digits[:end]
	}
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return 0, fmt.Errorf("answer with the length %q", digits)
	}
	return head + len(endOfHead) + n, nil
}
