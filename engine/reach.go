package engine

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/mockbase/mockbase/engine/outbound"
	"github.com/mockbase/mockbase/engine/proxy"
)

// reach is what a project may call, with the connections that it keeps (rules S6 and T13).
type reach struct {
	// allow is the project's own list, as it was written; empty is none.
	allow     []string
	forwarder *proxy.Forwarder
	// hooks makes the webhooks.
	hooks *http.Transport
}

func (e *Engine) newReach(policy *outbound.Policy, allow []string) *reach {
	return &reach{
		allow: allow, forwarder: proxy.New(policy, e.ended.Done()),
		hooks: policy.Transport(outbound.TransportOptions{Reuse: outbound.FreshConnections}),
	}
}

// reachOf returns what a project of this list may call. The former program's is taken over when the list is the same, so that
// its connections stay; without a list it is the one of all projects.
func (e *Engine) reachOf(allow []string, former *program) (*reach, error) {
	if len(allow) == 0 {
		return e.reach, nil
	}
	if former != nil && slices.Equal(former.reach.allow, allow) {
		return former.reach, nil
	}
	list, err := outbound.ParseList(allow)
	if err != nil {
		return nil, fmt.Errorf("read upstreamAllow: %w", err)
	}
	return e.newReach(e.policy.Narrow(list), allow), nil
}

// leave closes the connections that no call of a former program uses, unless another one goes on with them. Those in use are
// closed as they come back.
func (e *Engine) leave(former, next *program) {
	if former == nil || former.reach == e.reach || next != nil && next.reach == former.reach {
		return
	}
	former.reach.close()
}

func (r *reach) close() {
	r.forwarder.CloseIdle()
	r.hooks.CloseIdleConnections()
}
