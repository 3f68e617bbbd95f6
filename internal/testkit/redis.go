//go:build unix

package testkit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Redis is a redis-server of a test's own: a child process on a loopback port, with nothing on disk but its directory.
// Methods fail the test that started it.
type Redis struct {
	// Addr is host and port, the same through all restarts.
	Addr string
	// Password, if set, is sent by Do before its command, for servers that were started or told to require one.
	Password string

	tb   testing.TB
	args []string

	mu    sync.Mutex
	child *child
}

// StartRedis starts a redis-server and waits until it answers. args follow the defaults on its command line, so they may
// override them: StartRedis(t, "--maxmemory", "1"). The server ends with the test.
func StartRedis(tb testing.TB, args ...string) *Redis {
	tb.Helper()
	return launch(tb, func(dir, port string) []string {
		return append([]string{
			"--port", port, "--bind", "127.0.0.1", "--dir", dir,
			"--save", "", "--appendonly", "no", "--daemonize", "no", "--logfile", "",
		}, args...)
	})
}

// launch starts a redis-server with the arguments for its directory and port. A port that somebody else took meanwhile is
// given up for another one.
func launch(tb testing.TB, arguments func(dir, port string) []string) *Redis {
	tb.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		tb.Fatalf("redis-server is missing: install it (Debian: apt-get install redis-server; macOS: brew install redis): %v", err)
	}
	r := &Redis{tb: tb}
	tb.Cleanup(r.Kill)
	dir := tb.TempDir()
	for range 20 {
		port := FreePort(tb)
		r.Addr = net.JoinHostPort("127.0.0.1", port)
		r.args = append([]string{program}, arguments(dir, port)...)
		if err = r.start(); err == nil {
			return r
		}
		if !strings.Contains(err.Error(), "Address already in use") {
			break
		}
	}
	tb.Fatalf("start redis-server: %v", err)
	return nil
}

// URL returns the address as a connection string for database 0.
func (r *Redis) URL() string { return "redis://" + r.Addr + "/0" }

// Kill ends the server at once, as kill -9 does, and waits until it is gone. What it held in memory is lost. It does
// nothing for a server that is not running.
func (r *Redis) Kill() { r.end(syscall.SIGKILL) }

// Stop asks the server to shut down and waits until it is gone. It does nothing for a server that is not running.
func (r *Redis) Stop() { r.end(syscall.SIGTERM) }

// Pause stops the process with SIGSTOP: its sockets stay open, the kernel goes on accepting, nobody answers. It waits
// until the process has stopped, where the system tells.
func (r *Redis) Pause() {
	r.tb.Helper()
	file := fmt.Sprintf("/proc/%d/stat", r.signal(syscall.SIGSTOP))
	Eventually(r.tb, "redis-server to stop", func() bool {
		text, err := os.ReadFile(file) // #nosec G304 -- the child's own state
		_, state, _ := bytes.Cut(text, []byte(") "))
		return err != nil || bytes.HasPrefix(state, []byte("T"))
	})
}

// Resume lets a paused server go on.
func (r *Redis) Resume() {
	r.tb.Helper()
	r.signal(syscall.SIGCONT)
}

// Restart ends the server if it runs, starts a fresh one on the same port and waits until it answers.
func (r *Redis) Restart() {
	r.tb.Helper()
	r.Kill()
	if err := r.start(); err != nil {
		r.tb.Fatalf("restart redis-server: %v", err)
	}
}

// Do sends one command over a connection of its own and returns the reply as text: the lines of an array are separated
// by line feeds, nil is "(nil)". An error reply fails the test.
func (r *Redis) Do(args ...string) string {
	r.tb.Helper()
	reply, err := r.do(startPatience, args...)
	if err != nil {
		r.tb.Fatalf("redis %s: %v", args[0], err)
	}
	return reply
}

// Try runs a command and returns what Do would, and leaves a failure to the caller. A server that Sentinel promotes closes
// the connections it has.
func (r *Redis) Try(args ...string) (string, error) {
	return r.do(startPatience, args...)
}

// CommandCalls returns how often the server has run each command, by lower-case name ("incrby", "config|set"), since its start or
// the last ResetCommandCalls: INFO commandstats. A command that was refused while it was queued is not among them.
func (r *Redis) CommandCalls() map[string]int64 {
	r.tb.Helper()
	calls := map[string]int64{}
	for line := range strings.Lines(r.Do("INFO", "commandstats")) {
		name, stats, found := strings.Cut(strings.TrimSpace(line), ":calls=")
		if !found {
			continue
		}
		count, _, _ := strings.Cut(stats, ",")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			r.tb.Fatalf("read INFO commandstats: %q: %v", line, err)
		}
		calls[strings.TrimPrefix(name, "cmdstat_")] = n
	}
	return calls
}

// ResetCommandCalls sets the counters that CommandCalls reads to zero.
func (r *Redis) ResetCommandCalls() {
	r.tb.Helper()
	r.Do("CONFIG", "RESETSTAT")
}

func (r *Redis) start() error {
	c, err := startChild(lasting(r.tb), r.args)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.child = c
	r.mu.Unlock()
	// The process id tells this child from somebody else's server on a port that the child could not get.
	own := fmt.Sprintf("process_id:%d\r\n", c.cmd.Process.Pid)
	return c.await(func() bool {
		info, err := r.do(time.Second, "INFO", "server")
		_, refused := errors.AsType[replyError](err)
		return refused || strings.Contains(info, own)
	})
}

func (r *Redis) end(sig syscall.Signal) {
	r.mu.Lock()
	c := r.child
	r.child = nil
	r.mu.Unlock()
	if c != nil {
		c.end(sig)
	}
}

// signal sends a signal and returns the id of the process.
func (r *Redis) signal(sig syscall.Signal) int {
	r.tb.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child == nil {
		r.tb.Fatal("redis-server is not running")
		return 0
	}
	if err := r.child.cmd.Process.Signal(sig); err != nil {
		r.tb.Fatalf("signal redis-server: %v", err)
	}
	return r.child.cmd.Process.Pid
}

func (r *Redis) do(patience time.Duration, args ...string) (string, error) {
	conn, err := dial(lasting(r.tb), r.Addr, patience)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	in := bufio.NewReader(conn)
	if r.Password != "" {
		if _, err := roundTrip(conn, in, "AUTH", r.Password); err != nil {
			return "", err
		}
	}
	return roundTrip(conn, in, args...)
}

// replyError is an error that the server answered, as opposed to no answer.
type replyError string

// Error returns the server's words.
func (e replyError) Error() string { return string(e) }

func roundTrip(w io.Writer, in *bufio.Reader, args ...string) (string, error) {
	out := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		out = fmt.Appendf(out, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := w.Write(out); err != nil {
		return "", err
	}
	return readReply(in)
}

func readReply(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	kind, text := line[0], strings.TrimRight(line[1:], "\r\n")
	switch kind {
	case '-':
		return "", replyError(text)
	case '$', '*':
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return "(nil)", err
		}
		if kind == '*' {
			return readItems(in, n)
		}
		body := make([]byte, n+len("\r\n"))
		_, err = io.ReadFull(in, body)
		return string(body[:n]), err
	default:
		return text, nil
	}
}

func readItems(in *bufio.Reader, n int) (string, error) {
	items := make([]string, n)
	for i := range items {
		item, err := readReply(in)
		if err != nil {
			return "", err
		}
		items[i] = item
	}
	return strings.Join(items, "\n"), nil
}

// lasting is the test's context without its end: what a test started must still be reachable while its Cleanup
// functions run.
func lasting(tb testing.TB) context.Context {
	tb.Helper()
	return context.WithoutCancel(tb.Context())
}

func dial(ctx context.Context, addr string, patience time.Duration) (net.Conn, error) {
	dialer := net.Dialer{Timeout: patience}
	return dialer.DialContext(ctx, "tcp", addr)
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", addr)
}
