package proxy

import (
	"bytes"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// framing says how the end of a body is known.
type framing uint8

const (
	// unframed ends with the connection, or in a way that is not followed.
	unframed framing = iota
	sized
	chunked
)

// bodyEnd follows the body of an answer to its end. The zero one knows no end.
type bodyEnd struct {
	framing framing
	// rest is what is to come of the body, or of a chunk with the end of its line.
	rest int64
	// line is what came of a line of chunked coding; trailing tells that those behind the last chunk come.
	line     []byte
	trailing bool
}

// maxChunkLine is how long a line of chunked coding may be to be followed; net/http refuses longer ones.
const maxChunkLine = 4096

// bodyBehind reads from a head how the answer goes on, as net/http does (RFC 9112, section 6.3).
func bodyBehind(method string, head []byte, header textproto.MIMEHeader) bodyEnd {
	version, status, _ := strings.Cut(string(head[:min(len(head), maxChunkLine)]), " ")
	code, _ := strconv.Atoi(status[:min(len(status), len("200"))])
	codings, lengths := header["Transfer-Encoding"], header[headerContentLength]
	switch {
	case code == http.StatusSwitchingProtocols || header == nil:
		return bodyEnd{}
	case method == http.MethodHead || code == http.StatusNoContent || code == http.StatusNotModified:
		return bodyEnd{framing: sized}
	case version == "HTTP/1.1" && len(codings) == 1 && strings.EqualFold(codings[0], "chunked"):
		return bodyEnd{framing: chunked}
	case len(codings) == 0 && len(lengths) > 0:
		return bodyOf(lengths[0])
	default:
		return bodyEnd{}
	}
}

func bodyOf(length string) bodyEnd {
	size, err := strconv.ParseUint(strings.TrimSpace(length), 10, 63)
	if err != nil {
		return bodyEnd{}
	}
	return bodyEnd{framing: sized, rest: int64(size)}
}

// over tells that the body has come to its end.
func (b *bodyEnd) over() bool { return b.framing == sized && b.rest == 0 }

// pass follows a piece, and tells whether there is more of it than the body.
func (b *bodyEnd) pass(piece []byte) (surplus bool) {
	for len(piece) > 0 && b.framing != unframed {
		n := min(b.rest, int64(len(piece)))
		b.rest -= n
		piece = piece[n:]
		if b.rest > 0 || len(piece) == 0 {
			return false
		}
		if b.framing == sized {
			return true
		}
		piece = b.passLine(piece)
	}
	return false
}

// passLine follows a line of chunked coding, and returns what is behind it.
func (b *bodyEnd) passLine(piece []byte) []byte {
	end := bytes.IndexByte(piece, '\n')
	if end < 0 {
		end = len(piece) - 1
	}
	b.line = append(b.line, piece[:end+1]...)
	switch line := bytes.TrimRight(b.line, "\r\n"); {
	case len(b.line) > maxChunkLine:
		*b = bodyEnd{}
	case b.line[len(b.line)-1] != '\n':
		// The rest is to come.
	case b.trailing:
		if b.line = b.line[:0]; len(line) == 0 {
			*b = bodyEnd{framing: sized}
		}
	default:
		b.begin(line)
	}
	return piece[end+1:]
}

// begin takes the line before a chunk.
func (b *bodyEnd) begin(line []byte) {
	digits, _, _ := bytes.Cut(line, []byte(";"))
	size, err := strconv.ParseUint(string(bytes.TrimRight(digits, " \t")), 16, 62)
	b.line = b.line[:0]
	switch {
	case err != nil:
		*b = bodyEnd{}
	case size == 0:
		b.trailing = true
	default:
		b.rest = int64(size) + int64(len("\r\n"))
	}
}
