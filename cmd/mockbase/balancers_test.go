package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// exchange sends bytes over a new connection and returns what comes back until it is closed, or the first answer's status.
func exchange(t *testing.T, address, sent string) int {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, sent); err != nil {
		return 0
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func TestRL76_balancers_tell_the_client_and_nobody_else_does(t *testing.T) {
	t.Parallel()
	const request = "GET /m/demo/hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
	// Version 2: signature, PROXY over TCP/IPv4, 12 bytes: 203.0.113.9 → 192.0.2.1, ports 4711 and 80.
	const second = "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xcb\x00\x71\x09\xc0\x00\x02\x01\x12\x67\x00\x50"
	const local = "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"
	server := start(t, "--ephemeral", "--proxy-protocol=127.0.0.0/8", "--shield-blocklist=203.0.113.9")
	for _, c := range []struct {
		name, header string
		status       int
	}{
		{"version 1, a client on the blocklist", "PROXY TCP4 203.0.113.9 192.0.2.1 4711 80\r\n", 403},
		{"version 1, another client", "PROXY TCP4 203.0.113.8 192.0.2.1 4711 80\r\n", 200},
		{"version 2, a client on the blocklist", second, 403},
		{"unknown keeps the peer", "PROXY UNKNOWN\r\n", 200},
		{"local keeps the peer", local, 200},
		{"without a header the connection is closed", "", 0},
		{"a broken header", "PROXY TCP4 nobody\r\n", 0},
		{"a header that is too long", "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x04\x00" + second[16:] + "\x04\x03\xf1" + strings.Repeat("\x00", 0x3f1), 0},
	} {
		if status := exchange(t, server.Addr, c.header+request); status != c.status {
			t.Errorf("%s: status %d, want %d", c.name, status, c.status)
		}
	}
	other := start(t, "--ephemeral", "--proxy-protocol=192.0.2.0/24", "--shield-blocklist=203.0.113.9")
	if status := exchange(t, other.Addr, request); status != 200 {
		t.Errorf("a peer that is no balancer: status %d", status)
	}
	if status := exchange(t, other.Addr, "PROXY TCP4 203.0.113.9 192.0.2.1 4711 80\r\n"+request); status != 400 {
		t.Errorf("a header of a peer that is no balancer: status %d, want 400", status)
	}
}
