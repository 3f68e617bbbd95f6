// Command ratios measures MockBase side by side with a bare net/http handler and prints each ratio beside its target.
//
//	go run ./cmd/ratios                      # everything, about seven minutes
//	go run ./cmd/ratios -only static,many    # some of it
//	go run ./cmd/ratios -strict              # a missed target is an error
//	go run ./cmd/ratios -requests 50000      # a short run of the memory measure
//	go run ./cmd/ratios -only static -profile /tmp/profiles
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mockbase/mockbase/bench"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr) //nolint:forbidigo // a program of its own
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ratios:", err)
		os.Exit(1) //nolint:forbidigo // a program of its own
	}
}

// settings are what the flags say.
type settings struct {
	rounds   bench.Rounds
	clients  int
	requests int64
	crowd    int
	creates  int
	away     time.Duration
	outages  int
	profile  string
	document string
	only     []string
	strict   bool
}

// serveCommand is the hidden command by which the program starts itself as a server.
const serveCommand = "serve"

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	redisstore.RedirectClientLog(nil) // A Redis that is away is what is measured.
	if len(args) == 2 && args[0] == serveCommand {
		return serve(ctx, args[1], stdin, stdout)
	}
	var s settings
	var only string
	flags := flag.NewFlagSet("ratios", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&s.rounds.Number, "rounds", 9, "rounds of each comparison")
	flags.DurationVar(&s.rounds.Length, "length", 700*time.Millisecond, "length of one turn in a round")
	flags.IntVar(&s.clients, "clients", 16, "connections that ask at the same time")
	flags.Int64Var(&s.requests, "requests", 1_000_000, "requests of the memory measure")
	flags.IntVar(&s.crowd, "crowd", 10_000, "requests that wait at the same time; half of it are open streams")
	flags.IntVar(&s.creates, "creates", 1000, "mocks that are created one by one in each round")
	flags.DurationVar(&s.away, "away", 1500*time.Millisecond, "how long it is away")
	flags.IntVar(&s.outages, "outages", 3, "how often Redis goes away in each way")
	flags.StringVar(&s.profile, "profile", "", "folder for a CPU profile of each server")
	flags.StringVar(&s.document, "document", "", "OpenAPI document of which copies are loaded, beside those that are made up")
	flags.StringVar(&only, "only", "", "measures to take, separated by commas: "+strings.Join(names(), ", "))
	flags.BoolVar(&s.strict, "strict", false, "end with 1 when a target is missed")
	if err := flags.Parse(args); err != nil {
		return errors.Join(errors.New("read flags"), err)
	}
	if only != "" {
		s.only = strings.Split(only, ",")
	}
	return measureAll(ctx, s, stdout)
}

func measureAll(ctx context.Context, s settings, out io.Writer) error {
	for _, name := range s.only {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("no measure is called %q: there are %s", name, strings.Join(names(), ", "))
		}
	}
	t := &table{out: out}
	for _, m := range measures() {
		if len(s.only) > 0 && !slices.Contains(s.only, m.name) {
			continue
		}
		t.heading(m.title)
		if err := m.take(ctx, s, t); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return t.conclude(s)
}
