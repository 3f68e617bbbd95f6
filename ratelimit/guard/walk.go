package guard

import (
	"context"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// walk is one request on its way through the layers.
type walk struct {
	guard   *Guard
	program *program
	attempt *ratelimit.Attempt
	verdict ratelimit.Verdict
	watches []watch
	held    []*ratelimit.Held
	// silent keeps matches from being counted and told of.
	silent bool
}

// run asks the layers in their order (rule RL86).
func (w *walk) run(ctx context.Context) {
	w.track()
	if w.safelisted() {
		return
	}
	w.guard.circuit.offer(w.program)
	if w.blocked() || w.banned(ctx) || w.limited(ctx) || w.broken() {
		for i := range w.watches {
			w.guard.bans.leave(&w.watches[i])
		}
		giveBack(w.held)
		return
	}
	w.verdict.Allowed = true
	w.verdict.State = w.program.plain
	if len(w.watches)+len(w.held) > 0 {
		w.verdict.State = &passage{program: w.program, watches: w.watches, held: w.held}
	}
}

// giveBack releases places of concurrency tiers (rule RL41).
func giveBack(held []*ratelimit.Held) {
	for _, h := range held {
		h.Release()
	}
}

// refusal is a match of a rule.
type refusal struct {
	layer      ratelimit.Layer
	rule       string
	key        string
	tally      *tally
	status     int
	code       string
	reason     string
	retryAfter time.Duration
	decision   ratelimit.Decision
	hidden     bool
	dry        bool
	// ban is the identifier of the ban that refused.
	ban string
}

// refuse counts a match and tells of it. It ends the walk unless the rule is in dry run (rule RL92).
func (w *walk) refuse(r *refusal) bool {
	mode := ModeLive
	if r.dry || w.program.rules.DryRun {
		mode = ModeDry
	}
	w.tell(r, mode)
	if mode == ModeDry {
		if w.verdict.WouldLimit != "" {
			w.verdict.WouldLimit += ", "
		}
		w.verdict.WouldLimit += string(r.layer) + "/" + r.rule
		return false
	}
	w.verdict = ratelimit.Verdict{
		Layer: r.layer, Rule: r.rule, Reason: r.reason, Status: r.status, Code: r.code, RetryAfter: r.retryAfter,
		Decision: r.decision, Hidden: r.hidden, WouldLimit: w.verdict.WouldLimit,
	}
	return true
}

// tell counts a match and hands it on.
func (w *walk) tell(r *refusal, mode Mode) {
	if w.silent {
		return
	}
	if mode == ModeDry {
		r.tally.dry.Add(1)
	} else {
		r.tally.live.Add(1)
		w.guard.denied.Count(r.rule, r.key)
	}
	if w.guard.onMatch == nil {
		return
	}
	w.guard.onMatch(Match{
		Layer: r.layer, Rule: r.rule, Mode: mode, Key: ratelimit.KeyIdentifier(r.key), Status: r.status, Reason: r.reason,
		RetryAfter: r.retryAfter, Decision: r.decision, Ban: r.ban, Attempt: w.attempt,
	})
}

// track counts for the rules that do nothing else.
func (w *walk) track() {
	for i := range w.program.rules.Track {
		if w.program.rules.Track[i].Match.matches(w.attempt) {
			w.program.tracks[i].dry.Add(1)
		}
	}
}

// safelisted ends the walk of a request that passes everything (rule RL88).
func (w *walk) safelisted() bool {
	l := w.program.safelist
	if l == nil {
		return false
	}
	i := l.find(w.attempt)
	if i < 0 {
		return false
	}
	l.tallies[i].live.Add(1)
	w.verdict = ratelimit.Verdict{Allowed: true, Layer: ratelimit.LayerSafelist, Rule: l.entries[i].Name, Reason: l.entries[i].Reason}
	return true
}

func (w *walk) blocked() bool {
	l := w.program.blocklist
	if l == nil {
		return false
	}
	i := l.find(w.attempt)
	if i < 0 {
		return false
	}
	return w.refuse(&refusal{
		layer: ratelimit.LayerBlocklist, rule: l.entries[i].Name, reason: l.entries[i].Reason, key: addressOf(w.attempt),
		tally: l.tallies[i], status: ratelimit.StatusForbidden,
	})
}

// keyless is the refusal of a request that lacks a part of a rule's key.
func (w *walk) keyless(layer ratelimit.Layer, rule string, t *tally, dry bool) *refusal {
	return &refusal{
		layer: layer, rule: rule, key: addressOf(w.attempt), tally: t, status: ratelimit.StatusForbidden,
		reason: "the request lacks what the rule counts by", dry: dry,
	}
}

// broken asks the circuit.
func (w *walk) broken() bool {
	c := w.program.circuit
	if c == nil {
		return false
	}
	wait, ok := w.guard.circuit.admit(c, w.attempt)
	if ok {
		return false
	}
	return w.refuse(w.byCircuit(c, wait))
}

func (w *walk) byCircuit(c *Circuit, wait time.Duration) *refusal {
	return &refusal{
		layer: ratelimit.LayerCircuit, rule: "circuit", key: addressOf(w.attempt), tally: w.program.circuitTally,
		status: ratelimit.StatusUnavailable, retryAfter: max(wait, minimalWait(wait)), dry: c.DryRun,
	}
}

// minimalWait keeps the wait of a refusal from being none, and leaves Never alone.
func minimalWait(wait time.Duration) time.Duration {
	if wait == ratelimit.Never {
		return wait
	}
	return time.Second
}
