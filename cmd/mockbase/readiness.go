package main

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/store"
)

// readiness is what /readyz says (rules M-242 and RL69).
type readiness struct {
	started, draining atomic.Bool
}

// start tells that every listener accepts and all mocks are compiled (rule AA42).
func (r *readiness) start() { r.started.Store(true) }

// drain tells that the server is about to end.
func (r *readiness) drain() { r.draining.Store(true) }

// The words for a part's state.
const (
	partOK       = "ok"
	partDegraded = "degraded"
)

// ready judges the parts of the server. A failed limiter does not make a server unready: an orchestrator must not restart
// a healthy one because Redis is away, unless the operator asks for that.
func (s *server) ready(ctx context.Context) management.Readiness {
	switch {
	case s.state.draining.Load():
		return management.Readiness{Status: management.NotReady, Reason: "the server is stopping"}
	case !s.state.started.Load():
		return management.Readiness{Status: management.NotReady, Reason: "the server is starting"}
	}
	r := management.Readiness{Status: management.Ready, Checks: map[string]string{"store": partOK, "limiter": partOK}}
	err := s.store.Ping(ctx)
	if unwritten, ok := errors.AsType[*store.WriteError](err); ok {
		r.Status, r.Checks["store"] = management.Degraded, partDegraded+": writes fail: "+describe(unwritten)
	} else if err != nil {
		r.Status, r.Reason, r.Checks["store"] = management.NotReady, "the store does not answer", describe(err)
		return r
	}
	if err := s.shield.Trouble(); err != nil {
		r.Status, r.Checks["limiter"] = management.Degraded, partDegraded+" "+err.Error()
		if s.settings.ShieldReadyRequiresStore {
			r.Status, r.Reason = management.NotReady, "the limiter's store does not answer"
		}
	}
	if s.files != nil {
		r.Checks["files"] = partOK
		if fault := s.files.fault.Load(); fault != nil {
			r.Checks["files"] = partDegraded + ": " + *fault
			if r.Status == management.Ready {
				r.Status = management.Degraded
			}
		}
	}
	return r
}
