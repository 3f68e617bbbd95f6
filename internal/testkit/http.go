package testkit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// httpPatience bounds every wait of an HTTPConn; a correct server on loopback takes a thousandth of it.
const httpPatience = 30 * time.Second

// HeaderLine is one header line of an answer, in the letters it was sent with.
type HeaderLine struct {
	Name, Value string
}

// Answer is an HTTP/1.1 answer as it came over the wire.
type Answer struct {
	// StatusLine is the first line without its line end.
	StatusLine string
	Status     int
	// Lines are the header lines in their order, letter case and number.
	Lines []HeaderLine
	// Body is the content, without the framing of chunks.
	Body []byte
	// Chunks are the sizes of the chunks, the last empty one left out; nil for a body that is not chunked.
	Chunks []int
	// Trailer are the lines after the last chunk.
	Trailer []HeaderLine
	// Interim are the status lines of the 1xx answers before this one.
	Interim []string
}

// Get returns the value of the first line of this name in any letter case, or "".
func (a *Answer) Get(name string) string {
	if values := a.Values(name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// Values returns the values of all lines of this name in any letter case, in their order.
func (a *Answer) Values(name string) []string {
	var all []string
	for _, line := range a.Lines {
		if strings.EqualFold(line.Name, name) {
			all = append(all, line.Value)
		}
	}
	return all
}

// HTTPConn is a plain connection to an HTTP server: it sends exactly the bytes that a test says, and shows exactly what
// comes back. Clients of the standard library clean up both ways.
type HTTPConn struct {
	tb   testing.TB
	conn net.Conn
	in   *bufio.Reader
}

// DialHTTP connects to addr, a host and port. The connection is closed when the test ends.
func DialHTTP(tb testing.TB, addr string) *HTTPConn {
	tb.Helper()
	conn, err := dial(lasting(tb), addr, httpPatience)
	if err != nil {
		tb.Fatalf("connect to %s: %v", addr, err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	return &HTTPConn{tb: tb, conn: conn, in: bufio.NewReader(conn)}
}

// RawHTTP sends a request on a connection of its own and returns the answer. The request is bytes as they go over the
// wire, line ends included.
func RawHTTP(tb testing.TB, addr, request string) *Answer {
	tb.Helper()
	c := DialHTTP(tb, addr)
	c.Send(request)
	method, _, _ := strings.Cut(request, " ")
	return c.Read(method)
}

// Send writes bytes to the connection.
func (c *HTTPConn) Send(text string) {
	c.tb.Helper()
	_ = c.conn.SetWriteDeadline(time.Now().Add(httpPatience))
	if _, err := io.WriteString(c.conn, text); err != nil {
		c.tb.Fatalf("send: %v", err)
	}
}

// Read reads the answer to a request of this method, and ends the test if there is no whole one.
func (c *HTTPConn) Read(method string) *Answer {
	c.tb.Helper()
	a, err := c.TryRead(method)
	if err != nil {
		c.tb.Fatalf("read the answer: %v; got %q with the body %q", err, a.StatusLine, a.Body)
	}
	return a
}

// TryRead is Read for answers that may be cut or malformed: it returns what came, and why it ended. io.ErrUnexpectedEOF
// means that the server closed the connection within the answer, io.EOF before it.
func (c *HTTPConn) TryRead(method string) (*Answer, error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(httpPatience))
	a := &Answer{}
	err := a.read(c.in, method)
	return a, err
}

// Closed tells whether the server closes the connection within the patience, without sending anything before.
func (c *HTTPConn) Closed(patience time.Duration) bool {
	_ = c.conn.SetReadDeadline(time.Now().Add(patience))
	_, err := c.in.Peek(1)
	timeout, isNet := errors.AsType[net.Error](err)
	return err != nil && (!isNet || !timeout.Timeout())
}

// Close closes the connection in order: what a client does that goes away.
func (c *HTTPConn) Close() { _ = c.conn.Close() }

// Reset closes the connection at once, with a TCP reset: what a client does that gives up.
func (c *HTTPConn) Reset() {
	if conn, ok := c.conn.(*net.TCPConn); ok {
		_ = conn.SetLinger(0)
	}
	_ = c.conn.Close()
}

func (a *Answer) read(in *bufio.Reader, method string) error {
	for {
		if err := a.readHead(in); err != nil {
			return err
		}
		if a.Status < 100 || a.Status > 199 || a.Status == 101 {
			break
		}
		a.Interim = append(a.Interim, a.StatusLine)
		a.Lines = nil
	}
	if method == "HEAD" || method == "CONNECT" || a.Status == 101 || a.Status == 204 || a.Status == 304 {
		return nil
	}
	return a.readBody(in)
}

func (a *Answer) readHead(in *bufio.Reader) error {
	line, err := readLine(in)
	a.StatusLine = line
	if err != nil {
		return err
	}
	proto, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(rest, " ")
	if a.Status, err = strconv.Atoi(code); err != nil || !strings.HasPrefix(proto, "HTTP/1.") {
		return fmt.Errorf("malformed status line %q", line)
	}
	a.Lines, err = readLines(in)
	return inside(err)
}

func (a *Answer) readBody(in *bufio.Reader) error {
	if strings.EqualFold(a.Get("Transfer-Encoding"), "chunked") {
		return inside(a.readChunks(in))
	}
	length := a.Get("Content-Length")
	if length == "" {
		var err error
		a.Body, err = io.ReadAll(in)
		return err
	}
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return fmt.Errorf("malformed Content-Length %q", length)
	}
	a.Body, err = readN(in, n)
	return inside(err)
}

func (a *Answer) readChunks(in *bufio.Reader) error {
	for {
		line, err := readLine(in)
		if err != nil {
			return err
		}
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(strings.TrimSpace(size), 16, 31)
		if err != nil {
			return fmt.Errorf("malformed chunk size %q", line)
		}
		if n == 0 {
			a.Trailer, err = readLines(in)
			return err
		}
		data, err := readN(in, int(n))
		a.Chunks, a.Body = append(a.Chunks, len(data)), append(a.Body, data...)
		if err != nil {
			return err
		}
		if end, err := readLine(in); err != nil || end != "" {
			return fmt.Errorf("chunk of %d bytes ends with %q: %w", n, end, errors.Join(err))
		}
	}
}

// readN reads n bytes, or returns those that came before the end.
func readN(in io.Reader, n int) ([]byte, error) {
	data := make([]byte, n)
	got, err := io.ReadFull(in, data)
	return data[:got], err
}

// readLines reads header lines up to the empty line.
func readLines(in *bufio.Reader) ([]HeaderLine, error) {
	var all []HeaderLine
	for {
		line, err := readLine(in)
		if err != nil || line == "" {
			return all, err
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return all, fmt.Errorf("malformed header line %q", line)
		}
		all = append(all, HeaderLine{Name: name, Value: strings.Trim(value, " \t")})
	}
}

// readLine reads up to a line end, which must be CR LF.
func readLine(in *bufio.Reader) (string, error) {
	text, err := in.ReadString('\n')
	if err != nil {
		if text != "" {
			err = inside(err)
		}
		return text, err
	}
	line, ok := strings.CutSuffix(text, "\r\n")
	if !ok {
		return line, fmt.Errorf("line %q does not end with CR LF", text)
	}
	return line, nil
}

// inside makes the end of the stream an unexpected one.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
