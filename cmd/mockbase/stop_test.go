package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// begin sends the head of a request and returns once the server reads its body, which is to be sent by the caller.
func begin(t *testing.T, server *instance, line string, length int) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", line, length)
	in := bufio.NewReader(conn)
	for _, want := range []string{"HTTP/1.1 100 Continue\r\n", "\r\n"} {
		if got, err := in.ReadString('\n'); err != nil || got != want {
			t.Fatalf("%s is answered %q, %v", line, got, err)
		}
	}
	return conn, in
}

// C-25 and N13: SIGTERM ends delays, lets answers finish, and the process ends with 0.
func TestC25_answers_in_flight_finish(t *testing.T) {
	t.Parallel()
	const delay = time.Minute
	dir := t.TempDir()
	slow := "project: slow\nmocks:\n  - { request: POST /slow, response: { delay: 1m, text: done } }\n"
	if err := os.WriteFile(filepath.Join(dir, "slow.yaml"), []byte(slow), 0o600); err != nil {
		t.Fatal(err)
	}
	server := start(t, "--ephemeral", dir)
	conn, in := begin(t, server, "POST /m/slow/slow", 2)
	fmt.Fprint(conn, "{}")
	before := time.Now()
	server.signal(t, syscall.SIGTERM)
	if line, err := in.ReadString('\n'); err != nil || line != "HTTP/1.1 200 OK\r\n" {
		t.Errorf("the slow call ended with %q, %v", line, err)
	}
	if took := time.Since(before); took >= delay {
		t.Errorf("the answer took %s, although delays end at once", took)
	}
	if code := server.wait(t); code != int(exitDone) {
		t.Errorf("the server ended with %d", code)
	}
}

// C-25: a second signal ends at once, whatever is still in flight; without it, answers are cut off after the time-out.
func TestC25_a_second_signal_ends_at_once(t *testing.T) {
	t.Parallel()
	server := start(t, "--ephemeral", "--shutdown-timeout=1m")
	begin(t, server, "POST /m/demo/orders", 10) // the body never comes
	server.signal(t, syscall.SIGTERM)
	server.until(t, "msg=stopping")
	select {
	case <-server.ended:
		t.Fatal("the server ended with a request in flight")
	case <-time.After(200 * time.Millisecond):
	}
	server.signal(t, syscall.SIGINT)
	if code := server.wait(t); code != int(exitInterrupted) {
		t.Errorf("the server ended with %d", code)
	}

	server = start(t, "--ephemeral", "--shutdown-timeout=300ms")
	begin(t, server, "POST /m/demo/orders", 10) // the body never comes
	before := time.Now()
	server.stop(t)
	if took := time.Since(before); took < 250*time.Millisecond {
		t.Errorf("the end took %s", took)
	}
	server.until(t, "answers were cut off")
}

// C-25: what was acknowledged before a stop is there after it, however many writes are on their way.
func TestC25_a_stop_loses_no_acknowledged_write(t *testing.T) {
	t.Parallel()
	crowd{end: (*instance).stop}.test(t)
}

// The process dies with a thousand creations on their way: each acknowledged mock is there after a restart, and none is
// half there.
func TestM15_kill_9_loses_no_acknowledged_write(t *testing.T) {
	t.Parallel()
	crowd{end: (*instance).kill}.test(t)
}
