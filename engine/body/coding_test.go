package body_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/mockbase/mockbase/engine/body"
)

const roomy = 10 << 20

// code applies one coding.
func code(tb testing.TB, coding string, plain []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch coding {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, err = flate.NewWriter(&b, flate.DefaultCompression)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	default:
		tb.Fatalf("coding %q", coding)
	}
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write(plain); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestF2_every_coding_is_undone(t *testing.T) {
	t.Parallel()
	plain := []byte(`{"a":1}`)
	for _, coding := range []string{"gzip", "x-gzip", "deflate", "br", "zstd"} {
		got, err := body.Decode(code(t, coding, plain), []string{coding}, roomy)
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: %q, %v", coding, got, err)
		}
	}
	if got, err := body.Decode(code(t, "raw", plain), []string{"deflate"}, roomy); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("raw deflate: %q, %v", got, err)
	}
}

func TestF2_lists_are_undone_from_the_right(t *testing.T) {
	t.Parallel()
	plain := []byte(strings.Repeat("text ", 100))
	coded := code(t, "br", code(t, "deflate", code(t, "gzip", plain)))
	codings := body.Codings([]string{"GZIP ,identity", "", "deflate, Br"})
	if got, err := body.Decode(coded, codings, roomy); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := body.Decode(plain, body.Codings([]string{"identity"}), roomy); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("identity: %q, %v", got, err)
	}
}

func TestF3_what_cannot_be_undone_names_the_coding(t *testing.T) {
	t.Parallel()
	whole := code(t, "gzip", []byte("some text that is coded"))
	for name, c := range map[string]struct {
		coded   []byte
		codings []string
		want    string
	}{
		"not gzip":  {[]byte("xxxxxxxxxxxxxxxxxxx"), []string{"gzip"}, "gzip: invalid header"},
		"one byte":  {[]byte("x"), []string{"gzip"}, "gzip: unexpected EOF"},
		"cut":       {whole[:len(whole)-9], []string{"gzip"}, "gzip: unexpected EOF"},
		"unknown":   {[]byte("x"), []string{"sdch"}, "sdch: unknown content coding"},
		"not br":    {[]byte("\xff\xff\xff\xff"), []string{"br"}, "br: "},
		"not zstd":  {[]byte("xxxx"), []string{"zstd"}, "zstd: "},
		"nine":      {nil, strings.Fields(strings.Repeat("gzip ", 9)), "gzip: 9 codings"},
		"the inner": {code(t, "gzip", []byte("x")), []string{"deflate", "gzip"}, "deflate: "},
	} {
		_, err := body.Decode(c.coded, c.codings, roomy)
		coding, ok := errors.AsType[*body.CodingError](err)
		if !ok || !strings.HasPrefix(err.Error(), c.want) || coding.Unwrap() == nil {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestF3_expansion_is_capped_in_ratio_and_size(t *testing.T) {
	t.Parallel()
	million := make([]byte, 1<<20)
	bomb := code(t, "gzip", make([]byte, 8<<20))
	for name, c := range map[string]struct {
		coded    []byte
		codings  []string
		most     int64
		tooLarge bool
	}{
		"a MiB of any ratio":       {code(t, "gzip", million), []string{"gzip"}, roomy, false},
		"a byte more":              {code(t, "gzip", make([]byte, 1<<20+1)), []string{"gzip"}, roomy, true},
		"beyond the size":          {code(t, "gzip", million), []string{"gzip"}, 1000, true},
		"a bomb":                   {bomb, []string{"gzip"}, 1 << 30, true},
		"a bomb in a bomb":         {code(t, "gzip", bomb), []string{"gzip", "gzip"}, 1 << 30, true},
		"a brotli bomb":            {code(t, "br", make([]byte, 8<<20)), []string{"br"}, 1 << 30, true},
		"a zstd bomb":              {code(t, "zstd", make([]byte, 8<<20)), []string{"zstd"}, 1 << 30, true},
		"a deflate bomb":           {code(t, "deflate", make([]byte, 8<<20)), []string{"deflate"}, 1 << 30, true},
		"a zstd window of 128 MiB": {[]byte("\x28\xb5\x2f\xfd\x00\x88\x01\x00\x00"), []string{"zstd"}, 1 << 30, true},
	} {
		if _, err := body.Decode(c.coded, c.codings, c.most); errors.Is(err, body.ErrTooLarge) != c.tooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		f.Add(code(f, coding, []byte("some text")), coding)
		f.Add([]byte("x"), coding+","+coding)
	}
	f.Fuzz(func(t *testing.T, coded []byte, codings string) {
		const most = 1 << 16
		decoded, err := body.Decode(coded, body.Codings([]string{codings}), most)
		if err == nil && int64(len(decoded)) > max(most, int64(len(coded))) {
			t.Errorf("%d bytes", len(decoded))
		}
	})
}
