package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// errClosing ends what lasts when the server stops.
var errClosing = errors.New("the server stops")

// endWhenClosing ends the call when the server stops. The function it returns takes that back.
func (c *call) endWhenClosing() (stop func()) {
	done := make(chan struct{})
	var gone sync.WaitGroup
	gone.Go(func() {
		select {
		case <-c.forwarder.closing:
			c.cancel(errClosing)
		case <-done:
		}
	})
	return func() {
		close(done)
		gone.Wait()
	}
}

// tunnel hands the connection over to the upstream (rule T11).
func (c *call) tunnel(out *http.Request, answer *http.Response) (*Result, error) {
	asked, got := upgradeOf(out.Header), upgradeOf(answer.Header)
	upstream, ok := answer.Body.(io.ReadWriteCloser)
	if asked == "" || !strings.EqualFold(asked, got) || !ok {
		return nil, ErrorOf(fmt.Errorf("the upstream switched to the protocol %q, asked for was %q", got, asked))
	}
	c.silence.Stop()
	header := c.route.answerHeader(c.in, answer)
	header[headerConnection], header[headerUpgrade] = []string{headerUpgrade}, []string{got}
	delete(header, headerContentType)
	conn, buffered, err := http.NewResponseController(c.w).Hijack()
	if err != nil {
		return nil, ErrorOf(fmt.Errorf("take the connection over: %w", err))
	}
	defer conn.Close() //nolint:errcheck // nothing follows
	result := &Result{Status: answer.StatusCode, Header: header, Tunnelled: true}
	head := http.Response{StatusCode: answer.StatusCode, ProtoMajor: 1, ProtoMinor: 1, Header: header}
	if err := writeHead(buffered.Writer, &head); err != nil {
		result.Aborted = true
		return result, nil
	}
	c.join(conn, buffered.Reader, upstream, result)
	return result, nil
}

func writeHead(w *bufio.Writer, head *http.Response) error {
	if err := head.Write(w); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// join passes bytes both ways until one side ends or the server stops, and leaves nothing running.
func (c *call) join(conn net.Conn, received *bufio.Reader, upstream io.ReadWriteCloser, result *Result) {
	var both sync.WaitGroup
	ended := make(chan struct{}, 2)
	pass := func(to io.Writer, from io.Reader) {
		n, _ := io.Copy(to, from)
		if to == io.Writer(conn) {
			result.BodySize = n
		}
		ended <- struct{}{}
	}
	both.Go(func() { pass(upstream, received) })
	both.Go(func() { pass(conn, upstream) })
	select {
	case <-ended:
	case <-c.forwarder.closing:
	}
	// One direction may still have bytes under way; they have the time that closing takes.
	upstream.Close()
	_ = conn.Close()
	both.Wait()
}
