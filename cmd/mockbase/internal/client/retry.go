package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// maxRepeats is how often a call is repeated (rule C-9).
const maxRepeats = 3

// firstPause is the pause before the first repetition where the server names none; each further one is twice as long.
const firstPause = 200 * time.Millisecond

// repeat makes a call, and again where that is safe and may help.
func (c *Client) repeat(ctx context.Context, r *Request) (*Answer, error) {
	key := newKey(r)
	lost := false
	for attempt := 0; ; attempt++ {
		answer, err := c.attempt(ctx, r, key)
		if gone(err) && lost && r.Method == http.MethodDelete {
			// What was lost was the answer, and not the call.
			return &Answer{Status: http.StatusNoContent, Header: http.Header{}}, nil
		}
		pause, again := c.again(r, err, attempt)
		if !again {
			return answer, err
		}
		lost = lost || connectionLost(err)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
			return answer, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return answer, err
		}
	}
}

// attempt makes a call once and reads its answer.
func (c *Client) attempt(ctx context.Context, r *Request, key string) (*Answer, error) {
	response, err := c.once(ctx, r, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices && response.StatusCode != http.StatusNotModified {
		return nil, c.refusal(response, text)
	}
	return &Answer{Status: response.StatusCode, Header: response.Header, Body: text}, nil
}

// again tells whether a call is to be repeated after this error, and after which pause.
func (*Client) again(r *Request, err error, attempt int) (time.Duration, bool) {
	if err == nil || attempt >= maxRepeats {
		return 0, false
	}
	pause := firstPause << attempt
	refused, isRefusal := errors.AsType[*RefusedError](err)
	switch {
	case isRefusal && refused.Status == http.StatusTooManyRequests:
		// The limiter refuses before anything is done.
		return max(pause, refused.RetryAfter), true
	case isRefusal && refused.Status == http.StatusServiceUnavailable:
		return max(pause, refused.RetryAfter), repeatable(r) && r.IfMatch == ""
	case connectionLost(err):
		return pause, repeatable(r) && r.IfMatch == ""
	}
	return 0, false
}

// repeatable tells whether making a call twice does the same as making it once.
func repeatable(r *Request) bool {
	return r.Method != http.MethodPost && r.Method != http.MethodPatch || r.Creates
}

// connectionLost tells whether a connection ended before the answer did. A server that nobody reaches is not lost: to ask
// again at once would not find it either.
func connectionLost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func gone(err error) bool {
	refused, ok := errors.AsType[*RefusedError](err)
	return ok && refused.Status == http.StatusNotFound
}

// retryAfter reads the field in either form; 0 when there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
