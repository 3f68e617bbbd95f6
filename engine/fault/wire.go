package fault

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// What is still read of a request before its connection is closed. Closing while bytes of the client are unread would send
// a reset, which takes from the client what it has not read yet.
const (
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 256 << 10
)

// Wire is a connection of HTTP/1 that no longer speaks HTTP by itself.
type Wire struct {
	conn   net.Conn
	reader *bufio.Reader
}

// Seize takes the connection of a request from the server, after what was written so far went out. It is an error on
// HTTP/2, whose connections carry other requests as well. The caller closes the wire.
func Seize(w http.ResponseWriter) (*Wire, error) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, fmt.Errorf("seize connection: %w", err)
	}
	// The server has deadlines of its own for requests; what follows takes its time.
	if err := conn.SetDeadline(time.Time{}); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("seize connection: %w", err)
	}
	return &Wire{conn: conn, reader: buffered.Reader}, nil
}

// Write sends bytes as they are.
func (w *Wire) Write(b []byte) (int, error) { return w.conn.Write(b) }

// Watch returns a context that ends when the client leaves, for a wire on which nothing more is read. The caller must
// call stop, once, before it closes the wire.
func (w *Wire) Watch(ctx context.Context) (watched context.Context, stop func()) {
	watched, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		// Whatever the client sends now is too late. An error means that it left, or that stop was called.
		_, _ = io.Copy(io.Discard, w.reader)
	}()
	return watched, func() {
		// A deadline in the past ends the read.
		_ = w.conn.SetReadDeadline(time.Unix(1, 0))
		<-done
		_ = w.conn.SetReadDeadline(time.Time{})
	}
}

// Close ends the connection in order: the client reads everything that was sent, and then the end.
func (w *Wire) Close() {
	defer w.drop()
	half, ok := w.conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || w.conn.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	// An error means that nothing more comes.
	_, _ = io.CopyN(io.Discard, w.conn, lingerBytes)
}

// drop closes what may be closed already.
func (w *Wire) drop() { _ = w.conn.Close() }

// Reset ends the connection with RST, so that the client's read fails instead of ending.
func (w *Wire) Reset() {
	raw := Socket(w.conn)
	if lingerer, ok := raw.(interface{ SetLinger(sec int) error }); ok {
		// Without it the connection is closed in order, which is the most that such a connection can do.
		_ = lingerer.SetLinger(0)
	}
	// The socket goes first: a TLS connection would say goodbye.
	_ = raw.Close()
	w.drop()
}

// cut closes the socket below TLS, without a word.
func (w *Wire) cut() {
	_ = Socket(w.conn).Close()
	w.drop()
}

// Socket returns the connection below all others, such as that of TLS.
func Socket(conn net.Conn) net.Conn {
	for {
		var inner net.Conn
		switch outer := conn.(type) {
		case interface{ NetConn() net.Conn }:
			inner = outer.NetConn()
		case interface{ Raw() net.Conn }:
			inner = outer.Raw()
		}
		if inner == nil {
			return conn
		}
		conn = inner
	}
}

type connectionKey struct{}

// WithConnection remembers a connection in the context of its requests. It is meant for [http.Server.ConnContext]: without
// it, nothing can break a whole connection of HTTP/2 (rule Q12).
func WithConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// Connection returns the connection of a request's context, as [WithConnection] remembers it; nil for none.
func Connection(ctx context.Context) net.Conn {
	conn, _ := ctx.Value(connectionKey{}).(net.Conn)
	return conn
}
