package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
)

// signInFlags say who signs in with a password. A password is no flag: others could see it.
type signInFlags struct {
	Email         string `name:"email" placeholder:"ADDRESS" help:"E-mail address to sign in with; asked for on a terminal."`
	PasswordStdin bool   `name:"password-stdin" help:"Read the password from standard input, and do not ask for it."`
}

// maxPassword is more than any password has (rule M-36).
const maxPassword = 1 << 13

// password reads the password of --password-stdin, or asks for it without showing what is typed.
func (p *process) password(ctx context.Context, piped bool, prompt string) (string, error) { //nolint:revive // piped is the flag --password-stdin
	if piped {
		text, err := io.ReadAll(io.LimitReader(p.In, maxPassword))
		if err != nil {
			return "", &failure{code: exitUsage, what: "read password", err: err}
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
	}
	terminal, ok := p.In.(*os.File)
	if !ok || !isTerminal(p.In) {
		return "", &failure{code: exitUsage, what: "read password", err: errors.New("there is no terminal to ask at"), fix: "pipe it in with --password-stdin"}
	}
	restore, err := hideInput(terminal)
	if err != nil {
		return "", &failure{code: exitUsage, what: "read password", err: err, fix: "pipe it in with --password-stdin"}
	}
	defer restore()
	printf(p.Err, "%s: ", prompt)
	type line struct {
		text string
		err  error
	}
	typed := make(chan line, 1)
	go func() {
		text, err := readLine(terminal)
		typed <- line{text, err}
	}()
	defer printf(p.Err, "\n")
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-typed:
		if got.err != nil {
			return "", &failure{code: exitUsage, what: "read password", err: got.err}
		}
		return got.text, nil
	}
}

// email is the address of --email, or what a person answers.
func (p *process) email(stated, usual string) (string, error) {
	if stated != "" {
		return stated, nil
	}
	if !isTerminal(p.In) {
		if usual != "" {
			return usual, nil
		}
		return "", &failure{code: exitUsage, err: errors.New("whose password it is has to be said"), fix: "add --email"}
	}
	if usual != "" {
		printf(p.Err, "E-mail address [%s]: ", usual)
	} else {
		printf(p.Err, "E-mail address: ")
	}
	typed, err := readLine(p.In)
	if err != nil {
		return "", &failure{code: exitUsage, what: "read e-mail address", err: err, fix: "add --email"}
	}
	if typed = strings.TrimSpace(typed); typed == "" {
		typed = usual
	}
	return typed, nil
}

// withPassword signs in with a password, does something as that person, and signs out again.
func (r *remote) withPassword(flags *signInFlags, usual string, do func(as *client.Client) error) error {
	email, err := r.email(flags.Email, usual)
	if err != nil {
		return err
	}
	password, err := r.password(r.ctx, flags.PasswordStdin, "Password of "+printable(email)+" at "+r.Server())
	if err != nil {
		return err
	}
	var answer struct {
		AccessToken string `json:"accessToken"`
	}
	request := client.Request{Method: http.MethodPost, Path: "/auth/login"}
	if err := r.As("").Send(r.ctx, request, map[string]string{"email": email, "password": password}, &answer); err != nil {
		return r.loginRefused(email, err)
	}
	as := r.As(answer.AccessToken)
	err = do(as)
	out := client.Request{Method: http.MethodPost, Path: "/auth/logout", Header: http.Header{"Mockbase-Csrf": {"1"}}}
	// The sign-in was for this alone; one that cannot be ended now ends by itself.
	_, _ = as.Do(context.WithoutCancel(r.ctx), out)
	return err
}

// loginRefused says what is wrong with a sign-in, and never the password.
func (r *remote) loginRefused(email string, err error) error {
	refused, ok := errors.AsType[*client.RefusedError](err)
	if !ok {
		return err
	}
	f := &failure{code: exitNotAllowed, what: "sign in as " + printable(email) + " at " + r.Server(), err: refused.Problem}
	switch refused.Problem.Code {
	case mockbase.CodeInvalidCredentials:
		f.fix = "try again, or have the password reset: mockbase user reset-password"
	case mockbase.CodeLoginBanned, mockbase.CodeRateLimited:
		f.code, f.fix = exitRefused, "try again"+after(refused.RetryAfter)
	case mockbase.CodeSetupRequired:
		f.fix = "make the first administrator: mockbase user create --admin, or with the code that the server printed"
	default:
		return err
	}
	return f
}

// elevated does something that may need a password that was given lately (rule M-40): first with the credential at hand,
// and when that is not enough, as the person who types the password.
func (r *remote) elevated(flags *signInFlags, do func(as *client.Client) error) error {
	if !flags.PasswordStdin {
		err := do(r.Client)
		code := mockbase.ErrorCode(err)
		if code != mockbase.CodeSessionRequired && code != mockbase.CodeReauthenticate || !isTerminal(r.In) {
			return err
		}
	}
	usual := ""
	if kept, err := r.loadCredentials(); err == nil {
		if found := kept.of(r.Server()); found != nil {
			usual = found.Email
		}
	}
	return r.withPassword(flags, usual, do)
}
