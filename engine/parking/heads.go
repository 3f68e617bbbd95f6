package parking

import (
	"bytes"
	"strconv"
)

// phase is the part of a message that comes next.
type phase uint8

const (
	inHead phase = iota
	inBody
	inChunkSize
	inChunk
	inChunkEnd
	inTrailer
	// beyond is what cannot be followed: another protocol, or a framing that net/http refuses.
	beyond
)

const (
	// lineRoom holds what matters of a line: the name of a field and a number, or the size of a chunk.
	lineRoom         = 64
	nameLength       = "Content-Length"
	nameCoding       = "Transfer-Encoding"
	nameExpect       = "Expect"
	expectContinue   = "100-continue"
	methodHead       = "HEAD "
	prefaceHTTP2     = "PRI * HTTP/2.0"
	longestLength    = 19
	chunkSizeHexBits = 64
)

// heads follows the requests on a connection of HTTP/1, byte by byte, and notices what net/http does not tell: whether a head
// states two lengths (RFC 9112, section 6.3), and whether more was read than the requests so far.
type heads struct {
	phase phase
	// begun tells that the head has a line already.
	begun bool
	// coded and sized tell which lengths the present head states, size is the second one.
	coded, sized bool
	size         int64
	// expects tells that the present head states an expectation, unmet that some head stated one that net/http does not meet.
	expects, unmet bool
	// bodiless tells that the answer to the last request line has no body.
	bodiless bool
	// rest is what is to come of a body or a chunk.
	rest int64
	// part is the beginning of a line whose end is to come; cut tells that it is longer than that.
	part  [lineRoom]byte
	parts int
	cut   bool

	// ended counts the heads that are complete.
	ended int64
	// twice tells that some head stated both lengths, everCoded that some head stated a transfer coding.
	twice, everCoded bool
}

// feed takes the next bytes.
func (h *heads) feed(p []byte) {
	for len(p) > 0 && h.phase != beyond {
		if h.phase == inBody || h.phase == inChunk {
			p = h.skip(p)
			continue
		}
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			h.keep(p)
			return
		}
		if !h.passes(p[:end]) {
			h.end(p[:end])
		}
		p = p[end+1:]
	}
}

// refuse changes a request line that would begin HTTP/2 into one of a version that net/http does not know, and refuses with 505:
// to net/http a connection that was in the lot is a new one, where HTTP/2 may begin. It returns whether that may still come.
func (h *heads) refuse(p []byte) (again bool) {
	rest := prefaceHTTP2[min(h.parts, len(prefaceHTTP2)):]
	n := min(len(rest), len(p))
	if prefaceHTTP2[:len(prefaceHTTP2)-len(rest)] != string(h.part[:h.parts]) || rest[:n] != string(p[:n]) {
		return false
	}
	if n > 0 && n == len(rest) {
		p[n-1] = '9'
		return false
	}
	return true
}

// passes tells whether a line is a field that does not matter, like most.
func (h *heads) passes(line []byte) bool {
	if !h.begun || h.parts > 0 || h.phase != inHead || len(line) < 2 {
		return false
	}
	first := line[0] | 0x20
	return first != 'c' && first != 't' && first != 'e'
}

// end takes the rest of a line.
func (h *heads) end(line []byte) {
	if h.parts > 0 {
		h.keep(line)
		line = h.part[:h.parts]
	}
	if !h.cut {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	h.take(line)
	h.parts, h.cut = 0, false
}

// skip goes on behind a body or a chunk, or as far as the bytes reach, and returns the rest of them.
func (h *heads) skip(p []byte) []byte {
	n := min(h.rest, int64(len(p)))
	h.rest -= n
	if h.rest == 0 && h.phase == inChunk {
		h.phase = inChunkEnd
	} else if h.rest == 0 {
		h.phase = inHead
	}
	return p[n:]
}

// keep notes a piece of a line.
func (h *heads) keep(piece []byte) {
	n := copy(h.part[h.parts:], piece)
	h.parts += n
	h.cut = h.cut || n < len(piece)
}

// take takes a line without its end.
func (h *heads) take(line []byte) {
	switch h.phase {
	case inChunkSize:
		h.takeSize(line)
	case inChunkEnd:
		if len(line) > 0 {
			h.lose()
			return
		}
		h.phase = inChunkSize
	case inTrailer:
		if len(line) == 0 {
			h.phase = inHead
		}
	case inHead:
		h.takeField(line)
	case inBody, inChunk, beyond:
	}
}

// takeField takes a line of a head.
func (h *heads) takeField(line []byte) {
	switch {
	case len(line) == 0 && !h.begun:
		// A blank line before a request is passed over, or refused.
	case len(line) == 0:
		h.endHead()
	case !h.begun:
		h.begun, h.bodiless = true, bytes.HasPrefix(line, []byte(methodHead))
		if bytes.HasPrefix(line, []byte(prefaceHTTP2)) {
			h.phase = beyond
		}
	case names(line, nameLength):
		h.takeLength(bytes.Trim(line[len(nameLength)+1:], " \t"))
	case names(line, nameCoding):
		h.coded, h.everCoded = true, true
	case names(line, nameExpect) && !h.expects:
		h.takeExpectation(bytes.TrimSpace(line[len(nameExpect)+1:]))
	}
}

// takeExpectation takes the first one of a head: net/http looks at no other.
func (h *heads) takeExpectation(value []byte) {
	h.expects = true
	met := len(value) == 0
	for token := range bytes.SplitSeq(value, []byte{','}) {
		met = met || bytes.EqualFold(bytes.TrimSpace(token), []byte(expectContinue))
	}
	h.unmet = h.unmet || !met
}

// names tells whether a line states a field.
func names(line []byte, field string) bool {
	return len(line) > len(field) && line[len(field)] == ':' && line[0]|0x20 == field[0]|0x20 && bytes.EqualFold(line[:len(field)], []byte(field))
}

func (h *heads) takeLength(value []byte) {
	size, err := strconv.ParseUint(string(value[:min(len(value), longestLength)]), 10, 63)
	if err != nil || h.cut || len(value) > longestLength {
		h.lose()
		return
	}
	h.sized, h.size = true, int64(size)
}

// endHead goes on to the body.
func (h *heads) endHead() {
	h.ended++
	h.begun = false
	switch {
	case h.coded:
		h.twice = h.twice || h.sized
		h.phase = inChunkSize
	case h.size > 0:
		h.phase, h.rest = inBody, h.size
	}
	h.coded, h.sized, h.size, h.expects = false, false, 0, false
}

// takeSize takes the line before a chunk; extensions are ignored.
func (h *heads) takeSize(line []byte) {
	digits := len(line)
	if i := bytes.IndexAny(line, "; \t"); i >= 0 {
		digits = i
	}
	size, err := strconv.ParseUint(string(line[:digits]), 16, chunkSizeHexBits-1)
	switch {
	case err != nil:
		h.lose()
	case size == 0:
		h.phase = inTrailer
	default:
		h.phase, h.rest = inChunk, int64(size)
	}
}

// lose gives up: from here on the worst is assumed.
func (h *heads) lose() {
	h.phase, h.twice, h.everCoded = beyond, true, true
}

// whole tells whether the bytes so far end with a message.
func (h *heads) whole() bool { return h.phase == inHead && !h.begun && h.parts == 0 }
