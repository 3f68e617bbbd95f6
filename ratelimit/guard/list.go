package guard

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// Entry is one line of a safelist or blocklist (rule RL88). It states exactly one condition.
type Entry struct {
	// Name is shown with each match: printable ASCII without commas and quotes, at most 128 bytes. "" is the text of the
	// condition, or a digest of it.
	Name string
	// Reason is for people.
	Reason string
	// Until is the end; the zero time is never.
	Until time.Time
	// Network is the condition that the client's address lies in it. IPv4 networks match addresses that are mapped to
	// IPv6 too.
	Network netip.Prefix
	// Identifier is the condition that the part of the request has this value. Part "" is PartIP.
	Identifier, Part string
	// Path is the condition that the path is this one, or begins with it if it ends in *.
	Path string
	// Header is the condition that Value is true of a header field's first value; nil wants a value that is not empty.
	Header string
	Value  func(string) bool
	// Predicate is a condition of one's own. It must be safe for concurrent use and must not keep the attempt.
	Predicate func(*ratelimit.Attempt) bool
}

func validateList(name string, entries []Entry) error {
	var faults []error
	if len(entries) > MaxRules {
		faults = append(faults, fault("%s: %d entries, more than %d", name, len(entries), MaxRules))
	}
	for i := range entries {
		if conditions := entries[i].conditions(); conditions != 1 {
			faults = append(faults, fault("%s: entry %d (%s) states %d conditions, not one", name, i, entries[i].label(), conditions))
		}
		if entries[i].Name != "" && !printable(entries[i].Name) {
			faults = append(faults, fault("%s: entry %d: name %q is not short printable ASCII without commas and quotes", name, i, entries[i].Name))
		}
	}
	return errors.Join(faults...)
}

func (e *Entry) conditions() int {
	count := 0
	for _, stated := range [...]bool{e.Network.IsValid(), e.Identifier != "", e.Path != "", e.Header != "", e.Predicate != nil} {
		if stated {
			count++
		}
	}
	return count
}

// maxEntryName bounds the names of entries in bytes.
const maxEntryName = 128

// printable says whether a name can stand in a header field and in a list that commas separate.
func printable(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' || c == ',' || c == '"' {
			return false
		}
	}
	return len(name) <= maxEntryName
}

// pathLabel returns a path, or its digest if it cannot be a name.
func pathLabel(path string) string {
	if printable(path) {
		return path
	}
	return ratelimit.KeyIdentifier(path)
}

// label returns the name, or the text of the condition.
func (e *Entry) label() string {
	switch {
	case e.Name != "":
		return e.Name
	case e.Network.IsValid():
		return e.Network.String()
	case e.Identifier != "" && e.Part != "":
		return ratelimit.KeyIdentifier(e.Part) + ":" + ratelimit.KeyIdentifier(e.Identifier)
	case e.Identifier != "":
		return "id:" + ratelimit.KeyIdentifier(e.Identifier)
	case e.Path != "":
		return pathLabel(e.Path)
	case e.Header != "":
		return "header:" + ratelimit.KeyIdentifier(e.Header)
	default:
		return "predicate"
	}
}

// list is a compiled list: whatever can be looked up is looked up.
type list struct {
	entries     []Entry
	tallies     []*tally
	networks    tree
	identifiers map[string][]int
	paths       map[string][]int
	// folded are the paths for requests whose letter case does not matter.
	folded map[string][]int
	// covers compares paths: a list that spares does so only where each reading of the path is meant.
	covers func(pattern string, a *ratelimit.Attempt) bool
	// others are asked one by one: prefixes of paths, parts, headers, predicates.
	others []int
}

func compileList(layer ratelimit.Layer, entries []Entry, counts *registry) *list {
	if len(entries) == 0 {
		return nil
	}
	l := &list{entries: make([]Entry, len(entries)), identifiers: make(map[string][]int), paths: make(map[string][]int), folded: make(map[string][]int), covers: inOneReading}
	if layer == ratelimit.LayerSafelist {
		l.covers = inEachReading
	}
	for i := range entries {
		e := named(entries[i])
		l.entries[i] = e
		l.tallies = append(l.tallies, counts.tally(layer, e.Name))
		switch {
		case e.Network.IsValid():
			l.networks.insert(e.Network, i)
		case e.Identifier != "" && (e.Part == "" || e.Part == PartIP):
			l.identifiers[e.Identifier] = append(l.identifiers[e.Identifier], i)
		case e.Path != "" && !strings.HasSuffix(e.Path, "*"):
			l.paths[e.Path] = append(l.paths[e.Path], i)
			folded := ratelimit.FoldPath(e.Path)
			l.folded[folded] = append(l.folded[folded], i)
		default:
			l.others = append(l.others, i)
		}
	}
	return l
}

// find returns the index of the entry that matches the attempt, and -1 if none does: the narrowest network, else an
// identifier, else a path, else the first of the others.
func (l *list) find(a *ratelimit.Attempt) int {
	found := -1
	l.networks.walk(a.Address, func(i int) {
		if live(l.entries[i].Until, a.Now) {
			found = i
		}
	})
	if found >= 0 {
		return found
	}
	path, alias := l.paths[a.Path], l.paths[a.Alias]
	if a.IgnoreCase && len(l.folded) > 0 {
		path, alias = l.folded[ratelimit.FoldPath(a.Path)], l.folded[ratelimit.FoldPath(a.Alias)]
	}
	for _, known := range [...][]int{l.identifiers[addressOf(a)], path, alias, l.others} {
		for _, i := range known {
			if e := &l.entries[i]; live(e.Until, a.Now) && e.matches(a, l.covers) {
				return i
			}
		}
	}
	return -1
}

// matches compares the conditions that are not looked up; the others hold.
func (e *Entry) matches(a *ratelimit.Attempt, coversPath func(string, *ratelimit.Attempt) bool) bool {
	switch {
	case e.Identifier != "":
		return e.matchesPart(a)
	case e.Path != "":
		return coversPath(e.Path, a)
	case e.Header != "":
		return a.Parts != nil && e.accepts(a.Parts.Header(e.Header))
	case e.Predicate != nil:
		return e.Predicate(a)
	default:
		return true
	}
}

func (e *Entry) matchesPart(a *ratelimit.Attempt) bool {
	if e.Part == "" {
		return addressOf(a) == e.Identifier
	}
	value, ok := ownPart(e.Part, a)
	if !ok && a.Parts != nil {
		value, ok = a.Parts.Part(e.Part)
	}
	return ok && value == e.Identifier
}

func (e *Entry) accepts(value string) bool {
	if e.Value == nil {
		return value != ""
	}
	return e.Value(value)
}

// ParseList reads the entries of a list, separated by commas or line ends: an address or network, a path that begins with
// a slash (and may end in *), "header:Name" or "header:Name=value", "id:identifier", or another part of the request such
// as "user:alice". Blanks around an entry do not matter and empty entries are none. What cannot be read is a
// *ratelimit.RuleError with the place of the entry.
func ParseList(text string) ([]Entry, error) {
	var entries []Entry
	offset := 0
	for raw := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		offset += strings.Index(text[offset:], raw)
		item := strings.TrimSpace(raw)
		if item != "" {
			e, reason := parseEntry(item)
			if reason != "" {
				return nil, &ratelimit.RuleError{Input: text, Offset: offset + strings.Index(raw, item), Reason: reason}
			}
			if len(entries) == MaxRules {
				return nil, &ratelimit.RuleError{Input: text, Offset: offset, Reason: "more than " + strconv.Itoa(MaxRules) + " entries"}
			}
			entries = append(entries, e)
		}
		offset += len(raw)
	}
	return entries, nil
}

// parseEntry returns an entry, or what is wrong with its text.
func parseEntry(item string) (e Entry, reason string) {
	if strings.HasPrefix(item, "/") {
		return named(Entry{Path: item}), ""
	}
	if network, ok := parseNetwork(item); ok {
		return named(Entry{Network: network}), ""
	}
	part, value, ok := strings.Cut(item, ":")
	switch {
	case !ok || !plainWord(part) || value == "":
		return Entry{}, "want an address, a network such as 10.0.0.0/8, a /path, header:Name=value or id:identifier"
	case part == "header":
		name, wanted, exact := strings.Cut(value, "=")
		if !plainWord(name) {
			return Entry{}, "want the name of a header field, as in header:X-Probe=yes"
		}
		e = named(Entry{Header: name})
		if exact {
			e.Value = func(sent string) bool { return sent == wanted }
		}
		return e, ""
	case part == "id":
		return named(Entry{Identifier: value}), ""
	default:
		return named(Entry{Part: part, Identifier: value}), ""
	}
}

// named gives an entry the text of its condition as its name.
func named(e Entry) Entry {
	e.Name = e.label()
	if len(e.Name) > maxEntryName {
		e.Name = ratelimit.KeyIdentifier(e.Name)
	}
	return e
}

// parseNetwork reads a network or a single address.
func parseNetwork(text string) (netip.Prefix, bool) {
	if network, err := netip.ParsePrefix(text); err == nil {
		return ratelimit.UnwrapNetwork(network), true
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	a = ratelimit.UnwrapAddress(a)
	return netip.PrefixFrom(a, a.BitLen()), true
}

// plainWord says whether a text is letters, digits, dashes and underscores.
func plainWord(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}
