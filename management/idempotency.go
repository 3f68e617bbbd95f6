package management

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// replayLife is how long an answer is kept for a repetition (rule M-12).
const replayLife = 24 * time.Hour

const maxReplayKey = 255

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

// created is the answer to a POST that made something.
func created(location string, view any) *answer {
	return &answer{status: http.StatusCreated, mediaType: typeJSON, header: http.Header{"Location": {location}}, body: encode(view)}
}

// versioned adds the version of what was made.
func (a *answer) versioned(version int64) *answer {
	setETag(a.header, version)
	return a
}

// foretell has the store keep the answer in the transaction of the change that follows, so that a repetition of the request
// never makes the thing twice, whenever the process ends (rule M-12).
func (c *call) foretell(a *answer) {
	c.replay.Answer(func(r *mockbase.Replay) {
		r.At, r.Status, r.MediaType, r.Header, r.Body = c.server.clock(), a.status, a.mediaType, a.header, repeatable(a)
	})
}

// foretellMade does the same where the answer tells of what only the catalog knows. What was foretold is the answer: c.give
// writes it.
func (c *call) foretellMade(tell func(catalog.Making) (*answer, error)) {
	c.replay.Foretell(func(made any) error {
		making, ok := made.(catalog.Making)
		if !ok {
			return nil
		}
		a, err := tell(making)
		if err == nil {
			c.foretold = a
			c.foretell(a)
		}
		return err
	})
}

// give writes an answer.
func (c *call) give(a *answer) error {
	maps.Copy(c.header(), a.header)
	c.bytes(a.status, a.mediaType, a.body)
	return nil
}

// replays lets one request with a key run at a time, and keeps the answers in the store, so that a client that lost one may
// ask again (rule M-12).
type replays struct {
	store Records
	clock func() time.Time

	// life is another one in each process. Answers that tell of what ends with the process are kept under it.
	life string

	mu      sync.Mutex
	running map[replayID]bool
}

type replayID struct{ user, method, path, key string }

func newReplays(store Records, clock func() time.Time) *replays {
	return &replays{store: store, clock: clock, life: "#" + mockbase.NewID("", clock()), running: map[replayID]bool{}}
}

// begin notes that a request runs, or finds the answer to the one that it repeats. What begins must end.
func (r *replays) begin(ctx context.Context, id replayID, digest []byte) (kept *answer, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running[id] {
		return nil, mockbase.Errorf(mockbase.CodeIdempotencyRunning, "the first request with this Idempotency-Key is still running")
	}
	asked := &mockbase.Replay{Caller: id.user, Method: id.method, Path: id.path, Key: id.key}
	found, err := r.store.Replay(ctx, asked, r.clock().Add(-replayLife))
	switch {
	case mockbase.ErrorCode(err) == mockbase.CodeNotFound:
		r.running[id] = true
		return nil, nil //nolint:nilnil // No answer is kept: the request runs now.
	case err != nil:
		return nil, err
	case !bytes.Equal(found.Digest, digest):
		return nil, &mockbase.Error{
			Code: mockbase.CodeIdempotencyMismatch, Message: "this Idempotency-Key came before with another body or query", Hint: "use a new key for a new request",
		}
	}
	return &answer{status: found.Status, mediaType: found.MediaType, header: found.Header, body: found.Body}, nil
}

// end keeps the answer of a request, if there is one worth keeping that was not kept with the change itself, and lets the
// key be used again.
func (r *replays) end(ctx context.Context, id replayID, draft *mockbase.ReplayDraft, given *answer) error {
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.running, id)
	}()
	if given == nil || given.status >= http.StatusInternalServerError {
		return nil
	}
	draft.Answer(func(d *mockbase.Replay) {
		d.At, d.Status, d.MediaType, d.Header, d.Body = r.clock(), given.status, given.mediaType, given.header, repeatable(given)
	})
	pending := draft.Pending()
	if pending == nil {
		return nil
	}
	return r.store.PutReplay(context.WithoutCancel(ctx), pending)
}

// repeatable is the body of an answer without the members that were shown once.
func repeatable(a *answer) []byte {
	if a.mediaType != typeJSON {
		return a.body
	}
	root, err := mockbase.ParseNode(a.body, mockbase.FormatJSON, mockbase.ParseLimits{Bytes: len(a.body) + 1})
	if err != nil || root.Kind != mockbase.NodeObject {
		return a.body
	}
	if !slices.ContainsFunc(root.Members, shownOnce) {
		return a.body
	}
	bare := *root
	bare.Members = nil
	for _, m := range root.Members {
		if !shownOnce(m) {
			bare.Members = append(bare.Members, m)
		}
	}
	return append(bare.JSON(), '\n')
}

// shownOnce tells whether a member holds a secret: a token, a password, or a link with one in its fragment.
func shownOnce(m mockbase.Member) bool {
	return m.Key == "token" || m.Key == "password" || m.Key == "url" && strings.Contains(m.Value.Text, "#")
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
		addressed, err := s.addressed(c)
		if err != nil {
			return err
		}
		id := replayID{user: c.caller.id(), method: c.Request().Method, path: addressed, key: sent[0]}
		kept, err := s.replays.begin(c.ctx(), id, digest[:])
		if err != nil {
			return err
		}
		if kept != nil {
			return c.repeat(kept)
		}
		c.replay = mockbase.NewReplayDraft(mockbase.Replay{Caller: id.user, Method: id.method, Path: id.path, Key: id.key, Digest: digest[:]})
		c.SetRequest(c.Request().WithContext(mockbase.WithReplay(c.ctx(), c.replay)))
		s.answerOnce(c, id, handle)
		return nil
	}
}

// addressed is the path of a request with the ids of what it names. What has the name of something that is gone is another thing:
// a request to it repeats none that came before.
func (s *Server) addressed(c *call) (string, error) {
	path := c.Request().URL.Path
	if c.project != nil {
		path += "#" + c.project.Project.ID
	}
	if c.mock != nil {
		path += "#" + c.mock.ID
	}
	if c.Param("user") != "" {
		u, err := s.namedUser(c)
		if err != nil {
			return "", err
		}
		path += "#" + u.ID
	}
	if c.route.passes {
		path += s.replays.life
	}
	return path, nil
}

// answerOnce answers the first request with a key, and keeps the answer.
func (s *Server) answerOnce(c *call, id replayID, handle func(*call) error) {
	// Also when the handler panics, the key must not stay taken.
	defer func() {
		if err := s.replays.end(c.ctx(), id, c.replay, c.answer); err != nil {
			s.log.LogAttrs(c.ctx(), slog.LevelError, "answer was not kept", slog.String(keyRequestID, RequestID(c.ctx())), slog.Any(keyError, err))
		}
	}()
	if err := handle(c); err != nil {
		c.replay.Withdraw()
		c.answer = s.writeProblem(c.Response(), c.Request(), err)
	}
	if c.answer != nil {
		c.answer.keepHeader(c.header(), "Location", "ETag", "Retry-After")
	}
}

// digest reads the body and puts it back for the handler. The query is part of what was asked.
func (*Server) digest(c *call) ([sha256.Size]byte, error) {
	r, limit := c.Request(), c.route.body
	if r.ContentLength > limit {
		return [sha256.Size]byte{}, c.drained(tooLarge(limit))
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), r.Body, limit))
	if err != nil {
		return [sha256.Size]byte{}, c.drained(unreadable(err, limit))
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.Sum256(body)
	if query := r.URL.Query().Encode(); query != "" {
		sum = sha256.Sum256(append(sum[:], query...))
	}
	return sum, nil
}

// repeat writes an answer again. A problem names the request that is answered now, as its header does (rule M-5).
func (c *call) repeat(kept *answer) error {
	body := kept.body
	if kept.mediaType == problemType {
		body = ofRequest(body, RequestID(c.ctx()))
	}
	c.header().Set("Idempotency-Replayed", "true")
	maps.Copy(c.header(), kept.header)
	c.server.write(c.Response(), c.Request(), kept.status, kept.mediaType, body)
	return nil
}

// ofRequest is the body of a problem with the id of another request.
func ofRequest(body []byte, id string) []byte {
	root, err := mockbase.ParseNode(body, mockbase.FormatJSON, mockbase.ParseLimits{Bytes: len(body) + 1})
	if err != nil {
		return body
	}
	for i, m := range root.Members {
		if m.Key == "instance" || m.Key == "requestId" {
			root.Members[i].Value = &mockbase.Node{Kind: mockbase.NodeText, Text: id}
		}
	}
	return append(root.JSON(), '\n')
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
