package management

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// What is still read of a body that was refused.
const (
	drainBytes = 8 << 20
	drainTime  = 5 * time.Second
)

// The media types that bodies come in.
const typeMergePatch = "application/merge-patch+json"

// content is a request body as it was read.
type content struct {
	text   []byte
	format mockbase.Format
}

// read reads the whole body, which must be of one of the types, within the route's limit (rules M-7 and M-9): first the
// type is judged (415), then the size (413), then whether it can be unpacked (400).
func (c *call) read(types ...string) (content, error) {
	body, err := c.take(types...)
	if err == nil && body.format == mockbase.FormatJSON {
		// Handlers that know better note what the change really makes.
		c.noteAudit(func(e *mockbase.AuditEntry) { e.After = mockbase.MaskSecrets(body.text, c.secretVariables()...) })
	}
	return body, err
}

// take reads a body as read does, for a change that the catalog makes: that one notes by itself what it does.
func (c *call) take(types ...string) (content, error) {
	r := c.Request()
	kind, err := bodyType(r, types)
	if err != nil {
		return content{}, err
	}
	text, err := c.readAll()
	if err != nil {
		return content{}, c.drained(err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return content{}, mockbase.Errorf(mockbase.CodeMalformedBody, "the body is empty")
	}
	format := mockbase.FormatJSON
	if isYAML(kind) {
		format = mockbase.FormatYAML
	}
	c.body = content{text: text, format: format}
	return c.body, nil
}

// drained reads what is left of a body that was refused as too large, within bounds, so that its sender can read the answer: a
// connection that is closed with bytes unread is reset.
func (c *call) drained(err error) error {
	if mockbase.ErrorCode(err) == mockbase.CodeBodyTooLarge {
		c.drain()
	}
	return err
}

func (c *call) drain() {
	r := c.Request()
	if r.Header.Get("Expect") != "" && r.ContentLength > c.route.body {
		return // nothing was read of it, and reading would ask for what was just refused
	}
	if http.NewResponseController(c.Response().Writer).SetReadDeadline(time.Now().Add(drainTime)) == nil {
		_, _ = io.CopyN(io.Discard, r.Body, drainBytes) // an error means that nothing more comes
	}
}

// located fills in the places of faults that were found after the body was read: the text that they are about is the
// body (rule M-5).
func (c *call) located(err error) error {
	known, ok := errors.AsType[*mockbase.Error](err)
	if !ok || len(known.Fields) == 0 || len(c.body.text) == 0 {
		return err
	}
	if at := slices.IndexFunc(known.Fields, func(f mockbase.FieldError) bool { return f.Line == 0 }); at < 0 {
		return err
	}
	placed := *known
	placed.Fields = mockbase.InOrder(mockbase.Locate(c.body.text, c.body.format, known.Fields))
	if f, extra := errors.AsType[*failure](err); extra {
		return &failure{err: &placed, header: f.header, plan: f.plan, checks: f.checks}
	}
	return &placed
}

// judged is the refusal of a text with all that is wrong with it: what else is found in the part that could be read is told
// with the rest, so that nobody mends one fault to learn of the next.
func (b content) judged(refused error, more func() []mockbase.FieldError) error {
	if mockbase.ErrorCode(refused) != mockbase.CodeValidationFailed {
		return refused
	}
	return mockbase.MoreFaults(refused, mockbase.Locate(b.text, b.format, more()))
}

// bodyType is the body's media type, or the 415 that says which are taken.
func bodyType(r *http.Request, types []string) (string, error) {
	sent := r.Header.Get("Content-Type")
	if sent == "" && r.ContentLength == 0 {
		return types[0], nil
	}
	kind, params, err := mime.ParseMediaType(sent)
	charset := strings.ToLower(params["charset"])
	known := slices.Contains(types, kind) || isYAML(kind) && slices.Contains(types, typeYAML)
	if err == nil && known && (charset == "" || charset == "utf-8") {
		return kind, nil
	}
	name := "Accept"
	if r.Method == http.MethodPatch {
		name = "Accept-Patch"
	}
	return "", withHeader(&mockbase.Error{
		Code: mockbase.CodeUnsupportedMediaType, Message: "the body's type is " + shown(sent),
		Hint: "send Content-Type: " + strings.Join(types, " or "),
	}, name, strings.Join(types, ", "))
}

// readAll reads the body to its end, unpacked. A body that says how long it is and is too long is not read at all.
func (c *call) readAll() ([]byte, error) {
	r, limit := c.Request(), c.route.body
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	var source io.Reader = http.MaxBytesReader(c.Response(), r.Body, limit)
	switch coding := strings.ToLower(r.Header.Get("Content-Encoding")); coding {
	case "", "identity":
	case "gzip":
		return unpack(source, limit)
	default:
		return nil, withHeader(&mockbase.Error{
			Code: mockbase.CodeUnsupportedMediaType, Message: "the body is coded as " + shown(coding), Hint: "send it plain or as gzip",
		}, "Accept-Encoding", "gzip")
	}
	text, err := io.ReadAll(source)
	if err != nil {
		return nil, unreadable(err, limit)
	}
	return text, nil
}

// unpack reads a body that was announced as gzip, and says so of one that is something else: whoever set the field may not
// know of it.
func unpack(packed io.Reader, limit int64) ([]byte, error) {
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, notGzip(err, limit, "is not gzip")
	}
	// One byte more than is allowed tells too much from just enough.
	text, err := io.ReadAll(io.LimitReader(unpacked, limit+1))
	switch {
	case errors.Is(err, gzip.ErrHeader):
		return nil, notGzip(err, limit, "goes on with something else behind the gzip data")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, notGzip(err, limit, "ends before the gzip data does")
	case err != nil:
		return nil, notGzip(err, limit, "is damaged gzip data")
	case int64(len(text)) > limit:
		return nil, tooLarge(limit)
	}
	return text, nil
}

// notGzip says what is wrong with a body that was announced as gzip, unless it was not gzip's fault that reading ended.
func notGzip(err error, limit int64, what string) error {
	refused := unreadable(err, limit)
	if mockbase.ErrorCode(refused) != mockbase.CodeMalformedBody {
		return refused
	}
	return &mockbase.Error{
		Code: mockbase.CodeMalformedBody, Message: "the body " + what + ", and Content-Encoding announces gzip",
		Hint: "pack the whole body with gzip, or send it plain without Content-Encoding", Err: err,
	}
}

func tooLarge(limit int64) error {
	return mockbase.Errorf(mockbase.CodeBodyTooLarge, "the body is larger than the %d bytes that are read here", limit)
}

func unreadable(err error, limit int64) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return tooLarge(limit)
	}
	if tooSlow(err) {
		return withHeader(&mockbase.Error{
			Code: mockbase.CodeBodyTooSlow, Message: "the body did not arrive in time",
			Hint: "send the whole body that the header announces, without long pauses", Err: err,
		}, "Connection", "close")
	}
	return &mockbase.Error{Code: mockbase.CodeMalformedBody, Message: "the body cannot be read to its end", Err: err}
}

// object reads a body that is one JSON object and hands its members to fill. What fill does not ask for is an unknown
// member (rule M-8).
func (c *call) object(mediaType string, fill func(*mockbase.Fields)) error {
	return c.objectIn(mediaType, func(f *mockbase.Fields, _ *mockbase.Faults) { fill(f) })
}

// objectIn is object for what has parts that somebody else reads: their faults are told with the others.
func (c *call) objectIn(mediaType string, fill func(*mockbase.Fields, *mockbase.Faults)) error {
	body, err := c.read(mediaType)
	if err != nil {
		return err
	}
	node, err := parse(body, c.route.body)
	if err != nil {
		return err
	}
	var faults mockbase.Faults
	fields := mockbase.NewFields(node, "#", &faults)
	fill(fields, &faults)
	fields.Done()
	return faults.Err()
}

// parse reads a body as a tree.
func parse(body content, limit int64) (*mockbase.Node, error) {
	node, err := mockbase.ParseNode(body.text, body.format, mockbase.ParseLimits{Bytes: int(limit)})
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	return node, nil
}
