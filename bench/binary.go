package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Binary is the product itself with a data directory of its own.
type Binary struct {
	program, dir string
}

// The account that a fresh data directory gets.
const (
	adminEmail    = "bench@example.test"
	adminPassword = "correct horse battery staple"
)

// Build builds cmd/mockbase from the module around this one into dir, as it is released.
func Build(ctx context.Context, dir string) (*Binary, error) {
	b := &Binary{program: filepath.Join(dir, "mockbase"), dir: filepath.Join(dir, "data")}
	product, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/mockbase/mockbase").Output()
	if err != nil {
		return nil, fmt.Errorf("find the product's module: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.program, "./cmd/mockbase") //nolint:gosec // our own program
	// It has a go.mod of its own, with more in it than this module needs.
	build.Dir = strings.TrimSpace(string(product))
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build mockbase: %w\n%s", err, out)
	}
	return b, nil
}

// running is a started binary.
type running struct {
	cmd     *exec.Cmd
	log     *bytes.Buffer
	addr    string
	started time.Time
}

// start starts the binary on a free port, without limits, and does not wait for it.
func (b *Binary) start(ctx context.Context) (*running, error) {
	addr, err := freeAddr(ctx)
	if err != nil {
		return nil, err
	}
	s := &running{cmd: exec.CommandContext(ctx, b.program, "serve"), log: &bytes.Buffer{}, addr: addr} //nolint:gosec // our own program
	s.cmd.Env = []string{
		"HOME=" + b.dir, "MOCKBASE_ADDR=" + addr, "MOCKBASE_DATA_DIR=" + b.dir,
		"MOCKBASE_ENGINE_LIMIT=disabled", "MOCKBASE_MANAGEMENT_LIMIT=disabled", "MOCKBASE_LOGIN_LIMIT=disabled",
		"MOCKBASE_ADMIN_EMAIL=" + adminEmail, "MOCKBASE_ADMIN_PASSWORD=" + adminPassword,
	}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.started = time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start mockbase: %w", err)
	}
	return s, nil
}

// end asks the server to stop and waits for it; the log is complete then.
func (s *running) end() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

// freeAddr is a loopback address that nobody listens on.
func freeAddr(ctx context.Context) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close() //nolint:wrapcheck // nothing can be lost
}

// firstAnswer calls a mock until it answers, and returns how long after the start that was.
func (s *running) firstAnswer(ctx context.Context, request []byte) (time.Duration, error) {
	end := time.Now().Add(answerPatience)
	for time.Now().Before(end) && ctx.Err() == nil {
		if ok(ctx, s.addr, request) {
			return time.Since(s.started), nil
		}
		pause(ctx, 200*time.Microsecond)
	}
	s.end()
	return 0, fmt.Errorf("mockbase does not answer:\n%s", s.log)
}

// ok tells whether the server answers a request with 200.
func ok(ctx context.Context, addr string, request []byte) bool {
	load := Load{Addr: addr, Requests: [][]byte{request}, Clients: 1, Count: 1}
	out, err := load.Run(ctx)
	return err == nil && out.Requests == 1 && out.Refused == 0
}

// Fill creates the project with so many mocks through the management API, as a person would, and stops the server again.
func (b *Binary) Fill(ctx context.Context, mocks int) error {
	m, end, err := b.Manage(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := m.CreateProject(ctx, projectSlug); err != nil {
		return err
	}
	_, err = m.Apply(ctx, projectSlug, mocks)
	return err
}

// definitionOf is a definition of so many mocks.
func definitionOf(mocks int) map[string]any {
	documents := make([]json.RawMessage, mocks)
	for i, document := range (Spec{Mocks: mocks}).mocks() {
		documents[i] = document
	}
	return map[string]any{"version": 1, "mocks": documents}
}

// Serve starts the filled binary and returns it as a contender that is asked for one mock, and what ends it.
func (b *Binary) Serve(ctx context.Context, name string, clients int) (Contender, func(), error) {
	s, err := b.start(ctx)
	if err != nil {
		return Contender{}, nil, err
	}
	load := Spec{Mocks: 1}.Load(s.addr, clients)
	if _, err := s.firstAnswer(ctx, load.Requests[0]); err != nil {
		return Contender{}, nil, err
	}
	cpu := func() (time.Duration, error) { return processorTime(s.cmd.Process.Pid) }
	return Contender{Name: name, Load: load, CPU: cpu}, s.end, nil
}

// StartReport is what a start costs.
type StartReport struct {
	// FirstAnswer is the time from the start of the process to the first answer of a mock; the best of several starts and
	// the median.
	Best, Median time.Duration
	// Memory is the resident set after the start, in bytes, once the server has been idle for a moment.
	Memory int64
}

// Starts starts the filled binary several times.
func (b *Binary) Starts(ctx context.Context, number int) (StartReport, error) {
	var report StartReport
	var times []time.Duration
	for range number {
		s, err := b.start(ctx)
		if err != nil {
			return report, err
		}
		requests, _ := Spec{Mocks: 1}.Requests()
		took, err := s.firstAnswer(ctx, requests[0])
		if err != nil {
			return report, err
		}
		times = append(times, took)
		pause(ctx, time.Second)
		memory, err := residentMemory(s.cmd.Process.Pid)
		s.end()
		if err != nil {
			return report, err
		}
		report.Memory = max(report.Memory, memory)
	}
	report.Best, report.Median = percentile(times, 0), percentile(times, 50)
	return report, nil
}
