package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"sync"
	"time"
)

// maxHead is how much of an answer is looked at for the end of its head, as much as net/http allows.
const maxHead = 1 << 20

// observed is a connection to an upstream that sees answers as they came. net/http takes the field Connection away from an
// answer after which the connection closes, and with it the names of the fields that must not be passed on (rule T3). And it
// may give a connection to the next request before it looks whether something came that nobody asked for, which would be
// that one's answer: so such bytes end the connection here.
type observed struct {
	net.Conn

	mu sync.Mutex
	// method is that of the request. asked tells that something of it was written.
	method string
	asked  bool
	// head is what came of the head that is looked at; nil looks at none.
	head []byte
	// names are the values of Connection in the last whole head that was no interim one.
	names []string
	// body tells where the answer behind that head ends.
	body bodyEnd
}

// errUnasked ends a connection on which something came before a request was sent.
var errUnasked = errors.New("the upstream sent what nobody had asked for")

// NetConn is the connection below.
func (o *observed) NetConn() net.Conn { return o.Conn }

// expect looks at the answer to the next request.
func (o *observed) expect(method string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.method, o.asked = method, false
	o.head, o.names, o.body = []byte{}, nil, bodyEnd{}
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
	if n == 0 {
		return n, err //nolint:wrapcheck // a connection's own error
	}
	switch surplus, unasked := o.look(p[:n]); {
	case unasked:
		return 0, errUnasked
	case surplus && err == nil:
		// To net/http the upstream has closed the connection, so that it is given to no other request.
		return n, io.EOF
	default:
		return n, err //nolint:wrapcheck // as above
	}
}

// Write implements [net.Conn].
func (o *observed) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.asked = true
	o.mu.Unlock()
	return o.Conn.Write(p) //nolint:wrapcheck // a connection's own error
}

// look follows what came. It tells whether there is more of it than the answer, and whether it came before a request was sent.
func (o *observed) look(piece []byte) (surplus, unasked bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.asked || o.head == nil && o.body.over() {
		return true, true
	}
	if o.head == nil {
		return o.body.pass(piece), false
	}
	o.head = append(o.head, piece...)
	for {
		end, rest := endOfHead(o.head)
		if end < 0 {
			if len(o.head) > maxHead {
				o.head = nil
			}
			return false, false
		}
		head, behind := o.head[:end], o.head[rest:]
		if !interimHead(head) {
			header := headerOf(head)
			o.names, o.body, o.head = header[headerConnection], bodyBehind(o.method, head, header), nil
			return o.body.pass(behind), false
		}
		o.head = behind
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

func headerOf(head []byte) textproto.MIMEHeader {
	_, fields, _ := bytes.Cut(head, []byte("\n"))
	reader := textproto.NewReader(bufio.NewReader(strings.NewReader(string(fields) + "\r\n")))
	header, err := reader.ReadMIMEHeader()
	if err != nil {
		// The library refuses the answer too.
		return nil
	}
	return header
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
