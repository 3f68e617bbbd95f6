package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"sync"
	"time"
)

// maxHead is how much of an answer is looked at for the end of its head, as much as net/http allows.
const maxHead = 1 << 20

// observed is a connection to an upstream that sees the heads of answers as they came. net/http takes the field Connection
// away from an answer after which the connection closes, and with it the names of the fields that must not be passed on
// (rule T3).
type observed struct {
	net.Conn

	mu sync.Mutex
	// head is what came of the head that is looked at; nil looks at none.
	head []byte
	// names are the values of Connection in the last whole head that was no interim one.
	names []string
}

// NetConn is the connection below.
func (o *observed) NetConn() net.Conn { return o.Conn }

// expect looks at the next head.
func (o *observed) expect() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.head, o.names = []byte{}, nil
}

// connection returns what the answer's head says of the connection.
func (o *observed) connection() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.names
}

// Read implements [net.Conn].
func (o *observed) Read(p []byte) (int, error) {
	n, err := o.Conn.Read(p)
	if n > 0 {
		o.look(p[:n])
	}
	return n, err //nolint:wrapcheck // a connection's own error
}

func (o *observed) look(piece []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.head == nil {
		return
	}
	o.head = append(o.head, piece...)
	for {
		end, rest := endOfHead(o.head)
		if end < 0 {
			if len(o.head) > maxHead {
				o.head = nil
			}
			return
		}
		head := o.head[:end]
		if !interimHead(head) {
			o.names, o.head = connectionOf(head), nil
			return
		}
		o.head = o.head[rest:]
	}
}

// endOfHead finds the empty line that ends a head, and what follows it. Lines may end without CR, as net/http reads them.
func endOfHead(b []byte) (end, rest int) {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return -1, 0
		}
		at += i + 1
		switch {
		case bytes.HasPrefix(b[at:], []byte("\n")):
			return at, at + 1
		case bytes.HasPrefix(b[at:], []byte("\r\n")):
			return at, at + 2
		}
	}
}

// interimHead tells whether another head follows.
func interimHead(head []byte) bool {
	_, status, _ := bytes.Cut(head, []byte(" "))
	return bytes.HasPrefix(status, []byte("1")) && !bytes.HasPrefix(status, []byte("101"))
}

func connectionOf(head []byte) []string {
	_, fields, _ := bytes.Cut(head, []byte("\n"))
	reader := textproto.NewReader(bufio.NewReader(strings.NewReader(string(fields) + "\r\n")))
	header, err := reader.ReadMIMEHeader()
	if err != nil {
		// The library refuses the answer too.
		return nil
	}
	return header[headerConnection]
}

// observe lets a transport see the heads of answers of HTTP/1. Those of HTTP/2 have no Connection.
func observe(t *http.Transport) *http.Transport {
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &observed{Conn: conn}, nil
	}
	t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		raw, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		config := t.TLSClientConfig.Clone()
		if host, _, err := net.SplitHostPort(address); err == nil && config.ServerName == "" {
			config.ServerName = host
		}
		return secure(ctx, raw, config, t.TLSHandshakeTimeout)
	}
	return t
}

// secure shakes hands. A connection that speaks HTTP/2 is returned as it is, so that net/http knows it.
func secure(ctx context.Context, raw net.Conn, config *tls.Config, patience time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("shake hands: %w", err)
	}
	if conn.ConnectionState().NegotiatedProtocol == "h2" {
		return conn, nil
	}
	return &observed{Conn: conn}, nil
}
