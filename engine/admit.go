package engine

import (
	"net/http"

	"github.com/mockbase/mockbase"
)

// admitted asks the shield. When it refuses, the answer is written.
func (c *call) admitted() bool {
	shield := c.engine.options.Shield
	if shield == nil || c.errand != nil {
		return true
	}
	w := &c.guarded
	*w = shieldWriter{ResponseWriter: c.w, program: c.program, allowed: c.allowed}
	if c.recording != nil {
		w.most = c.engine.options.RecordCap
	}
	admission, ok := shield.Admit(w, c.request)
	c.ticket, c.judged = admission.Ticket, true
	if c.recording != nil {
		c.noteLimit(&admission)
		if !ok {
			c.exchange.Policy = admission.Policy
		}
	}
	if !ok {
		c.outcome.by = mockbase.AnsweredByShield
		c.outcome.status, c.outcome.header = w.status, w.Header()
		c.outcome.body, c.outcome.bodySize = w.body, w.size
	}
	return ok
}

// admits tells whether a request may call the mocks of a project that asks for a token (rule Y11).
func (e *Engine) admits(r *http.Request, projectID string) bool {
	return e.options.Admits != nil && e.options.Admits(r, projectID)
}

// noteLimit records what the shield decided.
func (c *call) noteLimit(a *Admission) {
	d := &a.Decision
	if (d.Policy == nil || d.Skipped) && !a.WouldLimit {
		return
	}
	noted := mockbase.LimitOutcome{
		Policy: a.Policy, Kind: "shield", Allowed: d.Allowed, WouldLimit: a.WouldLimit, Remaining: d.Remaining, RetryAfter: d.RetryAfter,
	}
	if d.Policy != nil {
		noted.Policy = d.Policy.Name
	}
	if a.WouldLimit {
		noted.Allowed = true
	}
	c.exchange.Limits = []mockbase.LimitOutcome{noted}
}

// dismiss tells the shield what became of a request that it was asked about.
func (c *call) dismiss() {
	if c.judged {
		c.engine.options.Shield.Done(Admission{Ticket: c.ticket}, c.outcome.status)
	}
}

// shieldWriter lets the shield's answer be read by browsers of other origins (rule L18), and notes it.
type shieldWriter struct {
	http.ResponseWriter
	program *program
	allowed []string
	status  int
	// body holds the first bytes of the answer, at most most; size counts them all.
	body []byte
	most int
	size int64
}

// WriteHeader completes the header, now that it is known which names are to be exposed.
func (w *shieldWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		h := w.Header()
		if decision := w.program.settings.decision(decisionNone); decision != "" {
			h[headerDecision] = []string{decision}
		}
		w.program.settings.origins.decorate(h, w.allowed)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *shieldWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.body = append(w.body, b[:min(len(b), w.most-len(w.body))]...)
	w.size += int64(len(b))
	return w.ResponseWriter.Write(b)
}

// Unwrap serves http.ResponseController.
func (w *shieldWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
