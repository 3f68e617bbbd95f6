package engine

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/parking"
)

// headerSlack is what net/http reads beyond the bound that it is given.
const headerSlack = 4096

// readingTime bounds how long the reading of one head may take: nothing is waited for but this process.
const readingTime = 5 * time.Second

// wireRefusal is what the HTTP server itself answers to a request that it hands to nobody.
type wireRefusal struct {
	status int
	header http.Header
	body   []byte
	// text is what net/http says.
	text string
}

// reason says why, in the server's own words.
func (f *wireRefusal) reason() string {
	text := cmp.Or(f.text, http.StatusText(f.status))
	return "the server refuses the request before any mock is asked: " + text
}

// readHead reads the head of a request as the server of the mocks does: by that very server, over a connection within the
// process. It returns the request, or the answer of the server when it refuses it.
func readHead(ctx context.Context, head []byte, maxHeader int64) (*http.Request, *wireRefusal, error) {
	ctx, cancel := context.WithTimeout(ctx, readingTime)
	defer cancel()
	client, served := net.Pipe()
	read := make(chan *http.Request, 1)
	server := &http.Server{
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case read <- r.Clone(ctx):
			default: // something that looks like another request followed
			}
			panic(http.ErrAbortHandler)
		}),
		MaxHeaderBytes:               int(maxHeader) - headerSlack,
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            readingTime,
		ErrorLog:                     slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	var running sync.WaitGroup
	defer running.Wait()
	listener := newOneConn(served)
	defer func() { _, _ = server.Close(), client.Close() }()
	running.Go(func() { _ = server.Serve(listener) }) // it ends with the listener
	running.Go(func() { _, _ = client.Write(head) })  // it ends with the connection
	refused := make(chan *wireRefusal, 1)
	running.Go(func() { refused <- readRefusal(client) })
	for {
		select {
		case r := <-read:
			return r, nil, nil
		case answer := <-refused:
			select {
			case r := <-read:
				return r, nil, nil
			default:
			}
			if answer != nil {
				return nil, answer, nil
			}
			return nil, nil, io.ErrUnexpectedEOF
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// readRefusal reads the server's answer, nil if it gives none.
func readRefusal(from net.Conn) *wireRefusal {
	answer, err := http.ReadResponse(bufio.NewReader(from), nil)
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, headerSlack))
	if err != nil && len(body) == 0 {
		body = nil
	}
	return &wireRefusal{status: answer.StatusCode, header: answer.Header, body: body, text: strings.TrimSpace(string(body))}
}

// refusedAs puts the answer that a client gets in the place of net/http's.
func (e *Engine) refusedAs(f *wireRefusal, head []byte) *wireRefusal {
	if f.text == "" && f.status != http.StatusExpectationFailed {
		return f
	}
	r := &parking.Refused{Status: f.status, Reason: f.text, InLine: int64(bytes.IndexByte(head, '\n')) > e.options.MaxHeader}
	if f.status != http.StatusNotImplemented {
		_, r.Reason, _ = strings.Cut(f.text, ": ")
	}
	bounds := HeadBounds{MaxHeader: e.options.MaxHeader, MaxTarget: e.options.MaxTarget, BasePath: e.pages()}
	answer := RefuseHead(r, bounds, mockbase.NewID("req_", e.options.Clock()))
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return f
	}
	return &wireRefusal{status: answer.StatusCode, header: answer.Header, body: body, text: f.text}
}

// oneConn is a listener with one connection.
type oneConn struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	addr   net.Addr
}

var _ net.Listener = (*oneConn)(nil)

func newOneConn(c net.Conn) *oneConn {
	l := &oneConn{conns: make(chan net.Conn, 1), closed: make(chan struct{}), addr: c.LocalAddr()}
	l.conns <- c
	return l
}

// Accept implements net.Listener.
func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *oneConn) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *oneConn) Addr() net.Addr { return l.addr }
