package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

// byteRange is a part of a body: length bytes from start on.
type byteRange struct{ start, length int }

// of is the range as Content-Range states it.
func (r byteRange) of(size int) string {
	return fmt.Sprintf("bytes %d-%d/%d", r.start, r.start+r.length-1, size)
}

// cut answers a request for parts of the body. It tells whether the header has changed (rule O13).
func (c *call) cut(h http.Header, out *shipment) bool {
	lines := c.header["Range"]
	if len(lines) != 1 || !c.unchanged(h) {
		return false
	}
	size := len(out.body)
	ranges, ok := parseRanges(lines[0], size)
	switch {
	case !ok:
		return false
	case len(ranges) == 0:
		out.withoutBody(h, http.StatusRequestedRangeNotSatisfiable)
		h[headerContentRange] = []string{"bytes */" + strconv.Itoa(size)}
	case len(ranges) == 1:
		r := ranges[0]
		out.status, out.body = http.StatusPartialContent, out.body[r.start:r.start+r.length]
		h[headerContentRange] = []string{r.of(size)}
		setLength(h, r.length)
	default:
		if sizeOf(ranges) > size {
			// Whoever asks for more than everything gets everything, once.
			return false
		}
		out.parts(h, ranges)
	}
	return true
}

// unchanged tells whether If-Range, if it is there, names this answer by a strong validator (RFC 9110, section 13.1.5).
func (c *call) unchanged(h http.Header) bool {
	condition := c.header.Get("If-Range")
	if condition == "" {
		return true
	}
	if tag, _ := cutTag(condition); tag != "" {
		return strongly(tag, headerOf(h, headerETag))
	}
	date, err := http.ParseTime(condition)
	modified, known := http.ParseTime(headerOf(h, headerLastModified))
	return err == nil && known == nil && date.Equal(modified) && c.now().Sub(modified) >= time.Second
}

// parts makes an answer of several parts. The boundary follows from the bytes, so that equal answers are equal.
func (s *shipment) parts(h http.Header, ranges []byteRange) {
	var b bytes.Buffer
	multi := multipart.NewWriter(&b)
	sum := sha256.Sum256(s.body)
	// It is short enough, and made of letters and digits.
	_ = multi.SetBoundary(hex.EncodeToString(sum[:]))
	mediaType := headerOf(h, headerContentType)
	for _, r := range ranges {
		head := textproto.MIMEHeader{headerContentRange: {r.of(len(s.body))}}
		if mediaType != "" {
			head.Set(headerContentType, mediaType)
		}
		// A buffer takes everything.
		part, _ := multi.CreatePart(head)
		_, _ = part.Write(s.body[r.start : r.start+r.length])
	}
	_ = multi.Close()
	dropHeader(h, headerContentType)
	h[headerContentType] = []string{"multipart/byteranges; boundary=" + multi.Boundary()}
	s.status, s.body = http.StatusPartialContent, b.Bytes()
	setLength(h, b.Len())
}

func sizeOf(ranges []byteRange) int {
	total := 0
	for _, r := range ranges {
		total += r.length
	}
	return total
}

// parseRanges reads a Range header. The ranges that can be satisfied come back in their order, none if none can; ok is
// false where the header is to be ignored, as its unit or its syntax is not known (RFC 9110, section 14.2).
func parseRanges(text string, size int) (ranges []byteRange, ok bool) {
	unit, list, found := strings.Cut(text, "=")
	if !found || !strings.EqualFold(strings.TrimSpace(unit), "bytes") {
		return nil, false
	}
	stated := false
	for item := range strings.SplitSeq(list, ",") {
		item = strings.Trim(item, " \t")
		if item == "" {
			continue
		}
		stated = true
		r, valid := parseRange(item, size)
		if !valid {
			return nil, false
		}
		if r.length > 0 {
			ranges = append(ranges, r)
		}
	}
	return ranges, stated
}

// parseRange reads first-last, first- or -suffix. A range that cannot be satisfied is empty.
func parseRange(item string, size int) (r byteRange, ok bool) {
	first, last, found := strings.Cut(item, "-")
	if !found {
		return r, false
	}
	if first == "" {
		n, valid := position(last)
		n = min(n, size)
		return byteRange{size - n, n}, valid
	}
	start, valid := position(first)
	end := size - 1
	if last != "" {
		stated, lastValid := position(last)
		if !lastValid || valid && stated < start {
			return r, false
		}
		end = min(end, stated)
	}
	if !valid || start >= size {
		return r, valid
	}
	return byteRange{start, end - start + 1}, true
}

// position reads digits. A number that is too large for any body is the largest.
func position(text string) (n int, ok bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		n = int(^uint(0) >> 1)
	}
	return n, true
}
