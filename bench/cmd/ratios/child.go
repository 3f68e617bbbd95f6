package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"

	"github.com/mockbase/mockbase/bench"
)

// serve is what this program does as a child of itself: it serves what the specification says, prints its address, and
// ends when its standard input does.
func serve(ctx context.Context, text string, stdin io.Reader, stdout io.Writer) error {
	var spec bench.Spec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return fmt.Errorf("read the specification: %w", err)
	}
	handler, closeHandler, err := spec.Handler()
	if err != nil {
		return err
	}
	defer closeHandler()
	addr, end, err := bench.Listen(ctx, handler)
	if err != nil {
		return err
	}
	defer end()
	if spec.Profile != "" {
		stop, err := profile(spec.Profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	if _, err := fmt.Fprintln(stdout, addr); err != nil {
		return fmt.Errorf("tell the address: %w", err)
	}
	_, err = io.Copy(io.Discard, stdin)
	return err //nolint:wrapcheck // nobody listens any more
}

func profile(path string) (stop func(), err error) {
	file, err := os.Create(path) //nolint:gosec // the person who measures names the folder
	if err != nil {
		return nil, fmt.Errorf("make the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("make the profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}, nil
}

// servers are the children of one measure.
type servers struct {
	settings

	all []*bench.Process
}

// start starts a server and returns it as a contender. Requests go to its mocks in turn.
func (s *servers) start(ctx context.Context, name string, spec bench.Spec) (bench.Contender, error) {
	program, err := os.Executable()
	if err != nil {
		return bench.Contender{}, fmt.Errorf("find this program: %w", err)
	}
	if s.profile != "" {
		spec.Profile = filepath.Join(s.profile, name+".pprof")
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return bench.Contender{}, fmt.Errorf("write the specification: %w", err)
	}
	p, err := bench.Start(ctx, program, serveCommand, string(text))
	if err != nil {
		return bench.Contender{}, err
	}
	s.all = append(s.all, p)
	return bench.Contender{Name: name, Load: spec.Load(p.Line, s.clients), CPU: p.CPU}, nil
}

// startFloor starts the floor of a contender: it writes what that one answers, and gets the same requests.
func (s *servers) startFloor(ctx context.Context, of bench.Contender, does ...func(*bench.Floor)) (bench.Contender, error) {
	floor, err := bench.FloorFor(ctx, of.Load.Addr, of.Load.Requests[0])
	if err != nil {
		return bench.Contender{}, err
	}
	for _, do := range does {
		do(floor)
	}
	c, err := s.start(ctx, "floor", bench.Spec{Floor: floor})
	c.Load.Requests, c.Load.Numbered = of.Load.Requests, of.Load.Numbered
	return c, err
}

func (s *servers) end() {
	for _, p := range s.all {
		p.End()
	}
}
