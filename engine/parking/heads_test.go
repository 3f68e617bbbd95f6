package parking_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/engine/parking"
)

func TestN5_the_framing_of_requests_is_followed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 70_000)
	for name, test := range map[string]struct {
		bytes string
		want  parking.Followed
	}{
		"nothing":                   {"", parking.Followed{Whole: true}},
		"a request":                 {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", parking.Followed{Requests: 1, Whole: true}},
		"half a request":            {"GET / HTTP/1.1\r\nHost: x\r\n", parking.Followed{}},
		"half a line":               {"GE", parking.Followed{}},
		"two requests":              {"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n", parking.Followed{Requests: 2, Whole: true}},
		"bare line ends":            {"GET / HTTP/1.1\nHost: x\n\n", parking.Followed{Requests: 1, Whole: true}},
		"a blank line before":       {"\r\nGET / HTTP/1.1\r\n\r\n", parking.Followed{Requests: 1, Whole: true}},
		"a body":                    {"POST / HTTP/1.1\r\ncontent-length:  3 \r\n\r\nabc", parking.Followed{Requests: 1, Whole: true}},
		"half a body":               {"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", parking.Followed{Requests: 1}},
		"a body like a head":        {"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n\r\n\r\nGET", parking.Followed{Requests: 1}},
		"chunks":                    {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\nA \r\n0123456789\r\n0\r\nT: 1\r\n\r\n", parking.Followed{Requests: 1, Whole: true}},
		"half a chunk":              {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", parking.Followed{Requests: 1}},
		"chunks without their end":  {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", parking.Followed{Requests: 1}},
		"both lengths":              {"POST / HTTP/1.1\r\nContent-Length: 3\r\nTRANSFER-ENCODING: chunked\r\n\r\n0\r\n\r\n", parking.Followed{Requests: 1, Whole: true, Twice: true}},
		"both in the other order":   {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-length: 0\r\n\r\n", parking.Followed{Requests: 1, Twice: true}},
		"both behind a long line":   {"POST /" + long + " HTTP/1.1\r\nX: " + long + "\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", parking.Followed{Requests: 1, Twice: true}},
		"each in a head of its own": {"POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\naPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", parking.Followed{Requests: 2, Whole: true}},
		"names that are longer":     {"POST / HTTP/1.1\r\nContent-Length-X: 3\r\nX-Transfer-Encoding: chunked\r\n\r\n", parking.Followed{Requests: 1, Whole: true}},
		"a length that is none":     {"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", parking.Followed{Twice: true, Lost: true}},
		"a length that is endless":  {"POST / HTTP/1.1\r\nContent-Length: " + strings.Repeat("1", 100) + "\r\n\r\n", parking.Followed{Twice: true, Lost: true}},
		"a length of many zeros":    {"POST / HTTP/1.1\r\nContent-Length: " + strings.Repeat("0", 30) + "3\r\n\r\n", parking.Followed{Twice: true, Lost: true}},
		"a bad chunk":               {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", parking.Followed{Requests: 1, Twice: true, Lost: true}},
		"a chunk that goes on":      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", parking.Followed{Requests: 1, Twice: true, Lost: true}},
		"HTTP/2":                    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", parking.Followed{Lost: true}},
	} {
		if diff := cmp.Diff(test.want, parking.Follow([]byte(test.bytes))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(test.bytes) > 1000 {
			continue
		}
		if diff := cmp.Diff(test.want, parking.Follow(single([]byte(test.bytes))...)); diff != "" {
			t.Errorf("%s, byte by byte (-want +got):\n%s", name, diff)
		}
		for i := range test.bytes {
			if diff := cmp.Diff(test.want, parking.Follow([]byte(test.bytes[:i]), []byte(test.bytes[i:]))); diff != "" {
				t.Errorf("%s, split at %d (-want +got):\n%s", name, i, diff)
			}
		}
	}
}

// single splits bytes into one each.
func single(b []byte) [][]byte {
	pieces := make([][]byte, len(b))
	for i := range b {
		pieces[i] = b[i : i+1]
	}
	return pieces
}

// Whatever net/http reads as so many whole requests ends for the lot in the same place, or is not followed at all.
func FuzzFollow(f *testing.F) {
	for _, seed := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;q\r\nabc\r\n0\r\nT: 1\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
		"POST / HTTP/1.1\nContent-Length:\n 1\n\na",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 00000000000000000000001\r\n\r\na",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		at := &counted{from: bytes.NewReader(sent)}
		in := bufio.NewReader(at)
		begin := 0
		for requests := 1; ; requests++ {
			r, err := http.ReadRequest(in)
			if err != nil || !r.ProtoAtLeast(1, 1) {
				break
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				break
			}
			end := at.read - in.Buffered()
			got := parking.Follow(sent[:end])
			if diff := cmp.Diff(got, parking.Follow(single(sent[:end])...)); diff != "" {
				t.Fatalf("byte by byte (-want +got):\n%s", diff)
			}
			if got.Lost {
				break
			}
			if !got.Whole || got.Requests != requests {
				t.Fatalf("net/http has read %d requests, the lot knows %+v", requests, got)
			}
			if statesBoth(sent[begin:end]) && !got.Twice {
				t.Fatalf("request %d states two lengths", requests)
			}
			begin = end
		}
	})
}

// statesBoth tells whether the head of a message states both lengths.
func statesBoth(message []byte) bool {
	sized, coded := false, false
	for line := range bytes.Lines(message) {
		line = bytes.ToLower(bytes.TrimRight(line, "\r\n"))
		if len(line) == 0 {
			break
		}
		sized = sized || bytes.HasPrefix(line, []byte("content-length:"))
		coded = coded || bytes.HasPrefix(line, []byte("transfer-encoding:"))
	}
	return sized && coded
}

// counted counts what was read.
type counted struct {
	from io.Reader
	read int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.read += n
	if errors.Is(err, io.EOF) {
		return n, io.EOF
	}
	return n, err
}

// What each request pays for being followed.
func BenchmarkFollow(b *testing.B) {
	request := []byte("GET /m/shop/api/v1/things/1 HTTP/1.1\r\nHost: mocks.example.test:8080\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\r\n" +
		"Accept: application/json, text/plain, */*\r\nAccept-Language: en\r\nAccept-Encoding: gzip, deflate, br\r\nCookie: a=1; b=2\r\nConnection: keep-alive\r\n\r\n")
	b.ReportAllocs()
	for b.Loop() {
		parking.Follow(request)
	}
}
