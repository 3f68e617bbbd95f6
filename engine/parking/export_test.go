package parking

// Followed is what the lot knows of the bytes on a connection.
type Followed struct {
	// Requests counts the complete heads. Whole tells that the bytes end with a message, Twice that some head stated two
	// lengths, Lost that they cannot be followed.
	Requests           int
	Whole, Twice, Lost bool
}

// Follow follows bytes that come in pieces.
func Follow(pieces ...[]byte) Followed {
	var h heads
	for _, p := range pieces {
		h.feed(p)
	}
	return Followed{Requests: int(h.ended), Whole: h.whole(), Twice: h.twice, Lost: h.phase == beyond}
}

// Quiet counts the connections that the lot has.
func (l *Lot) Quiet() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}
