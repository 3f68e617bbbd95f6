package testkit_test

import (
	"net"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
)

func TestRedis_answers_commands_and_counts_them(t *testing.T) {
	t.Parallel()
	r := testkit.StartRedis(t)
	r.ResetCommandCalls()
	if got := r.Do("SET", "greeting", "hello"); got != "OK" {
		t.Errorf("SET = %q, want OK", got)
	}
	if got := r.Do("GET", "greeting"); got != "hello" {
		t.Errorf("GET = %q, want hello", got)
	}
	if got := r.Do("GET", "nothing"); got != "(nil)" {
		t.Errorf("GET nothing = %q, want (nil)", got)
	}
	if got := r.Do("MGET", "greeting", "nothing"); got != "hello\n(nil)" {
		t.Errorf("MGET = %q", got)
	}
	calls := r.CommandCalls()
	if calls["get"] != 2 || calls["set"] != 1 || calls["mget"] != 1 {
		t.Errorf("calls = %v, want 2 get, 1 set, 1 mget", calls)
	}
}

func TestRedis_restarts_empty_on_the_same_port(t *testing.T) {
	t.Parallel()
	r := testkit.StartRedis(t)
	addr := r.Addr
	r.Do("SET", "k", "v")
	r.Kill()
	if conn, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
		conn.Close()
		t.Error("a killed server accepts connections")
	}
	r.Restart()
	if r.Addr != addr {
		t.Errorf("address after restart = %s, want %s", r.Addr, addr)
	}
	if got := r.Do("GET", "k"); got != "(nil)" {
		t.Errorf("GET after restart = %q, want nothing", got)
	}
	r.Stop()
	r.Stop()
}

func TestRedis_paused_accepts_and_does_not_answer(t *testing.T) {
	t.Parallel()
	r := testkit.StartRedis(t)
	r.Pause()
	if answers(t, r.Addr, soon) {
		t.Error("a paused server answers")
	}
	r.Resume()
	if !answers(t, r.Addr, late) {
		t.Error("a resumed server does not answer")
	}
}

func TestRedis_that_wants_a_password_gets_it(t *testing.T) {
	t.Parallel()
	r := testkit.StartRedis(t, "--requirepass", "open sesame")
	r.Password = "open sesame"
	if got := r.Do("PING"); got != "PONG" {
		t.Errorf("PING = %q, want PONG", got)
	}
}

// answers tells whether a connection to addr gets an answer to PING within the time given from when it was sent.
func answers(t *testing.T, addr string, patience time.Duration) bool {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, late)
	if err != nil {
		return false
	}
	defer conn.Close()
	return answersOn(t, conn, patience)
}

// answersOn is answers for an open connection.
func answersOn(t *testing.T, conn net.Conn, patience time.Duration) bool {
	t.Helper()
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Read(make([]byte, 64))
	return err == nil && n > 0
}
