package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/template"
)

// tellApart gives a route the key that tells the clients of its mock apart whose back-off is judged (rule AA32), and returns
// what its templates read.
func (r *route) tellApart(c *mockbase.Config, s *settings, faults *mockbase.Faults) template.Uses {
	expect := r.mock.Expect
	if expect == nil || expect.Backoff == nil || len(expect.Backoff.Keys) == 0 {
		return 0
	}
	b := &limitsBuilder{config: c, settings: s, owner: r.mock.ID, name: r.mock.Name, faults: faults}
	own := b.key(expect.Backoff.Keys, "#/expect/backoff")
	r.clients = &own
	return b.made.uses
}

// clientKey is the key of the mock's clients: that of expect.backoff, else that of the first limit which has one; nil is their
// address.
func (r *route) clientKey() *key {
	if r.clients != nil {
		return r.clients
	}
	if own, ok := r.limits.(*limits); ok {
		for i := range own.list {
			if k := &own.list[i].key; len(k.parts) > 0 {
				return k
			}
		}
	}
	return nil
}

// recordClient notes which client of its mock sent the request.
func (c *call) recordClient(x *mockbase.Exchange) {
	if c.outcome.route == nil {
		return
	}
	k := c.outcome.route.clientKey()
	if k == nil {
		return
	}
	c.route = c.outcome.route
	c.forgetScope()
	x.ClientKey = k.of(c)
	if len(k.parts) == 0 {
		x.ClientKey = mockbase.ClientOfAll
	}
}

// ClientKeys compiles a key, and returns what finds its value for a recorded exchange, as expect.backoff.key would have; it
// reports false where the value was masked when the exchange was recorded, or the exchange cannot be read any more. It fails
// with CodeNotFound for a project that is not published, and with CodeValidationFailed for a template that cannot be read.
func (e *Engine) ClientKeys(ctx context.Context, projectID string, keys []string) (func(*mockbase.Exchange) (string, bool), error) {
	p, err := e.published(projectID)
	if err != nil {
		return nil, err
	}
	var faults mockbase.Faults
	b := &limitsBuilder{config: &p.project.Config, settings: p.settings, faults: &faults}
	own := b.key(keys, "#")
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return func(x *mockbase.Exchange) (string, bool) {
		if slices.ContainsFunc(keys, func(text string) bool { return hidesKey(x, text) }) {
			return "", false
		}
		if len(own.parts) == 0 {
			return mockbase.ClientOfAll, true
		}
		c, err := e.lookAgain(ctx, p, x)
		if err != nil {
			return "", false
		}
		c.session = p.sessions.Default()
		if c.prefer() != nil || c.locate() != nil || c.readBody() != nil {
			return "", false
		}
		if entry := p.mockOf(x.Mock.ID); entry != nil {
			c.route = entry.route
		} else if slices.ContainsFunc(keys, func(text string) bool { return strings.HasPrefix(text, "path:") }) {
			return "", false
		}
		text := own.of(c)
		return text, !strings.Contains(text, mask)
	}, nil
}

// hidesKey tells whether the value of a key was masked when an exchange was recorded.
func hidesKey(x *mockbase.Exchange, text string) bool {
	if !x.Redacted {
		return false
	}
	kind, name, _ := strings.Cut(text, ":")
	switch kind {
	case "header":
		return isMasked(x, name)
	case "cookie":
		return isMasked(x, "Cookie")
	case "query":
		return mockbase.IsSecretName(name)
	case "jwt":
		return isMasked(x, "Authorization")
	default:
		return false
	}
}
