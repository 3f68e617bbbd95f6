package engine

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/fault"
)

// tick is the time between two pieces of a body that has a number of bytes a second.
const tick = 50 * time.Millisecond

// deliver writes an answer whose headers may go out before its body is complete.
func (c *call) deliver(h http.Header, a *answer, out shipment) {
	w := a.dressing
	c.begin(h, a)
	if len(w.trailers) > 0 && !c.request.ProtoAtLeast(1, 1) {
		// Without chunks there are none (rule N1).
		delete(h, headerTrailer)
	}
	if c.method.name == http.MethodHead {
		out.body = nil
	}
	if w.stream != nil && w.stream.SlowHeaders > 0 && c.crawl(h, w, out) {
		return
	}
	c.w.WriteHeader(out.status)
	c.outcome.status, c.outcome.header = out.status, maps.Clone(h)
	cleanHeader(c.outcome.header)
	flush := http.NewResponseController(c.w).Flush
	if w.chunked || w.stream != nil {
		// It fails where nothing can be flushed, and the bytes go out later.
		_ = flush()
	}
	c.writeBody(c.request.Context(), flushed{c.w, flush}, out.body, w.stream)
	if c.request.ProtoAtLeast(1, 1) {
		copyLines(h, w.trailers)
	}
}

// flushed writes without a buffer.
type flushed struct {
	io.Writer

	flush func() error
}

// Write implements io.Writer.
func (f flushed) Write(b []byte) (int, error) {
	n, err := f.Writer.Write(b)
	if err != nil {
		return n, err
	}
	return n, f.flush()
}

// writeBody writes a body at its pace, at once without one, and notes what was sent.
func (c *call) writeBody(ctx context.Context, to flushed, body []byte, pace *mockbase.Stream) {
	began, sent := c.now(), 0
	for sent < len(body) {
		n, due := piece(pace, len(body), sent)
		if rest := due - c.now().Sub(began); rest > 0 {
			c.pause(ctx, rest)
		}
		write := to.Writer
		if pace != nil {
			write = to
		}
		written, err := write.Write(body[sent : sent+n])
		sent += written
		if err != nil || ctx.Err() != nil {
			c.outcome.aborted = true
			break
		}
	}
	c.outcome.body = body[:sent]
}

// piece is the length of the piece that begins at an offset, and when it is due (rules Q6 and Q7).
func piece(pace *mockbase.Stream, size, offset int) (n int, due time.Duration) {
	switch {
	case pace != nil && pace.Chunks > 0:
		count := min(pace.Chunks, size)
		least, larger := size/count, size%count
		number := offset / (least + 1)
		if offset >= larger*(least+1) {
			number = larger + (offset-larger*(least+1))/least
		}
		n = least
		if number < larger {
			n++
		}
		if count > 1 {
			due = time.Duration(float64(pace.Over) * float64(number) / float64(count-1))
		}
		return n, due
	case pace != nil && pace.BytesPerSecond > 0:
		rate := pace.BytesPerSecond
		n = int(min(int64(size-offset), max(1, rate/int64(time.Second/tick))))
		return n, time.Duration(float64(offset+n) / float64(rate) * float64(time.Second))
	default:
		return size - offset, 0
	}
}

// crawl sends status line and header one byte at a time, which needs the connection for itself. It returns false where
// that cannot be had, as on HTTP/2; the header then goes out as a whole, after the time that its bytes would have taken.
func (c *call) crawl(h http.Header, w *dressing, out shipment) bool {
	chunked := w.chunked && c.request.ProtoAtLeast(1, 1) && c.method.name != http.MethodHead
	sent := maps.Clone(h)
	if _, ok := sent[headerDate]; !ok {
		sent[headerDate] = c.engine.date.at(c.now())
	}
	cleanHeader(sent)
	delete(sent, headerConnection) // The head says that it closes.
	head := head(sent, out.status, chunked)
	wire, err := fault.Seize(c.w)
	if err != nil {
		c.pause(c.request.Context(), time.Duration(len(head))*w.stream.SlowHeaders)
		return false
	}
	defer wire.Close()
	ctx, stop := wire.Watch(c.request.Context())
	defer stop()
	c.outcome.header = sent
	for i := range head {
		if i > 0 {
			c.pause(ctx, w.stream.SlowHeaders)
		}
		if _, err := wire.Write(head[i : i+1]); err != nil || ctx.Err() != nil {
			c.outcome.aborted, c.outcome.seized = true, true
			return true
		}
	}
	c.outcome.status, c.outcome.seized = out.status, true
	c.crawlBody(ctx, wire, w, out, chunked)
	return true
}

func (c *call) crawlBody(ctx context.Context, wire *fault.Wire, w *dressing, out shipment, chunked bool) { //nolint:revive // chunked is how the head announced the body
	var to io.Writer = wire
	if chunked {
		to = httputil.NewChunkedWriter(wire)
	}
	c.writeBody(ctx, flushed{to, func() error { return nil }}, out.body, w.stream)
	if chunked && !c.outcome.aborted {
		var end strings.Builder
		end.WriteString("0\r\n")
		writeLines(&end, w.trailers)
		end.WriteString("\r\n")
		_, err := io.WriteString(wire, end.String())
		c.outcome.aborted = err != nil
	}
}

// head is the head of an answer on HTTP/1 after which the connection closes.
func head(h http.Header, status int, chunked bool) []byte { //nolint:revive // chunked is part of the framing
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %03d %s\r\n", status, http.StatusText(status))
	lines := make([]headerLine, 0, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		lines = append(lines, headerLine{key: name, lines: h[name]})
	}
	writeLines(&b, lines)
	if chunked {
		b.WriteString("Transfer-Encoding: chunked\r\n")
	}
	b.WriteString("Connection: close\r\n\r\n")
	return []byte(b.String())
}

func writeLines(b *strings.Builder, lines []headerLine) {
	for i := range lines {
		for _, line := range lines[i].lines {
			b.WriteString(lines[i].key + ": " + line + "\r\n")
		}
	}
}
