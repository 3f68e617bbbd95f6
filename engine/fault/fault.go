// Package fault breaks answers on the wire: it resets connections, sends garbage, announces more than it sends.
//
// # Connections
//
// On HTTP/1 a fault takes the connection from the server. On HTTP/2 it breaks the stream and leaves the other streams of
// the connection alone, but for the kinds that are about the connection; those need [WithConnection].
//
// # After a fault
//
// When [Outcome.Abort] is set, the handler must end with panic([http.ErrAbortHandler]): net/http knows no other way to
// break a stream.
package fault

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// The kinds of fault (rule Q8).
const (
	Empty           = "empty"
	Reset           = "reset"
	ResetConnection = "reset_connection"
	Garbage         = "garbage"
	MalformedChunk  = "malformed_chunk"
	Truncate        = "truncate"
	Hang            = "hang"
	TLSAbort        = "tls_abort"
	Raw             = "raw"
)

// notChunk is what a malformed chunk holds instead of a length.
const notChunk = "this is no chunk\r\n"

// garbageBytes is how much garbage is sent: more than a status line, less than a packet.
const garbageBytes = 512

// settle lets bytes leave the machine before a reset, which drops what is still waiting. On HTTP/2 the bytes leave in order,
// but a client that reads both at once drops the answer for the reset, so it gets more time.
const (
	settle       = 10 * time.Millisecond
	settleStream = 100 * time.Millisecond
)

// Fault is one failure of one answer.
type Fault struct {
	Kind string
	// AfterBytes is how much of the body is sent before a reset or the end; nil leaves it to the kind.
	AfterBytes *int64
	// For bounds how long a request hangs; 0 is without end.
	For time.Duration
	// Raw are the bytes of kind raw.
	Raw []byte
	// Rand draws garbage.
	Rand *rand.Rand
	// Sleep waits until the time is over or the context ends; a time of 0 never ends by itself.
	Sleep func(ctx context.Context, d time.Duration)
}

// Answer is the answer that the fault breaks. Its header is laid in the response writer already; where it is not sent, it
// has no effect.
type Answer struct {
	Status int
	Body   []byte
}

// Outcome is what was sent.
type Outcome struct {
	// Status is 0 when no head of an answer was sent.
	Status int
	Body   []byte
	// Abort tells that the handler must panic with http.ErrAbortHandler.
	Abort bool
	// Left tells that the client left while it hung (rule Q5).
	Left bool
}

// Strike breaks the answer to a request.
func (f *Fault) Strike(w http.ResponseWriter, r *http.Request, a Answer) Outcome {
	s := strike{Fault: f, w: w, r: r, answer: a}
	s.land()
	if s.outcome.Abort && s.outcome.Status != 0 && s.Kind != Reset && s.Kind != ResetConnection {
		s.settle()
	}
	return s.outcome
}

// land does what the kind of the fault says.
func (s *strike) land() {
	f := s.Fault
	switch f.Kind {
	case Truncate:
		s.truncate()
	case Reset, ResetConnection:
		s.reset()
	case MalformedChunk:
		s.malform()
	case Hang:
		f.Sleep(s.r.Context(), f.For)
		s.outcome.Left = s.r.Context().Err() != nil
		s.finish((*Wire).Close)
	case Garbage:
		s.sendBare(garbage(f.Rand))
	case Raw:
		s.sendBare(f.Raw)
	case TLSAbort:
		s.finish((*Wire).cut)
	default:
		s.finish((*Wire).Close)
	}
}

// strike is a fault under way.
type strike struct {
	*Fault

	w       http.ResponseWriter
	r       *http.Request
	answer  Answer
	outcome Outcome
}

// head sends the head of the answer and the first bytes of its body. It says how many bytes there are, or nothing with -1.
func (s *strike) head(length int, body []byte) {
	h := s.w.Header()
	delete(h, "Content-Length")
	if length >= 0 {
		h["Content-Length"] = []string{strconv.Itoa(length)}
	}
	s.w.WriteHeader(s.answer.Status)
	s.outcome.Status = s.answer.Status
	if s.r.Method != http.MethodHead {
		// The client may have left; there is nobody to tell.
		n, _ := s.w.Write(body)
		s.outcome.Body = body[:n]
	}
	_ = http.NewResponseController(s.w).Flush()
}

// truncate announces more than it sends: the whole body, of which half comes, or what AfterBytes says.
func (s *strike) truncate() {
	body := s.answer.Body
	sent := len(body) / 2
	if s.AfterBytes != nil {
		sent = s.cut()
	}
	s.head(max(len(body), sent+1), body[:sent])
	s.finish((*Wire).Close)
}

// cut is how many bytes of the body are sent.
func (s *strike) cut() int { return int(min(*s.AfterBytes, int64(len(s.answer.Body)))) }

func (s *strike) reset() {
	if s.AfterBytes != nil {
		body := s.answer.Body
		s.head(len(body), body[:s.cut()])
		s.settle()
	}
	if s.Kind == ResetConnection && s.breakConnection() {
		return
	}
	s.finish((*Wire).Reset)
}

// settle lets what was sent arrive before the break (rule Q12).
func (s *strike) settle() {
	if s.r.ProtoMajor > 1 {
		s.Sleep(s.r.Context(), settleStream)
		return
	}
	s.Sleep(s.r.Context(), settle)
}

// malform sends the head of a chunked answer and bytes that are no chunk.
func (s *strike) malform() {
	s.head(-1, nil)
	s.sendBare([]byte(notChunk))
}

// sendBare sends bytes past HTTP, and ends. On HTTP/2 they are the body of an answer.
func (s *strike) sendBare(b []byte) {
	s.finish(func(w *Wire) {
		_, _ = w.Write(b)
		s.outcome.Body = b
		w.Close()
	})
	if s.outcome.Abort {
		if s.outcome.Status == 0 {
			s.head(-1, nil)
		}
		n, _ := s.w.Write(b)
		_ = http.NewResponseController(s.w).Flush()
		s.outcome.Body = b[:n]
	}
}

// finish ends the connection, or asks for the stream to be broken where there are other streams.
func (s *strike) finish(end func(*Wire)) {
	if s.Kind == TLSAbort && s.r.ProtoMajor > 1 {
		if conn := Connection(s.r.Context()); conn != nil {
			(&Wire{conn: conn}).cut()
		}
	}
	wire, err := Seize(s.w)
	if err != nil {
		s.outcome.Abort = true
		return
	}
	end(wire)
}

// goAway is a frame of HTTP/2 that ends a connection: the last stream that may have been acted on is any, and the reason
// an internal error (RFC 9113, section 6.8).
const goAway = "\x00\x00\x08\x07\x00\x00\x00\x00\x00\x7f\xff\xff\xff\x00\x00\x00\x02"

// breakConnection ends a connection of HTTP/2. It returns false on HTTP/1.
func (s *strike) breakConnection() bool {
	if s.r.ProtoMajor < 2 {
		return false
	}
	s.outcome.Abort = true
	if conn := Connection(s.r.Context()); conn != nil {
		// The connection is lost in any case.
		_, _ = conn.Write([]byte(goAway))
		_ = conn.Close()
	}
	return true
}

// garbage draws bytes that are no answer. The first is no letter, so they never begin as HTTP does (rule Q14).
func garbage(r *rand.Rand) []byte {
	b := make([]byte, garbageBytes)
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], r.Uint64())
	}
	b[0] |= 0x80
	return b
}
