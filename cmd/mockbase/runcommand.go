package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// runCommand serves mocks to one command and judges what it called (rule AA41).
type runCommand struct {
	config.IdleForm

	Server      string          `name:"server" group:"target" placeholder:"URL" help:"Use a new session of this server in place of folders; it is ended afterwards."`
	ReadyFile   string          `name:"ready-file" group:"target" placeholder:"FILE" help:"File that serve --ready-file wrote, in place of --server and token."`
	Context     string          `name:"context" group:"target" placeholder:"NAME" help:"Server and sign-in that login keeps under this name, in place of --server and token."`
	Token       config.Secret   `name:"token" group:"target" placeholder:"TEXT" help:"API token for --server. Others can see a flag: prefer --token-file or the variable."`
	TokenFile   string          `name:"token-file" group:"target" placeholder:"FILE" help:"File with the API token."`
	Project     config.Slug     `name:"project" short:"p" group:"target" placeholder:"SLUG" help:"Project; with folders the one that their mocks belong to, whatever the files say."`
	Timeout     config.Duration `name:"timeout" default:"30s" group:"target" placeholder:"TIME" help:"How long a call of the server may take, with what is tried again. The command may take as long as it wants."`
	CAFile      string          `name:"ca-file" group:"target" placeholder:"FILE" help:"Certificates in PEM that sign the server's, beside those of the system."`
	NoUnmatched bool            `name:"no-unmatched" help:"Fail when a request was answered by no mock."`
	Seed        string          `name:"seed" placeholder:"TEXT" help:"Draw what is drawn by this seed, in a session of its own."`
	Report      []string        `name:"report" placeholder:"KIND=FILE" help:"Write the verdict into a file: junit=FILE or json=FILE (repeatable)."`

	Dirs []string `arg:"" optional:"" name:"dir" help:"Folders with mocks; none with --server."`
}

// Help is what kong prints below the summary.
func (*runCommand) Help() string {
	return `mockbase run ./mocks -- go test ./...

The command finds the server in MOCKBASE_URL, the mocks in MOCKBASE_MOCK_URL and a token in MOCKBASE_TOKEN. Afterwards its
calls are judged by what the mocks expect. The exit code is the command's own unless that is 0, else 1 when the verdict is not
"pass". The server listens on a free port of this machine and keeps nothing; it minds the settings of serve that are not about
where it is reached or what it keeps, such as MOCKBASE_ENGINE_LIMIT.`
}

// Run runs the command.
func (c *runCommand) Run(p *process) error {
	reports, err := reportsOf(c.Report)
	if err != nil {
		return err
	}
	if err := c.check(p); err != nil {
		return err
	}
	// What comes before the command runs is passed on to it once it does.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	t := &trial{process: p, options: c, reports: reports, signals: signals}
	if namesServer(p) {
		return t.there()
	}
	return t.here(c.Dirs)
}

// namesServer tells whether a flag says which server is used: variables and the current context do not count (rule C-40).
func namesServer(p *process) bool {
	return slices.ContainsFunc([]string{"server", "ready-file", "context"}, func(name string) bool { return p.origins[name] == config.FromFlag })
}

// check looks whether there are mocks and a command, as p.words has it.
func (c *runCommand) check(p *process) error {
	var reason string
	switch remote := namesServer(p); {
	case len(p.words) == 0:
		reason = "there is no command to run"
	case remote && len(c.Dirs) > 0:
		reason = "a server has mocks of its own, and folders are given as well"
	case !remote && len(c.Dirs) == 0:
		reason = "there is no folder with mocks"
	case !remote && (p.origins["token"] == config.FromFlag || p.origins["token-file"] == config.FromFlag):
		reason = "a token is for --server, and none is given"
	default:
		return nil
	}
	return &failure{code: exitUsage, err: errors.New(reason), fix: "write mockbase run DIR -- COMMAND, or mockbase run --server URL -- COMMAND"}
}

// trial is one run of a command.
type trial struct {
	*process

	options *runCommand
	reports reports
	signals <-chan os.Signal
}

// there uses a new session of a server that runs already.
func (t *trial) there() error {
	c := t.options
	r, err := t.connect(t.ctx, &config.Target{
		Server: c.Server, ReadyFile: c.ReadyFile, Context: c.Context, Token: c.Token, TokenFile: c.TokenFile, Project: c.Project, Timeout: c.Timeout, CAFile: c.CAFile,
	})
	if err != nil {
		return err
	}
	defer r.Close()
	s, err := t.begin(r)
	if err != nil {
		return r.explain("start session", err)
	}
	ended := t.try(r.Server(), s.URL, r.Token())
	judged := r.explain("verify", t.judge(r, s.Name, "mockbase traffic get --project "+r.slug))
	return worst(ended, judged, r.explain("end session", s.end(r)))
}

// here serves folders on a free port of this machine.
func (t *trial) here(dirs []string) (err error) {
	s, err := t.prepare(dirs)
	if err != nil {
		return err
	}
	defer func() { err = worst(err, s.close()) }()
	if err := s.start(dirs); err != nil {
		return err
	}
	defer func() { err = worst(err, s.drain(t.signals)) }()
	slugs := []string{}
	for _, one := range s.catalog.Projects() {
		slugs = append(slugs, one.Project.Slug)
	}
	if len(slugs) != 1 && (t.options.Seed != "" || len(t.reports) > 0) {
		return &failure{
			code: exitUsage, err: fmt.Errorf("--seed and --report are for one project, and the folders hold %d", len(slugs)),
			fix: "name one folder for each project and run them one by one, or put all into one project with --project",
		}
	}
	return t.use(s, slugs)
}

// prepare reads the settings of the server. Those that say where it is reached and what it keeps are not for it.
func (t *trial) prepare(dirs []string) (*server, error) {
	own := &process{stdio: stdio{In: t.In, Out: t.Err, Err: t.Err}, ctx: t.ctx, environ: t.environ, clock: t.clock}
	args := []string{"serve", "--addr=127.0.0.1:0", "--ephemeral"}
	if path := t.settings.Path(); path != "" {
		args = append(args, "--config="+path)
	}
	if t.options.Project != "" {
		args = append(args, "--project="+string(t.options.Project))
	}
	var g grammar
	if _, err := own.parse(&g, append(append(args, "--"), dirs...)); err != nil {
		return nil, err
	}
	own.quiet, own.verbose, own.noColor = t.quiet, t.verbose, t.noColor
	settings := &g.Serve.Settings
	settings.Listen = config.Listen{Addr: settings.Addr, AllowUpstream: settings.AllowUpstream, ShutdownTimeout: settings.ShutdownTimeout}
	settings.ReadyFile, settings.PortFile, settings.PrintURL, settings.FirstUser = "", "", false, config.FirstUser{}
	if !own.origins["log-level"].Stated() {
		settings.LogLevel = "warn"
	}
	maps.DeleteFunc(own.origins, func(name string, _ config.Origin) bool {
		return slices.Contains([]string{"data-dir", "tls-cert", "tls-key", "admin-email", "admin-password", "admin-password-file"}, name)
	})
	if found := settings.Check(own.origins); len(found) > 0 {
		return nil, settingFaults(found)
	}
	return &server{process: own, settings: settings, log: own.newJournalist(settings.Messages), state: &readiness{}, began: t.clock(), guest: true, shelf: documentShelf{compile: describeDocument}}, nil
}

// use runs the command with the server, and judges each of its projects.
func (t *trial) use(s *server, slugs []string) error {
	base := s.baseURL(s.listen[0])
	c, err := client.New(client.Options{Server: base, Token: s.readyToken(), Timeout: t.options.Timeout.Span(), Agent: "mockbase/" + version})
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	defer c.Close()
	r := &remote{Client: c, process: t.process, ctx: t.ctx, place: "the server of this command", holder: "this command"}
	mocks, session := base+"/m", ""
	if len(slugs) == 1 {
		r.slug, mocks = slugs[0], s.projectURL(slugs[0])
	}
	if t.options.Seed != "" {
		begun, err := t.begin(r)
		if err != nil {
			return r.explain("start session", err)
		}
		mocks, session = begun.URL, begun.Name
	}
	result := t.try(base, mocks, s.readyToken())
	for _, slug := range slugs {
		r.slug = slug
		if len(slugs) > 1 && !t.quiet {
			printf(t.Err, "project %s\n", slug)
		}
		result = worst(result, r.explain("verify", t.judge(r, session, "exchange")))
	}
	return result
}

// begun is a session of the run's own.
type begun struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// begin starts a session that nobody else uses (M-186). A command that takes longer than a session can last is not served to
// its end.
func (t *trial) begin(r *remote) (*begun, error) {
	path, err := r.below("sessions")
	if err != nil {
		return nil, err
	}
	body := map[string]any{"ttl": "24h", "labels": map[string]string{"by": "mockbase run"}}
	if t.options.Seed != "" {
		body["seed"] = t.options.Seed
	}
	answer, err := r.exchange(client.Request{Method: http.MethodPost, Path: path, Creates: true}, body)
	if err != nil {
		return nil, err
	}
	s := &begun{}
	return s, answer.JSON(s)
}

// end ends the session (M-188).
func (s *begun) end(r *remote) error {
	path, err := r.below("sessions", s.Name)
	if err != nil {
		return err
	}
	_, err = r.exchange(client.Request{Method: http.MethodDelete, Path: path}, nil)
	return err
}

// judge prints the verdict, beside what the command printed, and writes the reports.
func (t *trial) judge(r *remote, session, show string) error {
	question := map[string]any{}
	if session != "" {
		question["session"] = session
	}
	if t.options.NoUnmatched {
		question["unmatched"] = "fail"
	}
	v, whole, err := r.judge(question, 0)
	if err != nil {
		return err
	}
	passed := v.Verdict == "pass"
	if !passed || !t.quiet {
		v.print(t.Err, show)
	}
	if err := t.reports.write(v, whole); err != nil {
		return err
	}
	if !passed {
		return fail(exitCheckFailed, "", errSilent)
	}
	return nil
}

// try runs the command to its end. Its failure ends this process with the same code, or with 128 and the signal that ended it.
func (t *trial) try(base, mocks, token string) error {
	command := exec.CommandContext(t.ctx, t.words[0], t.words[1:]...) //nolint:gosec // running it is what the user asks for
	command.Stdin, command.Stdout, command.Stderr = t.In, t.Out, t.Err
	command.Env = t.environment(map[string]string{"MOCKBASE_URL": base, "MOCKBASE_MOCK_URL": mocks, "MOCKBASE_TOKEN": token})
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 10 * time.Second
	if err := command.Start(); err != nil {
		return &failure{code: exitUsage, what: "run " + t.words[0], err: err, fix: "name a program that can be run, by its path or one that PATH knows"}
	}
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	for {
		select {
		case err := <-done:
			return endOf(command, err)
		case got := <-t.signals:
			if got == os.Interrupt && isTerminal(t.In) {
				continue // the terminal has sent it to the command as well
			}
			_ = command.Process.Signal(got) // a command that has just ended needs none
		}
	}
}

// environment is the command's: this process's, without what names another server or token.
func (t *trial) environment(more map[string]string) []string {
	other := []string{"MOCKBASE_READY_FILE", "MOCKBASE_CONTEXT", "MOCKBASE_TOKEN_FILE", "MOCKBASE_PROJECT"}
	var list []string
	for _, pair := range t.environ {
		name, _, _ := strings.Cut(pair, "=")
		if _, replaced := more[name]; !replaced && !slices.Contains(other, name) {
			list = append(list, pair)
		}
	}
	for name, value := range more {
		if value != "" {
			list = append(list, name+"="+value)
		}
	}
	return list
}

// endOf is how a command ended, nil when all went well.
func endOf(command *exec.Cmd, err error) error {
	if err == nil {
		return nil
	}
	if command.ProcessState == nil {
		return fail(exitEnvironment, "wait for the command", err)
	}
	code := command.ProcessState.ExitCode()
	if status, ok := command.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	if code <= 0 {
		return fail(exitEnvironment, "run "+command.Path, err)
	}
	return fail(exitCode(code), "", errSilent)
}

// worst is the first error of a list: what the command ended with comes before the verdict, and that before what went wrong
// at the end.
func worst(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}
