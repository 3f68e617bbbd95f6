package httplimit

import (
	"net/http"

	"github.com/mockbase/mockbase/ratelimit"
)

// Admission is a request that [Layers.Admit] has judged. The zero Admission is none. It is the size of a pointer, so that
// it fits into an interface without memory of its own.
type Admission struct{ flight *flight }

// Verdict returns what the guard said. It must not be kept beyond [Layers.Done].
func (a Admission) Verdict() *ratelimit.Verdict { return &a.flight.verdict }

// Admit judges one request inside of a handler. If it returns false, the refusal is written and the request is over. If it
// returns true, the limit fields are set where they belong on every answer, and whoever answers the request calls
// [Layers.Done] once with the admission. Unlike [Layers.Middleware] it gives nothing to [ReportFailure] and [AddCost]:
// the status alone says what became of the request. It costs no memory while nothing watches the request.
func (l *Layers) Admit(w http.ResponseWriter, r *http.Request) (Admission, bool) {
	f := l.flight(r)
	f.verdict = l.options.Judge.Judge(r.Context(), &f.attempt)
	l.logDryRuns(r, f, &f.verdict)
	if !f.verdict.Allowed {
		l.refuse(w, r, f, &f.verdict)
	} else if l.announces(&f.verdict) {
		l.announce(w.Header(), &f.verdict)
	}
	return Admission{f}, f.verdict.Allowed
}

// Done tells the guard what status an admitted request was answered with, 0 for none, and ends the admission, that of a
// refused request too. The zero admission is none to end.
func (l *Layers) Done(a Admission, status int) {
	f := a.flight
	if f == nil {
		return
	}
	if f.verdict.Allowed && f.verdict.State != nil {
		l.options.Judge.Done(f.request.Context(), &f.attempt, &f.verdict, f.outcome(status))
	}
	l.land(f)
}
