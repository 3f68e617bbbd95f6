package shield

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

// checkForce finds an order to the circuit that is none, or is over.
func (s *Shield) checkForce(c *mockbase.ShieldCircuit, faults *mockbase.Faults) {
	switch ratelimit.CircuitForce(c.Force) {
	case ratelimit.ForceLockdown, ratelimit.ForceClosed:
	case ratelimit.ForceNone:
		if !c.ForceUntil.IsZero() {
			faults.Add(nil, "#/circuit/forceUntil", mockbase.FieldConflict, "there is no order that would end: write force as well, or leave this out")
		}
		return
	default:
		faults.Add(nil, "#/circuit/force", mockbase.FieldEnum, "an order to the circuit is lockdown or closed")
	}
	if now := s.options.Clock(); !c.ForceUntil.IsZero() && !c.ForceUntil.After(now) {
		faults.Add(nil, "#/circuit/forceUntil", mockbase.FieldRange, "the end has passed: the server's time is %s", now.UTC().Format(time.RFC3339))
	}
}

// ended says whether a timed order is over.
func (s *Shield) ended(c *mockbase.ShieldCircuit) bool {
	return c.Force != "" && !c.ForceUntil.IsZero() && !c.ForceUntil.After(s.options.Clock())
}

// withoutEnded returns settings without an order to the circuit that is over: it is in force no more.
func (s *Shield) withoutEnded(settings mockbase.ShieldSettings) mockbase.ShieldSettings { //nolint:gocritic // it is changed
	if s.ended(&settings.Circuit) {
		settings.Circuit.Force, settings.Circuit.ForceUntil = "", time.Time{}
	}
	return settings
}

// sameOrder says whether two settings give the circuit the same order.
func sameOrder(a, b *mockbase.ShieldCircuit) bool {
	return a.Force == b.Force && a.ForceUntil.Equal(b.ForceUntil)
}

// force gives an order to the circuit, or takes it back (rule RL104). The guard must have a circuit.
func (s *Shield) force(ctx context.Context, c *mockbase.ShieldCircuit, by string) error {
	err := s.guard.ForceCircuit(ctx, ratelimit.CircuitForce(c.Force), c.ForceUntil, guard.Actor{Name: by})
	if errors.Is(err, ratelimit.ErrUnavailable) {
		return &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the register of the circuit does not answer", Err: err}
	}
	return err
}

// changeForce follows a change of the order. It is called after the rules with the order are in force, and before those
// without.
func (s *Shield) changeForce(ctx context.Context, from, to *mockbase.ShieldCircuit, by string) error {
	present := s.guard.Circuit().Record // An order that did not arrive the first time is given again.
	obeyed := to.Force == "" || string(present.Force) == to.Force && present.ForceUntil.Equal(to.ForceUntil)
	if sameOrder(from, to) && obeyed || !s.guarding {
		return nil
	}
	return s.force(ctx, to, by)
}

// restoreForce gives a stored order again that has not ended. Where servers share the circuit the order lives there.
func (s *Shield) restoreForce(ctx context.Context, c *mockbase.ShieldCircuit) {
	if c.Force == "" || !s.guarding || s.options.Circuits != nil || s.ended(c) {
		return
	}
	if err := s.force(ctx, c, ""); err != nil {
		s.options.Logger.Warn("an order to the circuit is not in force", slog.String("force", c.Force), slog.String("reason", err.Error()))
	}
}

// needsCircuit says whether there must be a circuit: one that is disabled follows orders all the same.
func needsCircuit(mode config.CircuitMode, c *mockbase.ShieldCircuit) bool {
	return mode != config.CircuitMode(guard.CircuitDisabled) || c.Force != ""
}
