package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// defaultServer is called when nothing names another.
const defaultServer = "http://127.0.0.1:8080"

// remote is a server that a command calls, as the flags, the environment and the sign-ins of the user say.
type remote struct {
	*client.Client
	*process

	ctx    context.Context //nolint:containedctx // it is the command's own, and ends with the first signal
	output config.Output
	// place says where the address came from, holder where the token did.
	place, holder string
	// slug is the project that was named, "" for none.
	slug string
	// slugs are the projects of a ready file.
	slugs []string
	// overrule says how the command can be made to change what belongs to a source, "" where it cannot.
	overrule string
	// sent is the file that the request was made of, if it was.
	sent sentFile
}

// call connects to a server and does what a command is for. Its error is one for people; what says what failed.
func (p *process) call(t *config.Target, what string, do func(r *remote) error) error {
	ctx, stop := signal.NotifyContext(p.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := p.connect(ctx, t)
	if err != nil {
		return err
	}
	defer r.Close()
	return r.explain(what, do(r))
}

// connect finds out which server is meant, and as whom. Nothing is called yet.
func (p *process) connect(ctx context.Context, t *config.Target) (*remote, error) {
	at, err := p.address(t)
	if err != nil {
		return nil, err
	}
	c, err := client.New(client.Options{
		Server: at.server, Token: at.token, CAFile: at.caFile, Timeout: t.Timeout.Span(), Agent: "mockbase/" + version,
	})
	if _, ok := errors.AsType[*client.AddressError](err); ok {
		return nil, &failure{code: exitUsage, err: err, fix: "write it like http://127.0.0.1:8080 (now from: " + at.place + ")"}
	}
	if err != nil {
		return nil, &failure{code: exitUsage, err: err, fix: "name a file of PEM certificates with --ca-file"}
	}
	return &remote{
		Client: c, process: p, ctx: ctx, output: t.Output, place: at.place, holder: at.holder, slug: string(t.Project), slugs: at.slugs,
	}, nil
}

// endpoint is where a server is, and the token for it.
type endpoint struct {
	server, token, caFile string
	place, holder         string
	slugs                 []string
}

// address puts together what flags, environment, file and sign-ins say. What is stated closer wins; an address and the
// token that goes with it stay together, so that no token is sent to a server that it is not of.
func (p *process) address(t *config.Target) (*endpoint, error) {
	for _, pair := range [][2]string{{"server", "ready-file"}, {"server", "context"}, {"context", "ready-file"}, {"token", "token-file"}} {
		if p.origins[pair[0]] == config.FromFlag && p.origins[pair[1]] == config.FromFlag {
			return nil, &failure{code: exitUsage, err: fmt.Errorf("--%s and --%s say the same thing in two ways", pair[0], pair[1]), fix: "drop one of the two"}
		}
	}
	if p.origins["token"] == config.FromFlag && !p.quiet {
		printf(p.Err, "mockbase: warning: other users of this machine can see a token on the command line: prefer --token-file or MOCKBASE_TOKEN\n")
	}
	at := &endpoint{caFile: t.CAFile}
	if err := p.findServer(t, at); err != nil {
		return nil, err
	}
	return at, p.credential(t, at)
}

// findServer finds the server: the closest of --server, --ready-file and --context.
func (p *process) findServer(t *config.Target, at *endpoint) error {
	switch p.closest("server", "ready-file", "context") {
	case "server":
		at.server, at.place = strings.TrimSuffix(t.Server, "/"), config.Spell("server", p.origins["server"])
		return nil
	case "ready-file":
		return at.readReadyFile(t.ReadyFile)
	case "context":
		return p.placeOf(t.Context, at)
	}
	return p.placeOf("", at)
}

// closest is the setting of several that is stated closest, the first of those that are equally close; "" for none.
func (p *process) closest(names ...string) string {
	best, found := 0, ""
	for _, name := range names {
		if near := nearness(p.origins[name]); near > best {
			best, found = near, name
		}
	}
	return found
}

func nearness(o config.Origin) int {
	switch {
	case o == config.FromFlag:
		return 3
	case strings.HasPrefix(string(o), "env "):
		return 2
	case strings.HasPrefix(string(o), "file "):
		return 1
	}
	return 0
}

// placeOf is the server of a context, "" for the current one; the default server when nobody signed in anywhere.
func (p *process) placeOf(name string, at *endpoint) error {
	at.server, at.place = defaultServer, string(config.FromDefault)
	kept, err := p.loadCredentials()
	if err != nil {
		if name == "" && codeOf(err) == exitEnvironment && p.origins["token"].Stated() {
			return nil // whoever states a token needs no sign-in
		}
		return err
	}
	found, err := kept.find(name)
	if err != nil || found == nil {
		return err
	}
	if name == "" {
		name = kept.Current
	}
	at.server, at.token, at.place = found.Server, found.Token, "context "+name
	at.holder = at.place
	if at.caFile == "" {
		at.caFile = found.CAFile
	}
	return nil
}

// credential finds the token, unless the place brought one that nothing closer replaces.
func (p *process) credential(t *config.Target, at *endpoint) error {
	named := p.closest("token", "token-file")
	if named == "" || at.token != "" && nearness(p.origins[named]) < nearness(p.origins[p.closest("ready-file", "context")]) {
		return p.kept(at)
	}
	if nearness(p.origins["token"]) == nearness(p.origins["token-file"]) {
		return &failure{code: exitUsage, err: errors.New("MOCKBASE_TOKEN is set, and so is MOCKBASE_TOKEN_FILE"), fix: "drop one of the two"}
	}
	at.holder = config.Spell(named, p.origins[named])
	if named == "token" {
		at.token = t.Token.Reveal()
		return nil
	}
	text, err := os.ReadFile(t.TokenFile)
	if err != nil {
		return &failure{code: exitUsage, what: "read token", err: err, fix: "name a file that this user can read with --token-file"}
	}
	at.token = strings.TrimSpace(string(text))
	return nil
}

// kept takes the token that login keeps for a server that was named without one.
func (p *process) kept(at *endpoint) error {
	if at.token != "" || at.server == "" || len(at.slugs) > 0 {
		return nil
	}
	credentials, err := p.loadCredentials()
	if err != nil {
		return err
	}
	if found := credentials.of(at.server); found != nil {
		at.token, at.holder = found.Token, "the sign-in at "+found.Server
		if at.caFile == "" {
			at.caFile = found.CAFile
		}
	}
	return nil
}

// readReadyFile takes address, token and projects of a file that serve wrote (rule C-24).
func (a *endpoint) readReadyFile(path string) error {
	const fix = "name the file of serve --ready-file, while that server runs"
	text, err := os.ReadFile(path) //nolint:gosec // the user names the file
	if err != nil {
		return &failure{code: exitNoAnswer, what: "read ready file", err: err, fix: fix}
	}
	var ready readyDocument
	if err := json.Unmarshal(text, &ready); err != nil || ready.AdminURL == "" {
		return &failure{code: exitUsage, what: "read " + path, err: errors.New("it is no ready file of this program"), fix: fix}
	}
	a.server, a.token, a.place, a.holder = strings.TrimSuffix(ready.AdminURL, "/"), ready.Token, "ready file "+path, "ready file "+path
	a.slugs = slices.Sorted(maps.Keys(ready.Projects))
	return nil
}

// project is the project that the command is about. Where none is named, a server that has one only has no other.
func (r *remote) project() (string, error) {
	if r.slug != "" {
		return r.slug, nil
	}
	known := r.slugs
	if len(known) == 0 {
		err := r.List(r.ctx, "/projects", nil, 20, func(item json.RawMessage) error {
			known = append(known, memberText(item, "slug"))
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	switch len(known) {
	case 0:
		return "", &failure{code: exitUsage, err: errors.New("there is no project that you can see"), fix: "name one with --project; mockbase project create SLUG makes one"}
	case 1:
		r.slug = known[0]
		return r.slug, nil
	}
	return "", &failure{code: exitUsage, err: errors.New("the server has several projects"), fix: "name one with --project or MOCKBASE_PROJECT: " + strings.Join(known, ", ")}
}

// below is a path of the project.
func (r *remote) below(segments ...string) (string, error) {
	slug, err := r.project()
	if err != nil {
		return "", err
	}
	return client.Path(append([]string{"projects", slug}, segments...)...), nil
}

// identity names the token that was used by its first characters, which are no secret (rule M-41).
func (r *remote) identity() string {
	const shown = 12
	switch token := r.Token(); {
	case token == "":
		return "nobody"
	case strings.HasPrefix(token, "mb_") && len(token) > shown:
		return "token " + token[:shown] + "… (" + r.holder + ")"
	default:
		return "the token of " + r.holder
	}
}
