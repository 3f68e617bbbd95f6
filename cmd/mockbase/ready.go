package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
)

// readyPace is how often a server is asked whether it is ready.
const readyPace = 200 * time.Millisecond

// awaitReady waits until the server is ready, and gives the last reason when it is not in time.
func (r *remote) awaitReady(patience time.Duration) error {
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	pace := time.NewTicker(readyPace)
	defer pace.Stop()
	var reason error
	for {
		_, err := r.Do(ctx, client.Request{Method: http.MethodGet, Path: "/readyz", Root: true})
		if err == nil {
			return nil
		}
		if refused, ok := errors.AsType[*client.RefusedError](err); ok && refused.Status != http.StatusServiceUnavailable {
			return err
		}
		if ctx.Err() == nil || reason == nil {
			reason = err
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
			if r.ctx.Err() != nil {
				return r.ctx.Err()
			}
			return &failure{code: exitNoAnswer, what: "wait for " + r.Server(), err: fmt.Errorf("not ready after %s: %w", patience, reason), fix: "start the server"}
		}
	}
}

// number reads a count that a server sent, 0 for none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
