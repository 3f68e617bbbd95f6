package websocket

import (
	"bufio"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// The opcodes of frames (RFC 6455, section 5.2), with the bit that says that the message ends here.
const (
	frameText   = 0x81
	frameBinary = 0x82
	frameClose  = 0x88
	framePing   = 0x89
	framePong   = 0x8a
)

// The first lengths that need two and eight bytes more.
const (
	length16 = 126
	length64 = 127
	most16   = 1<<16 - 1
)

// writeTimeout is how long a client may leave a frame unread before it counts as gone.
const writeTimeout = 30 * time.Second

// wire writes frames, ours and those that the library writes by itself, one at a time and none after a close.
type wire struct {
	net.Conn
	mu     sync.Mutex
	closed bool
	// code is that of the close that was sent.
	code int
	// hurried tells that the client has no more than a moment to take what is written.
	hurried atomic.Bool
}

// errSaid is the error of a frame after the close.
var errSaid = errors.New("the close of the conversation is sent")

// hurry gives the client a moment to take what is being written and what follows.
func (w *wire) hurry() {
	w.hurried.Store(true)
	_ = w.SetWriteDeadline(time.Now().Add(goodbye))
}

// Write passes on a control frame of the library, which always writes a whole one. The library answers a close with its
// reason, whatever it is: one that is no UTF-8 is a fault of the client's (RFC 6455, sections 5.5.1 and 8.1).
func (w *wire) Write(frame []byte) (int, error) {
	const head = 4
	if len(frame) > head && frame[0] == frameClose && !utf8.Valid(frame[head:]) {
		invalid := binary.BigEndian.AppendUint16([]byte{frameClose, 2}, uint16(websocket.StatusInvalidFramePayloadData))
		_, err := w.pass(invalid)
		return len(frame), err
	}
	return w.pass(frame)
}

func (w *wire) pass(frame []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return len(frame), nil
	}
	if len(frame) > 0 && frame[0] == frameClose {
		w.closed = true
		if len(frame) >= 4 {
			w.code = int(binary.BigEndian.Uint16(frame[2:]))
		}
	}
	return w.write(frame)
}

func (w *wire) write(frame []byte) (int, error) {
	patience := writeTimeout
	if w.closed || w.hurried.Load() {
		patience = goodbye
	}
	if err := w.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return 0, err //nolint:wrapcheck // callers see the end of the connection
	}
	return w.Conn.Write(frame)
}

// frame sends one frame.
func (w *wire) frame(first byte, payload []byte) error {
	frame := []byte{first}
	switch n := len(payload); {
	case n < length16:
		frame = append(frame, byte(n))
	case n <= most16:
		frame = binary.BigEndian.AppendUint16(append(frame, length16), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, length64), uint64(n))
	}
	frame = append(frame, payload...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errSaid
	}
	w.closed = first == frameClose
	_, err := w.write(frame)
	return err
}

// close sends a close; it tells whether it was the first.
func (w *wire) close(code int, reason []byte) bool {
	payload := append(binary.BigEndian.AppendUint16(nil, uint16(code)), reason...) //nolint:gosec // codes have four digits
	sent := w.frame(frameClose, payload) == nil
	if sent {
		w.mu.Lock()
		w.code = code
		w.mu.Unlock()
	}
	return sent
}

// sentClose is the code of the close that was sent, 0 for none.
func (w *wire) sentClose() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.code
}

// seizer lets the library take over a connection whose frames go over a wire.
type seizer struct {
	http.ResponseWriter
	wire *wire
}

// Hijack implements [http.Hijacker].
func (s *seizer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(s.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // the library wraps it
	}
	if err := buffered.Flush(); err != nil {
		return nil, nil, err //nolint:wrapcheck // the library wraps it
	}
	s.wire.Conn = conn
	buffered.Writer.Reset(s.wire)
	return s.wire, buffered, nil
}
