package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
)

// explain turns the error of a call into one for people: what failed, why, what to do, and the code that the process ends
// with (rules C-7 and C-80). One that is explained already stays as it is.
func (r *remote) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	if r.ctx.Err() != nil && r.process.ctx.Err() == nil && errors.Is(err, context.Canceled) {
		return fail(exitInterrupted, "", errSilent)
	}
	if _, ok := errors.AsType[*failure](err); ok {
		return err
	}
	if _, ok := errors.AsType[*faults](err); ok {
		return err
	}
	if away, ok := errors.AsType[*client.UnreachableError](err); ok {
		return r.unreachable(away)
	}
	if refused, ok := errors.AsType[*client.RefusedError](err); ok {
		return r.refused(what, refused)
	}
	return fail(exitDefect, what, err)
}

// unreachable names the address and where it came from.
func (r *remote) unreachable(away *client.UnreachableError) error {
	f := &failure{code: exitNoAnswer, what: fmt.Sprintf("call %s (%s)", r.Server(), r.place), err: away, fix: "mockbase doctor"}
	if away.Hint != "" {
		f.fix = away.Hint + "; mockbase doctor looks closer"
	}
	return f
}

// refused sorts refusals by what one can do about them.
func (r *remote) refused(what string, refused *client.RefusedError) error {
	f := &failure{what: what, err: refused.Problem}
	if missing := noProject(refused.Problem, r.slug); missing != nil {
		f.code, f.err, f.fix = exitConflict, missing, "mockbase project list shows those that you see, and mockbase project create NAME makes one"
		return f
	}
	switch refused.Status {
	case http.StatusUnauthorized:
		f.code, f.what, f.fix = exitNotAllowed, what+" as "+r.identity(), "mockbase login --server "+r.Server()+", or name a token with --token-file or MOCKBASE_TOKEN"
	case http.StatusForbidden:
		f.code, f.what, f.fix = exitNotAllowed, what+" as "+r.identity(), forbiddenFix(refused.Problem)
	case http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusPreconditionRequired:
		f.code = exitConflict
		r.overruled(f, refused.Problem)
	case http.StatusTooManyRequests:
		f.code, f.fix = exitRefused, "try again"+after(refused.RetryAfter)+", or have the limit raised: --management-limit of serve"
	case http.StatusServiceUnavailable:
		f.code, f.fix = exitNoAnswer, "try again"+after(refused.RetryAfter)+"; mockbase wait waits until the server is ready"
		if refused.Problem.Code == mockbase.CodeBusy {
			f.code = exitRefused
		}
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		f.code, f.fix = exitNoAnswer, "look at the proxy in front of "+r.Server()
	case http.StatusInternalServerError:
		f.code, f.fix = exitDefect, "look for request "+refused.RequestID+" in the server's log, and report it at https://github.com/mockbase/mockbase/issues (version "+version+")"
	default:
		return r.wrongUse(what, refused)
	}
	return f
}

// overruled says in flags what the server says in parameters of its API about items that belong to a source.
func (r *remote) overruled(f *failure, p *mockbase.Error) {
	const advice = "change it there and apply it"
	if message, _, found := strings.Cut(p.Message, "; "+advice); found && p.Code == mockbase.CodeManagedBySource {
		f.err, f.fix = errors.New(message), advice+r.overrule
	}
}

// noProject is what a server says of a project that it does not have, with the name that was given, and without what to ask
// the API; nil for anything else.
func noProject(p *mockbase.Error, slug string) error {
	message, _, _ := strings.Cut(p.Message, "; GET ")
	if p.Code != mockbase.CodeNotFound || !strings.HasPrefix(message, "there is no such project") {
		return nil
	}
	if slug != "" {
		message = strings.Replace(message, "no such project", fmt.Sprintf("no project %q", slug), 1)
	}
	return errors.New(message)
}

// forbiddenFix says what is missing.
func forbiddenFix(p *mockbase.Error) string {
	switch p.Code {
	case mockbase.CodeInsufficientScope:
		return "use a token that has the scope: mockbase token create --scope …"
	case mockbase.CodeSessionRequired, mockbase.CodeReauthenticate:
		return "do it in the dashboard, or with the password: API tokens may not"
	case mockbase.CodeHostRefused, mockbase.CodeOriginRefused:
		return "use an address that the server answers to, or add this one to its --allowed-hosts"
	case mockbase.CodeAddressBlocked:
		return "ask an administrator to lift the ban: mockbase ban list"
	default:
		return "ask an owner of the project, or an administrator, for the role"
	}
}

func after(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return " in " + d.Round(time.Second).String()
}
