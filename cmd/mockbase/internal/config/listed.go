package config

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// Listed is an entry of the shield's safelist or blocklist (rule RL88).
type Listed struct {
	entry guard.Entry
	text  string
}

// UnmarshalText reads an address, a network or a path.
func (l *Listed) UnmarshalText(text []byte) error {
	l.text = string(text)
	if strings.HasPrefix(l.text, "/") && !strings.ContainsAny(l.text, "? ") && strings.Count(strings.TrimSuffix(l.text, "*"), "*") == 0 {
		l.entry = guard.Entry{Path: httplimit.CleanPath(l.text)}
		return nil
	}
	var network Network
	if err := network.UnmarshalText(text); err != nil {
		return fmt.Errorf("%q is no entry of a list: write an address, a network such as 10.0.0.0/8, or a path such as /m/demo/*", text)
	}
	l.text = network.String()
	l.entry = guard.Entry{Network: netip.Prefix(network)}
	return nil
}

// String writes the entry the way it is read.
func (l Listed) String() string { return l.text }

// Entries are the entries as a guard takes them.
func Entries(list []Listed) []guard.Entry {
	entries := make([]guard.Entry, 0, len(list))
	for _, l := range list {
		entries = append(entries, l.entry)
	}
	return entries
}
