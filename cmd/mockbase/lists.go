package main

import (
	"context"
	"net/http"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// openLists makes the layers of safelist and blocklist, if there is an entry in one of them.
func (s *server) openLists() error {
	rules := guard.Rules{
		Exclude: s.settings.ShieldExclude, Safelist: config.Entries(s.settings.ShieldSafelist), Blocklist: config.Entries(s.settings.ShieldBlocklist),
	}
	if len(rules.Safelist)+len(rules.Blocklist) == 0 {
		return nil
	}
	judge, err := guard.New(guard.Options{Rules: rules, Clock: s.clock})
	if err != nil {
		return &failure{code: exitUsage, what: "lists of the shield", err: err}
	}
	s.ends = append(s.ends, judge.Close)
	layers, err := httplimit.NewLayers(httplimit.LayerOptions{
		Judge: markingJudge{judge}, Addresses: s.shield.addresses, Body: httplimit.Body(s.settings.ShieldBody),
		LogMatches: httplimit.MatchLog(s.settings.ShieldLogMatches), Logger: s.log.Logger, Clock: s.clock,
	})
	if err != nil {
		return err
	}
	s.ends = append(s.ends, layers.Close)
	s.shield.lists = layers
	return nil
}

// safeMark tells what stands behind the lists that a request is on the safelist.
type safeMark struct{ safe bool }

type safeKey struct{}

// marked gives a request a mark of its own.
func marked(r *http.Request) (*http.Request, *safeMark) {
	mark := &safeMark{}
	return r.WithContext(context.WithValue(r.Context(), safeKey{}, mark)), mark
}

func isSafe(ctx context.Context) bool {
	mark, ok := ctx.Value(safeKey{}).(*safeMark)
	return ok && mark.safe
}

// markingJudge notes in a request's mark that the safelist let it pass.
type markingJudge struct{ *guard.Guard }

// Judge decides as the judge behind it does.
func (j markingJudge) Judge(ctx context.Context, a *ratelimit.Attempt) ratelimit.Verdict {
	v := j.Guard.Judge(ctx, a)
	if mark, ok := ctx.Value(safeKey{}).(*safeMark); ok {
		mark.safe = v.Allowed && v.Layer == ratelimit.LayerSafelist
	}
	return v
}

// unlessSafe puts a middleware before requests that are not on the safelist (rule RL88).
func unlessSafe(limit func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		limited := limit(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isSafe(r.Context()) {
				next.ServeHTTP(w, r)
				return
			}
			limited.ServeHTTP(w, r)
		})
	}
}

// listed puts the lists before a guard: the blocklist refuses, the safelist lets pass uncounted.
type listed struct {
	lists *httplimit.Layers
	// guard is nil for no limit.
	guard *httplimit.Guard
}

// Middleware puts lists and guard before a handler.
func (l listed) Middleware(next http.Handler) http.Handler {
	if l.guard != nil {
		next = unlessSafe(l.guard.Middleware)(next)
	}
	behind := l.lists.Middleware(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, _ = marked(r)
		behind.ServeHTTP(w, r)
	})
}

// Admit judges one request. If it returns false, the refusal is written.
func (l listed) Admit(w http.ResponseWriter, r *http.Request) (ratelimit.Decision, bool) {
	asked, mark := marked(r)
	passed := false
	l.lists.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true })).ServeHTTP(w, asked)
	switch {
	case !passed:
		return ratelimit.Decision{}, false
	case mark.safe || l.guard == nil:
		return ratelimit.Decision{Allowed: true, Skipped: true}, true
	default:
		return l.guard.Admit(w, r)
	}
}
