package engine

import (
	"bytes"
	"compress/zlib"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The content codings that can be applied. Deflate is the zlib format (RFC 9110, section 8.4.1.2).
const (
	codingBrotli  = "br"
	codingZstd    = "zstd"
	codingGzip    = "gzip"
	codingDeflate = "deflate"
)

// leastCoded is the shortest body that is worth compressing (rule O14).
const leastCoded = 256

// codings are those that a client may choose from, the preferred ones first where it likes several alike.
func codings() [4]string { return [...]string{codingBrotli, codingZstd, codingGzip, codingDeflate} }

// codedForms are the compressed forms of one body. Each is made when the first client asks for it.
type codedForms struct {
	forms [4]struct {
		once sync.Once
		body []byte
	}
}

// of returns a body in the coding of this place in codings.
func (f *codedForms) of(at int, body []byte) []byte {
	form := &f.forms[at]
	form.once.Do(func() { form.body = encode(codings()[at], body) })
	return form.body
}

// encode applies a content coding.
func encode(coding string, body []byte) []byte {
	var b bytes.Buffer
	var to io.WriteCloser
	switch coding {
	case codingBrotli:
		to = brotli.NewWriterLevel(&b, brotliLevel)
	case codingZstd:
		return encodeZstd(body)
	case codingGzip:
		to = gzip.NewWriter(&b)
	default:
		to = zlib.NewWriter(&b)
	}
	// A buffer takes everything.
	_, _ = to.Write(body)
	_ = to.Close()
	return b.Bytes()
}

// brotliLevel compresses about as well as gzip at its best, and as fast.
const brotliLevel = 4

func encodeZstd(body []byte) []byte {
	// One goroutine at most, as the encoder lives for one body.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		// The options are right, so this is not reached.
		return body
	}
	defer func() { _ = encoder.Close() }() // it has nothing to write
	return encoder.EncodeAll(body, nil)
}

// worthCoding tells whether a body is compressed for those who ask (rule O14). The header is the answer's.
func worthCoding(h http.Header, body []byte) bool {
	return len(body) >= leastCoded && headerOf(h, headerContentEncoding) == "" && compressible(headerOf(h, headerContentType)) &&
		!strings.Contains(strings.ToLower(headerOf(h, "Cache-Control")), "no-transform")
}

// compressible tells whether bodies of a media type become shorter.
func compressible(mediaType string) bool {
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	mediaType = strings.TrimSpace(mediaType)
	if strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "+json") || strings.HasSuffix(mediaType, "+xml") ||
		strings.HasSuffix(mediaType, "+yaml") {
		return true
	}
	switch strings.TrimPrefix(mediaType, "application/") {
	case "json", "xml", "javascript", "ecmascript", "yaml", "x-yaml", "x-ndjson", "jsonl", "graphql", "sql", "toml",
		"x-www-form-urlencoded", "wasm", "vnd.ms-fontobject", "rtf":
		return true
	case "image/bmp", "image/x-icon", "font/ttf", "font/otf":
		return true
	default:
		return false
	}
}

// code compresses the body for a client that accepts it. It tells whether it did.
func (w *dressing) code(asked, h http.Header, out *shipment) bool {
	at := chooseCoding(asked[headerAcceptEncoding])
	if at < 0 {
		return false
	}
	out.body = w.coded.of(at, out.body)
	coding := codings()[at]
	h[headerContentEncoding] = []string{coding}
	if !w.chunked {
		setLength(h, len(out.body))
	}
	if w.autoTag {
		h[headerETag] = []string{w.tag[:len(w.tag)-1] + "-" + coding + `"`}
	}
	return true
}

// chooseCoding returns the place of the coding that a client likes best, -1 for none (RFC 9110, section 12.5.3).
func chooseCoding(lines []string) int {
	accepted := map[string]float64{}
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			name, weight := weighted(item)
			accepted[strings.TrimPrefix(name, "x-")] = weight
		}
	}
	best, most := -1, 0.0
	for i, coding := range codings() {
		weight, named := accepted[coding]
		if !named {
			weight = accepted["*"]
		}
		if weight > most {
			best, most = i, weight
		}
	}
	return best
}

// weighted takes an item such as gzip;q=0.5 apart. A broken weight is none.
func weighted(item string) (name string, weight float64) {
	name, parameters, _ := strings.Cut(item, ";")
	weight = 1
	for parameter := range strings.SplitSeq(parameters, ";") {
		key, value, found := strings.Cut(strings.TrimSpace(parameter), "=")
		if !found || !strings.EqualFold(strings.TrimSpace(key), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			q = 0
		}
		weight = q
	}
	return strings.ToLower(strings.TrimSpace(name)), weight
}

func setLength(h http.Header, n int) { h[headerContentLength] = []string{strconv.Itoa(n)} }
