package testkit_test

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
)

const (
	soon = 50 * time.Millisecond
	late = 30 * time.Second
)

func TestFaultProxy_passes_then_swallows_on_open_connections_too(t *testing.T) {
	t.Parallel()
	proxy := testkit.StartFaultProxy(t, testkit.StartRedis(t).Addr)
	old := dial(t, proxy.Addr)
	if !answersOn(t, old, late) {
		t.Fatal("no answer through a passing proxy")
	}
	proxy.BlackHole()
	if answersOn(t, old, soon) {
		t.Error("an open connection is answered in a black hole")
	}
	fresh := dial(t, proxy.Addr)
	if answersOn(t, fresh, soon) {
		t.Error("a new connection is answered in a black hole")
	}
	testkit.Eventually(t, "what was sent to be lost", func() bool { return proxy.Holed() == 2 })
	proxy.Pass()
	if answersOn(t, old, late) {
		t.Error("a connection that lost bytes goes on")
	}
	if !answers(t, proxy.Addr, late) {
		t.Error("no answer after the black hole")
	}
	if got := proxy.Accepted(); got != 3 {
		t.Errorf("accepted %d connections, want 3", got)
	}
}

func TestFaultProxy_forgets_connections_that_clients_give_up(t *testing.T) {
	t.Parallel()
	proxy := testkit.StartFaultProxy(t, testkit.StartRedis(t).Addr)
	proxy.BlackHole()
	if answers(t, proxy.Addr, soon) {
		t.Fatal("answered in a black hole")
	}
	testkit.Eventually(t, "the connection to be forgotten", func() bool { return proxy.Open() == 0 })
}

func TestFaultProxy_resets(t *testing.T) {
	t.Parallel()
	proxy := testkit.StartFaultProxy(t, testkit.StartRedis(t).Addr)
	old := dial(t, proxy.Addr)
	if !answersOn(t, old, late) {
		t.Fatal("no answer through a passing proxy")
	}
	proxy.Reset()
	if err := old.SetDeadline(time.Now().Add(late)); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read after a reset: %v, want connection reset", err)
	}
	if answers(t, proxy.Addr, late) {
		t.Error("a new connection is answered")
	}
	proxy.Pass()
	if !answers(t, proxy.Addr, late) {
		t.Error("no answer afterwards")
	}
}

func TestFaultProxy_cuts_open_connections_only(t *testing.T) {
	t.Parallel()
	proxy := testkit.StartFaultProxy(t, testkit.StartRedis(t).Addr)
	old := dial(t, proxy.Addr)
	if !answersOn(t, old, late) {
		t.Fatal("no answer through a passing proxy")
	}
	proxy.Cut()
	if answersOn(t, old, late) {
		t.Error("a connection that was cut goes on")
	}
	if !answers(t, proxy.Addr, late) {
		t.Error("a new connection is not answered")
	}
}

func TestFaultProxy_refuses(t *testing.T) {
	t.Parallel()
	proxy := testkit.StartFaultProxy(t, testkit.StartRedis(t).Addr)
	proxy.Refuse()
	conn, err := net.DialTimeout("tcp", proxy.Addr, late)
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial: %v, want connection refused", err)
	}
	if err == nil {
		conn.Close()
	}
	proxy.Pass()
	if !answers(t, proxy.Addr, late) {
		t.Error("no answer afterwards")
	}
}

func TestFaultProxy_forwards_new_connections_to_another_server(t *testing.T) {
	t.Parallel()
	first, second := testkit.StartRedis(t), testkit.StartRedis(t)
	proxy := testkit.StartFaultProxy(t, first.Addr)
	old := dial(t, proxy.Addr)
	if !answersOn(t, old, late) {
		t.Fatal("no answer through a passing proxy")
	}
	first.ResetCommandCalls()
	second.ResetCommandCalls()
	proxy.Forward(second.Addr)
	if !answersOn(t, old, late) || !answers(t, proxy.Addr, late) {
		t.Error("no answer")
	}
	if a, b := first.CommandCalls()["ping"], second.CommandCalls()["ping"]; a != 1 || b != 1 {
		t.Errorf("the old connection's server ran %d and the new one's %d commands, want 1 each", a, b)
	}
}

func TestFaultProxy_delays_answers_and_not_requests(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	proxy := testkit.StartFaultProxy(t, server.Addr)
	server.ResetCommandCalls()
	proxy.Delay(time.Hour)
	if answers(t, proxy.Addr, soon) {
		t.Error("answered at once")
	}
	testkit.Eventually(t, "the server to run PING once", func() bool { return server.CommandCalls()["ping"] == 1 })
	proxy.Delay(time.Millisecond)
	if !answers(t, proxy.Addr, late) {
		t.Error("no answer after a short delay")
	}
}

func TestSYNBlackHole_lets_nobody_connect_until_it_closes(t *testing.T) {
	t.Parallel()
	hole := testkit.OpenSYNBlackHole(t, "")
	conn, err := net.DialTimeout("tcp", hole.Addr, soon)
	if err == nil {
		conn.Close()
		t.Fatal("connected")
	}
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("dial: %v, want a timeout", err)
	}
	hole.Close()
	if conn, err := net.DialTimeout("tcp", hole.Addr, late); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial after the end: %v, want connection refused", err)
		if err == nil {
			conn.Close()
		}
	}
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, late)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}
