package body

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// The bounds of decoding (rule F3).
const (
	// freeExpansion is what a body may grow to whatever its length.
	freeExpansion = 1 << 20
	// maxRatio is how many times its length a body may grow to past that.
	maxRatio = 100
	// maxCodings is more than any client applies.
	maxCodings = 8
	// maxZstdMemory bounds the window that a zstd frame may ask for.
	maxZstdMemory = 16 << 20
)

// ErrTooLarge is a body that grows beyond its bounds when it is decoded (rule F3), or holds too many parts (rule I9). It
// is answered with 413.
var ErrTooLarge = errors.New("too large")

// CodingError says why a content coding could not be undone.
type CodingError struct {
	// Coding is its name in lower case.
	Coding string
	Err    error
}

// Error names the coding and what its decoder says: gzip: invalid header.
func (e *CodingError) Error() string {
	text := e.Err.Error()
	if strings.HasPrefix(text, e.Coding+": ") {
		return text
	}
	return e.Coding + ": " + text
}

// Unwrap returns the decoder's error.
func (e *CodingError) Unwrap() error { return e.Err }

// Codings reads Content-Encoding lines as one list of lower-case names, without identity.
func Codings(lines []string) []string {
	var codings []string
	for _, line := range lines {
		for coding := range strings.SplitSeq(line, ",") {
			coding = strings.ToLower(strings.Trim(coding, " \t"))
			if coding != "" && coding != "identity" {
				codings = append(codings, coding)
			}
		}
	}
	return codings
}

// Decode undoes content codings from the last to the first (rule F2). It returns [ErrTooLarge] when the body would grow
// beyond most bytes, or beyond a hundred times its length and a MiB, and a [*CodingError] when a coding is unknown or
// broken.
func Decode(coded []byte, codings []string, most int64) ([]byte, error) {
	if len(codings) > maxCodings {
		return nil, &CodingError{Coding: codings[0], Err: fmt.Errorf("%d codings are applied, at most %d are undone", len(codings), maxCodings)}
	}
	most = min(most, max(freeExpansion, maxRatio*int64(len(coded))))
	decoded := coded
	for _, coding := range slices.Backward(codings) {
		var err error
		if decoded, err = undo(coding, decoded, most); err != nil {
			return nil, err
		}
	}
	return decoded, nil
}

func undo(coding string, coded []byte, most int64) ([]byte, error) {
	decoder, err := newDecoder(coding, coded)
	if err != nil {
		return nil, &CodingError{Coding: coding, Err: err}
	}
	defer decoder.Close()
	decoded, err := io.ReadAll(io.LimitReader(decoder, most+1))
	switch {
	case int64(len(decoded)) > most:
		return nil, ErrTooLarge
	case errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return nil, ErrTooLarge
	case err != nil:
		return nil, &CodingError{Coding: coding, Err: err}
	}
	return decoded, nil
}

func newDecoder(coding string, coded []byte) (io.ReadCloser, error) {
	from := bytes.NewReader(coded)
	switch coding {
	case "gzip", "x-gzip":
		return gzip.NewReader(from)
	case "deflate":
		if isZlib(coded) {
			return zlib.NewReader(from)
		}
		return flate.NewReader(from), nil
	case "br":
		return io.NopCloser(brotli.NewReader(from)), nil
	case "zstd":
		decoder, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdMemory))
		if err != nil {
			return nil, fmt.Errorf("make decoder: %w", err)
		}
		return decoder.IOReadCloser(), nil
	default:
		return nil, errors.New("unknown content coding")
	}
}

// isZlib tells the zlib format (RFC 1950, section 2.2) from a raw deflate stream, which some clients send.
func isZlib(coded []byte) bool {
	return len(coded) >= 2 && coded[0]&0x0f == 8 && (int(coded[0])<<8|int(coded[1]))%31 == 0
}
