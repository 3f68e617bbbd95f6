package websocket

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
)

// version is the only version of the protocol (RFC 6455, section 4.1).
const version = "13"

const keyBytes = 16

// Refusal is a handshake that is not accepted.
type Refusal struct {
	Status int
	// Header holds what the answer must carry.
	Header http.Header
	Detail string
}

// Check judges a handshake; nil means that it can be accepted (rule U8).
func Check(r *http.Request) *Refusal {
	switch {
	case r.Method != http.MethodGet || r.ProtoMajor != 1 || r.ProtoMinor < 1 ||
		!lists(r.Header["Connection"], "upgrade") || !lists(r.Header["Upgrade"], "websocket"):
		return upgradeNeeded("This mock holds WebSocket conversations: ask for an upgrade of HTTP/1.1 to websocket.")
	case !slices.Equal(r.Header["Sec-Websocket-Version"], []string{version}):
		refusal := upgradeNeeded("This mock speaks version 13 of the WebSocket protocol.")
		refusal.Header["Sec-WebSocket-Version"] = []string{version}
		return refusal
	case !goodKey(r.Header["Sec-Websocket-Key"]):
		return &Refusal{Status: http.StatusBadRequest, Header: http.Header{}, Detail: "Sec-WebSocket-Key must be there once, and be 16 bytes in base64."}
	}
	return nil
}

func upgradeNeeded(detail string) *Refusal {
	return &Refusal{
		Status: http.StatusUpgradeRequired, Detail: detail,
		Header: http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}},
	}
}

func goodKey(lines []string) bool {
	if len(lines) != 1 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(lines[0]))
	return err == nil && len(key) == keyBytes
}

// lists tells whether a list of tokens holds one, in any case.
func lists(lines []string, token string) bool {
	return slices.ContainsFunc(items(lines), func(item string) bool { return strings.EqualFold(item, token) })
}

func items(lines []string) []string {
	var list []string
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			list = append(list, strings.TrimSpace(item))
		}
	}
	return list
}

// Subprotocol is the first that the client offers and the mock lists, "" for none (rule U9).
func Subprotocol(offered http.Header, listed []string) string {
	for _, name := range items(offered["Sec-Websocket-Protocol"]) {
		if slices.Contains(listed, name) {
			return name
		}
	}
	return ""
}
