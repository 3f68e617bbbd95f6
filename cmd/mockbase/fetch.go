package main

import (
	"context"
	"fmt"

	"github.com/mockbase/mockbase/engine/outbound"
	"github.com/mockbase/mockbase/interchange"
	"github.com/mockbase/mockbase/management"
)

// fetcher reads files for imports and documents, from the addresses that proxies of the project may call and within the size
// of a source (rules S6 and M-78).
func (s *server) fetcher() management.Fetcher {
	operator := outbound.New(s.upstreams())
	return func(ctx context.Context, address string, allow []string) ([]byte, error) {
		list, err := outbound.ParseList(allow)
		if err != nil {
			return nil, fmt.Errorf("read upstreamAllow: %w", err)
		}
		text, err := operator.Narrow(list).Fetch(ctx, address, interchange.MaxBytes)
		if err != nil {
			return nil, fmt.Errorf("call %s: %w", address, err)
		}
		return text, nil
	}
}
