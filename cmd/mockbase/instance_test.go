package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// instance is the program in a process of its own.
type instance struct {
	// URL is where it says that it is reached, Addr what it listens on.
	URL, Addr string

	process *exec.Cmd
	said    *transcript
	ended   chan struct{}
}

// transcript is what a process said so far.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *transcript) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(line + "\n")
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// program makes a command that runs this test binary as mockbase, without the variables of whoever runs the tests.
func program(ctx context.Context, tb testing.TB, args ...string) *exec.Cmd {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	name := filepath.Join(tb.TempDir(), "mockbase")
	if err := os.Symlink(self, name); err != nil {
		tb.Fatal(err)
	}
	c := exec.CommandContext(ctx, name, args...)
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "MOCKBASE_") {
			c.Env = append(c.Env, pair)
		}
	}
	return c
}

// start runs a server and waits until it says that it is ready. It ends with the test.
func start(tb testing.TB, args ...string) *instance {
	tb.Helper()
	port := filepath.Join(tb.TempDir(), "port")
	c := program(context.Background(), tb, append([]string{"serve", "--addr=127.0.0.1:0", "--log-format=text", "--port-file=" + port}, args...)...) //nolint:usetesting // it is ended below, in order
	said, err := c.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := c.Start(); err != nil {
		tb.Fatal(err)
	}
	i := &instance{process: c, said: &transcript{}, ended: make(chan struct{})}
	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			i.said.add(lines.Text())
			if url, ok := strings.CutPrefix(lines.Text(), "mockbase ready url="); ok {
				ready <- url
			}
		}
		_ = c.Wait()
		close(i.ended)
	}()
	tb.Cleanup(func() {
		_ = c.Process.Kill()
		<-i.ended
		if tb.Failed() {
			tb.Logf("the server said:\n%s", i.said)
		}
	})
	select {
	case i.URL = <-ready:
	case <-i.ended:
		tb.Fatalf("the server ended with %d", c.ProcessState.ExitCode())
	case <-time.After(patience):
		tb.Fatal("the server is not ready")
	}
	number, err := os.ReadFile(port)
	if err != nil {
		tb.Fatal(err)
	}
	i.Addr = "127.0.0.1:" + strings.TrimSpace(string(number))
	return i
}

// signal sends a signal.
func (i *instance) signal(tb testing.TB, s os.Signal) {
	tb.Helper()
	if err := i.process.Process.Signal(s); err != nil {
		tb.Fatal(err)
	}
}

// wait returns the exit code.
func (i *instance) wait(tb testing.TB) int {
	tb.Helper()
	select {
	case <-i.ended:
	case <-time.After(patience):
		tb.Fatal("the server does not end")
	}
	return i.process.ProcessState.ExitCode()
}

// stop ends the server the way an operator does.
func (i *instance) stop(tb testing.TB) {
	tb.Helper()
	i.signal(tb, syscall.SIGTERM)
	if code := i.wait(tb); code != 0 {
		tb.Fatalf("the server ended with %d", code)
	}
}

// kill ends the server without giving it the time to do anything.
func (i *instance) kill(tb testing.TB) {
	tb.Helper()
	i.signal(tb, syscall.SIGKILL)
	i.wait(tb)
}

// until waits for a line of the server's.
func (i *instance) until(tb testing.TB, text string) {
	tb.Helper()
	await(tb, "the line "+text, func() bool { return strings.Contains(i.said.String(), text) })
}

// await waits until something holds.
func await(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	deadline := time.After(patience)
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for !holds() {
		select {
		case <-pace.C:
		case <-deadline:
			tb.Fatalf("%s did not come", what)
		}
	}
}

// reply is an answer with its body read.
type reply struct {
	*http.Response

	body string
}

// visitor calls a server over a connection pool of its own.
type visitor struct {
	base, token string
	http        *http.Client
}

func newClient(tb testing.TB, base string) *visitor {
	tb.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	tb.Cleanup(transport.CloseIdleConnections)
	return &visitor{base: base, http: &http.Client{Transport: transport, Timeout: patience}}
}

// try sends a request whose body, if any, is JSON.
func (c *visitor) try(ctx context.Context, method, path, body string) (*reply, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return &reply{answer, string(text)}, err
}

// call sends a request that must be answered with this status.
func (c *visitor) call(tb testing.TB, want int, method, path, body string) *reply {
	tb.Helper()
	answer, err := c.try(tb.Context(), method, path, body)
	if err != nil {
		tb.Fatal(err)
	}
	if answer.StatusCode != want {
		tb.Fatalf("%s %s: status %d, want %d: %s", method, path, answer.StatusCode, want, answer.body)
	}
	return answer
}

const (
	testEmail    = "ada@example.com"
	testPassword = "correct horse battery staple"
)

// setUp makes the first account with a set-up code.
func (c *visitor) setUp(tb testing.TB, code string) {
	tb.Helper()
	c.call(tb, http.StatusCreated, http.MethodPost, "/api/v1/auth/setup", fmt.Sprintf(`{"code":%q,"email":%q,"password":%q}`, code, testEmail, testPassword))
}

// logIn signs in and keeps the access token.
func (c *visitor) logIn(tb testing.TB) {
	tb.Helper()
	answer := c.call(tb, http.StatusOK, http.MethodPost, "/api/v1/auth/login", fmt.Sprintf(`{"email":%q,"password":%q}`, testEmail, testPassword))
	var signedIn struct {
		AccessToken string `json:"accessToken"`
	}
	if err := json.Unmarshal([]byte(answer.body), &signedIn); err != nil || signedIn.AccessToken == "" {
		tb.Fatalf("log in: %v: %s", err, answer.body)
	}
	c.token = signedIn.AccessToken
}

// code reads the set-up code from the data directory.
func setupCodeIn(tb testing.TB, dir string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(dir, setupCodeName))
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}
