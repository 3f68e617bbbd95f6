package management

import (
	"bytes"
	"crypto/sha256"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
)

const (
	// replayLife is how long an answer is kept for a repetition (rule M-12).
	replayLife = 24 * time.Hour
	// maxReplays and maxReplayBytes bound what is kept of all callers together; the oldest answers go first.
	maxReplays     = 10_000
	maxReplayBytes = 16 << 20
	maxReplayKey   = 255
)

// answer is a response as it was sent.
type answer struct {
	status    int
	mediaType string
	header    http.Header
	body      []byte
}

// keepHeader keeps the named fields, spelled as they are here.
func (a *answer) keepHeader(sent http.Header, names ...string) {
	a.header = http.Header{}
	for _, name := range names {
		if values := sent[name]; len(values) > 0 {
			a.header[name] = values
		}
	}
}

// replay is a request that carried an Idempotency-Key, and its answer once there is one.
type replay struct {
	id     replayID
	digest [sha256.Size]byte
	at     time.Time
	answer *answer
}

type replayID struct{ user, method, path, key string }

// replays keeps the answers to requests that create, in memory, so that a client that lost one may ask again.
type replays struct {
	clock func() time.Time

	mu    sync.Mutex
	known map[replayID]*replay
	// order is known by age, the oldest first.
	order []*replay
	bytes int
}

func newReplays(clock func() time.Time) *replays {
	return &replays{clock: clock, known: map[replayID]*replay{}}
}

// begin notes a request, or finds the one that it repeats. Exactly one of the results is set.
func (r *replays) begin(id replayID, digest [sha256.Size]byte) (begun *replay, kept *answer, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	old := r.known[id]
	switch {
	case old == nil:
		begun = &replay{id: id, digest: digest, at: r.clock()}
		r.known[id] = begun
		r.order = append(r.order, begun)
		return begun, nil, nil
	case old.digest != digest:
		return nil, nil, &mockbase.Error{
			Code: mockbase.CodeIdempotencyMismatch, Message: "this Idempotency-Key came before with another body", Hint: "use a new key for a new request",
		}
	case old.answer == nil:
		return nil, nil, mockbase.Errorf(mockbase.CodeIdempotencyRunning, "the first request with this Idempotency-Key is still running")
	}
	return nil, old.answer, nil
}

// end keeps the answer of a request, or forgets the request when there is none worth keeping.
func (r *replays) end(begun *replay, given *answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if given == nil || given.status >= http.StatusInternalServerError {
		if r.known[begun.id] == begun {
			delete(r.known, begun.id)
		}
		return
	}
	if r.known[begun.id] == begun {
		begun.answer = given
		r.bytes += len(given.body)
	}
}

// forget drops what is too old or too much. A request that still runs is never among the oldest for long.
func (r *replays) forget() {
	now := r.clock()
	for len(r.order) > 0 {
		oldest := r.order[0]
		if now.Sub(oldest.at) < replayLife && len(r.order) < maxReplays && r.bytes <= maxReplayBytes {
			return
		}
		r.order = r.order[1:]
		if oldest.answer != nil {
			r.bytes -= len(oldest.answer.body)
		}
		if r.known[oldest.id] == oldest {
			delete(r.known, oldest.id)
		}
	}
}

// once answers a request that repeats another, told by its Idempotency-Key, with the answer of the first (rule M-12).
// Failures are answers too, so that they are written here.
func (s *Server) once(handle func(*call) error) func(*call) error {
	return func(c *call) error {
		sent := c.Request().Header.Values("Idempotency-Key")
		if len(sent) == 0 {
			return handle(c)
		}
		if len(sent) > 1 || !visible(sent[0]) {
			return mockbase.Errorf(mockbase.CodeInvalidParameter, "Idempotency-Key has 1 to %d visible ASCII characters", maxReplayKey)
		}
		digest, err := s.digest(c)
		if err != nil {
			return err
		}
		id := replayID{user: c.caller.user.ID, method: c.Request().Method, path: c.Request().URL.Path, key: sent[0]}
		begun, kept, err := s.replays.begin(id, digest)
		if err != nil {
			return err
		}
		if kept != nil {
			return c.repeat(kept)
		}
		// Also when the handler panics, the key must not stay taken.
		defer func() { s.replays.end(begun, c.answer) }()
		if err := handle(c); err != nil {
			c.answer = s.writeProblem(c.Response(), c.Request(), err)
		}
		if c.answer != nil {
			c.answer.keepHeader(c.header(), "Location", "ETag", "Retry-After")
		}
		return nil
	}
}

// digest reads the body and puts it back for the handler.
func (*Server) digest(c *call) ([sha256.Size]byte, error) {
	r, limit := c.Request(), c.route.body
	if r.ContentLength > limit {
		return [sha256.Size]byte{}, tooLarge(limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), r.Body, limit))
	if err != nil {
		return [sha256.Size]byte{}, unreadable(err, limit)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return sha256.Sum256(body), nil
}

// repeat writes an answer again.
func (c *call) repeat(kept *answer) error {
	c.header().Set("Idempotency-Replayed", "true")
	maps.Copy(c.header(), kept.header)
	c.server.write(c.Response(), c.Request(), kept.status, kept.mediaType, kept.body)
	return nil
}

// visible tells whether a key consists of 1 to 255 visible ASCII characters.
func visible(key string) bool {
	if key == "" || len(key) > maxReplayKey {
		return false
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return false
		}
	}
	return true
}
