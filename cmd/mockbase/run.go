package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/mattn/go-isatty"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// The linker fills these in.
var (
	version = "dev"
	commit  = "unknown"
	builtAt = "unknown"
)

// stdio are the streams of a command: what it asks for goes to Out, what it has to say to Err (rule C-1).
type stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// printf writes to a stream of the process. Who cannot be told cannot be told that either; a reader that went away ends the
// process by its signal.
func printf(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, args...)
}

// isTerminal tells whether a person sits at the other end of a stream.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// grammar is the command line. Its fields are the commands.
type grammar struct {
	Config  string `name:"config" placeholder:"FILE" help:"Configuration file in YAML; none is read unless named. (MOCKBASE_CONFIG)"`
	Quiet   bool   `name:"quiet" short:"q" help:"Say nothing but errors."`
	NoColor bool   `name:"no-color" help:"Use no colors; the variable NO_COLOR does the same."`
	Verbose int    `name:"verbose" short:"v" type:"counter" help:"Say more; twice for the stack of a defect."`

	Serve       serveCommand       `cmd:"" help:"Run the server."`
	Validate    validateCommand    `cmd:"" help:"Check definition files without a server."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask the server of the same settings whether it is well."`
	Wait        waitCommand        `cmd:"" help:"Wait until a server is ready."`
	Init        initCommand        `cmd:"" help:"Write a first file of mocks."`
	Mock        mockCommands       `cmd:"" help:"Manage single mocks."`
	Try         tryCommand         `cmd:"" help:"Say what would answer a request, and why; or send it."`
	Session     sessionCommands    `cmd:"" help:"Manage sessions: isolated states for tests."`
	Clock       clockCommands      `cmd:"" help:"Move the clock of a session."`
	Scenario    scenarioCommands   `cmd:"" help:"Look at and set the states of scenarios."`
	Reset       resetCommand       `cmd:"" help:"Take back what happened in a project."`
	Limit       limitCommands      `cmd:"" help:"Look after the limits that mocks pretend to have."`
	Member      memberCommands     `cmd:"" help:"Say who may do what in a project."`
	Ban         banCommands        `cmd:"" help:"Keep addresses and accounts out."`
	Shield      shieldCommands     `cmd:"" help:"Look at the limits that keep the server alive."`
	Doctor      doctorCommand      `cmd:"" help:"Look for what keeps a server from working, or you from reaching it."`
	OpenAPI     openAPICommand     `cmd:"" name:"openapi" help:"Print the description of the management API."`
	Completion  completionCommand  `cmd:"" help:"Print a script that completes command lines."`
	Apply       applyCommand       `cmd:"" help:"Make a project what files say."`
	Diff        diffCommand        `cmd:"" help:"Show what apply would change."`
	Import      importCommand      `cmd:"" help:"Bring files of other tools into a project, or turn them into definition files."`
	Export      exportCommand      `cmd:"" help:"Write a project, or its traffic, into files."`
	Run         runCommand         `cmd:"" help:"Serve mocks to one command, and judge what it called."`
	Backoff     backoffCommand     `cmd:"" help:"Show how clients behaved that were refused."`
	Verify      verifyCommand      `cmd:"" help:"Judge recorded calls by what was expected."`
	Traffic     trafficCommands    `cmd:"" help:"Look at recorded calls."`
	Tail        tailCommand        `cmd:"" help:"Print calls as they come."`
	Login       loginCommand       `cmd:"" help:"Sign in at a server, and keep a token for later commands."`
	Logout      logoutCommand      `cmd:"" help:"Sign out: delete the token that login made."`
	Context     contextCommands    `cmd:"" help:"Switch between the servers that you are signed in at."`
	Whoami      whoamiCommand      `cmd:"" help:"Show as whom a server knows you."`
	Project     projectCommands    `cmd:"" help:"Manage projects."`
	User        userCommands       `cmd:"" help:"Manage accounts."`
	Token       tokenCommands      `cmd:"" help:"Manage API tokens."`
	Key         keyCommands        `cmd:"" help:"Look after the keys that sign access tokens."`
	Audit       auditCommand       `cmd:"" help:"Print who changed what."`
	Backup      backupCommands     `cmd:"" help:"Make, list and restore copies of the definitions and accounts."`
	DB          struct {
		Check  dbCheckCommand  `cmd:"" help:"Look for damage in the database."`
		Vacuum dbVacuumCommand `cmd:"" help:"Give the room of what was deleted back, while the server is stopped."`
	} `cmd:"" name:"db" help:"Look after the database."`
	Settings struct {
		Show  configShowCommand  `cmd:"" default:"withargs" hidden:"" help:"Print every setting with its value and origin."`
		Check configCheckCommand `cmd:"" help:"Check the settings and print nothing when they are right."`
	} `cmd:"" name:"config" help:"Print or check the settings."`
	Schema  schemaCommand  `cmd:"" help:"Print the JSON Schema of the mock format."`
	Version versionCommand `cmd:"" help:"Print the version."`
	Help    helpCommand    `cmd:"" help:"Explain a command, or the exit codes."`
}

// process is what every command is given: its streams, environment and clock, and the global flags.
type process struct {
	stdio
	ctx context.Context //nolint:containedctx // it is the process's own, handed to each command
	// words are the command that run is to run.
	words    []string
	environ  []string
	clock    func() time.Time
	settings *config.Reader
	// wrong are the settings of the command line whose values cannot be read.
	wrong   []config.Wrong
	origins map[string]config.Origin
	quiet   bool
	noColor bool
	verbose int
	// words of the command line that the command knows: flags, and the names of arguments.
	given naming
}

// run is the program: main calls it with what the process has, tests with what they choose. It returns the exit code.
func run(ctx context.Context, args []string, streams stdio, environ []string) (code int) {
	p := &process{stdio: streams, ctx: ctx, environ: environ, clock: time.Now}
	defer func() {
		if defect := recover(); defect != nil {
			p.printDefect(defect)
			code = int(exitDefect)
		}
	}()
	err := p.dispatch(args)
	if err == nil {
		return int(exitDone)
	}
	if !errors.Is(err, errSilent) {
		printError(p.Err, err)
	}
	return int(codeOf(err))
}

// errSilent is wrapped by errors that have said everything already.
var errSilent = errors.New("said already")

// dispatch reads the command line and runs its command.
func (p *process) dispatch(args []string) error {
	// What stands behind two dashes is for run alone to look at: it is the command line of another program.
	if at := slices.Index(args, "--"); at >= 0 && slices.Contains(args[:at], "run") {
		args, p.words = args[:at], args[at+1:]
	}
	var g grammar
	command, err := p.parse(&g, args)
	if err != nil || command == nil {
		return err
	}
	if len(p.words) > 0 && command.Selected().Name != "run" {
		return usage(fmt.Errorf("unexpected argument %s", p.words[0]))
	}
	return command.Run(p)
}

// parse reads a command line, and the settings that it leaves out. The command is nil where help was asked for, which has
// been printed by then.
func (p *process) parse(g *grammar, args []string) (*kong.Context, error) {
	helped := false
	parser, err := kong.New(g,
		kong.Name("mockbase"),
		kong.Description("A mock API server: define mocks, call them from anywhere, see what was called.\n\nRun \"mockbase serve\" to begin."),
		kong.Writers(p.Out, p.Err),
		kong.Exit(func(int) { helped = true }),
		kong.ExplicitGroups(config.Groups()),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.ValueFormatter(explainFlag),
		kong.Bind(p),
		kong.WithBeforeResolve(p.openSettings),
	)
	if err != nil {
		return nil, fmt.Errorf("read grammar: %w", err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if args, err = config.Hoist(parser.Model.Node, args); err != nil {
		return nil, usage(err)
	}
	args, p.wrong = config.Sift(parser.Model.Node, args)
	command, err := parser.Parse(args)
	if helped {
		return nil, nil //nolint:nilnil // there is no command to run, and nothing is wrong
	}
	if err != nil {
		return nil, p.besides(usage(err))
	}
	p.quiet, p.noColor, p.verbose = g.Quiet, g.NoColor, g.Verbose
	p.origins = p.settings.Note(command)
	p.given = namingOf(command.Selected())
	if found := p.faultsOf(command); len(found) > 0 {
		p.warnOfVariables()
		return nil, settingFaults(found)
	}
	return command, nil
}

// faultsOf returns the wrong values of a command's settings, and if there are any what contradicts each other besides.
func (p *process) faultsOf(command *kong.Context) []config.Fault {
	found := p.settings.Faults()
	if len(found) == 0 {
		return nil
	}
	if whole, ok := reflect.TypeAssert[checked](command.Selected().Target.Addr()); ok {
		found = append(found, whole.Check(p.origins, p.settings.Wrong()...)...)
	}
	return found
}

// checked is a command with the settings of a server.
type checked interface {
	Check(origins map[string]config.Origin, wrong ...string) []config.Fault
}

// besides adds what is wrong with values of the command line to what is wrong with its words.
func (p *process) besides(err error) error {
	f, ok := errors.AsType[*failure](err)
	if len(p.wrong) == 0 || !ok {
		return err
	}
	var found []config.Fault
	for _, w := range p.wrong {
		found = append(found, w.Fault)
	}
	return settingFaults(append(found, config.Fault{Reason: f.Error(), Fix: f.fix}))
}

// openSettings makes the reader that answers for flags which the command line leaves out. It runs when kong knows the
// command line and has not looked elsewhere yet.
func (p *process) openSettings(c *kong.Context) error {
	path, _ := p.lookup("MOCKBASE_CONFIG")
	for _, flag := range c.Model.Flags {
		if stated, ok := c.FlagValue(flag).(string); ok && flag.Name == "config" && stated != "" {
			path = stated
		}
	}
	reader, err := config.NewReader(p.environ, path)
	if err != nil {
		return &failure{code: exitUsage, err: err, fix: "name a file that this user can read with --config or MOCKBASE_CONFIG"}
	}
	p.settings = reader
	reader.Refuse(p.wrong)
	c.AddResolver(reader)
	return nil
}

// usage turns what kong says of a command line into a failure (rule C-5).
func usage(err error) error {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if part := regexp.MustCompile(`^(\S+) must be one of (.+) but got "(.*)"$`).FindStringSubmatch(err.Error()); part != nil {
		return unknownChoice(part[1], part[3], strings.Split(strings.ReplaceAll(part[2], `"`, ""), ","))
	}
	return &failure{code: exitUsage, err: err, fix: "mockbase --help lists the commands, mockbase help COMMAND their flags"}
}

// unknownChoice refuses a value that is none of those that are known; the empty one stands for leaving the flag out.
func unknownChoice(what, value string, known []string) error {
	known = slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == "" })
	f := &failure{code: exitUsage, err: fmt.Errorf("%s knows no %q", what, value), fix: "write one of " + strings.Join(known, ", ")}
	if near := mockbase.Suggest(value, known); near != "" {
		f.err = fmt.Errorf("%s knows no %q, did you mean %q?", what, value, near)
	}
	return f
}

// settingFaults turns faults of settings into an error that lists them all.
func settingFaults(found []config.Fault) error {
	f := &faults{code: exitUsage}
	for _, one := range found {
		line := one.String()
		if one.Place == "" {
			line = "mockbase: " + line
		}
		f.lines = append(f.lines, line)
		f.fixes = append(f.fixes, one.Fix)
	}
	return f
}

// explainFlag adds a setting's variable to its help.
func explainFlag(value *kong.Value) string {
	if value.Flag == nil || value.Flag.Group == nil || value.Flag.Group.Key == "" {
		return value.Help
	}
	if !slices.ContainsFunc(config.Groups(), func(g kong.Group) bool { return g.Key == value.Flag.Group.Key }) {
		return value.Help
	}
	return value.Help + " (" + config.EnvName(value.Name) + ")"
}

// printDefect reports a panic: what to do with it, and its stack when asked (rule C-8).
func (p *process) printDefect(defect any) {
	printf(p.Err, "mockbase: defect: %s\n", oneLine(fmt.Sprint(defect)))
	printFix(p.Err, "run it again with -vv and report what it prints at https://github.com/mockbase/mockbase/issues (version "+version+")")
	if p.verbose > 1 {
		printf(p.Err, "%s", debug.Stack())
	}
}
