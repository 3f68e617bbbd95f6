package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// The bounds of a fetch.
const (
	fetchTimeout = 30 * time.Second
	maxRedirects = 5
)

// ErrTooLong tells that what is at an address is longer than what is read of it.
var ErrTooLong = errors.New("it is longer than is read")

var errRedirects = errors.New("it is redirected too often")

// Fetch reads the file at an address, of at most so many bytes and within 30 seconds. Each of up to five redirects is held to
// the policy like the address itself. It fails with a *[BlockedError] where the policy forbids a call, and where the answer
// is not 200.
func (p *Policy) Fetch(ctx context.Context, address string, most int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	target, err := ParseURL(address)
	if err != nil {
		return nil, err
	}
	if err := CheckURL(target); err != nil {
		return nil, err
	}
	transport := p.Transport(TransportOptions{Self: SelfRefused, Reuse: FreshConnections})
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errRedirects
		}
		return CheckURL(r.URL)
	}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	r.Header.Set("Accept", "application/json, application/yaml, */*;q=0.5")
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set(HopsHeader, "1")
	answer, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	defer func() { _ = answer.Body.Close() }() // nothing was written
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch: the answer is %s", answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read answer: %w", err)
	case int64(len(text)) > most:
		return nil, ErrTooLong
	}
	return text, nil
}
