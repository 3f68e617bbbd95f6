package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/mockbase/mockbase/engine/outbound"
	"github.com/mockbase/mockbase/interchange"
)

// fetchTime is how long the file of an import by address may take.
const fetchTime = 30 * time.Second

// fetcher reads files for imports, from the addresses that proxies may call and within the size of a source (rule M-78).
func (s *server) fetcher() func(context.Context, string) ([]byte, error) {
	policy := outbound.New(s.upstreams())
	transport := policy.Transport(outbound.TransportOptions{Self: outbound.SelfRefused, Reuse: outbound.FreshConnections})
	agent := &http.Client{Transport: transport, Timeout: fetchTime}
	return func(ctx context.Context, address string) ([]byte, error) {
		if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
			return nil, errors.New("it must begin with http:// or https://")
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return nil, fmt.Errorf("read address: %w", err)
		}
		answer, err := agent.Do(request)
		if err != nil {
			return nil, fmt.Errorf("fetch: %w", err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("it answered %d", answer.StatusCode)
		}
		text, err := io.ReadAll(io.LimitReader(answer.Body, interchange.MaxBytes+1))
		if err != nil {
			return nil, fmt.Errorf("fetch: %w", err)
		}
		if len(text) > interchange.MaxBytes {
			return nil, errors.New("it is larger than what is imported at once")
		}
		return text, nil
	}
}
