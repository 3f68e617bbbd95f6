package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
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
	s, err := b.start(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	if _, err := s.firstAnswer(ctx, []byte("GET /readyz HTTP/1.1\r\nHost: "+s.addr+"\r\n\r\n")); err != nil {
		return err
	}
	var signIn struct {
		AccessToken string `json:"accessToken"`
	}
	login := map[string]any{"email": adminEmail, "password": adminPassword}
	if err := s.call(ctx, apiCall{"POST", "/api/v1/auth/login", "", login}, &signIn); err != nil {
		return err
	}
	project := map[string]any{"slug": projectSlug, "name": "Benchmark"}
	if err := s.call(ctx, apiCall{"POST", "/api/v1/projects", signIn.AccessToken, project}, nil); err != nil {
		return err
	}
	documents := make([]json.RawMessage, mocks)
	for i := range documents {
		documents[i] = mockDocument(i)
	}
	definition := map[string]any{"version": 1, "mocks": documents}
	return s.call(ctx, apiCall{"PUT", "/api/v1/projects/" + projectSlug + "/definition", signIn.AccessToken, definition}, nil)
}

// apiCall is one call of the management API.
type apiCall struct {
	method, path, token string
	body                map[string]any
}

// call makes a call and decodes its answer where one is wanted.
func (s *running) call(ctx context.Context, c apiCall, answer any) error {
	got, err := s.send(ctx, c)
	if err == nil && answer != nil {
		err = json.Unmarshal(got, answer)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", c.method, c.path, err)
	}
	return nil
}

func (s *running) send(ctx context.Context, c apiCall) ([]byte, error) {
	text, err := json.Marshal(c.body)
	if err != nil {
		return nil, fmt.Errorf("encode body: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, c.method, "http://"+s.addr+c.path, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("send request: %w", err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if response.StatusCode > 299 {
		return nil, fmt.Errorf("%s: %s", response.Status, got)
	}
	return got, nil
}

// Serve starts the filled binary and returns it as a contender that is asked for one mock, and what ends it.
func (b *Binary) Serve(ctx context.Context, name string, clients int) (Contender, func(), error) {
	s, err := b.start(ctx)
	if err != nil {
		return Contender{}, nil, err
	}
	requests := Requests(1)
	if _, err := s.firstAnswer(ctx, requests[0]); err != nil {
		return Contender{}, nil, err
	}
	load := Load{Addr: s.addr, Requests: requests, Clients: clients}
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
		took, err := s.firstAnswer(ctx, Requests(1)[0])
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
