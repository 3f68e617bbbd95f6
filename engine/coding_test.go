package engine_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/mockbase/mockbase/engine"
)

// Rules O14 and O15: other libraries than the ones that coded read it back.
func TestO15_codings_can_be_read_back(t *testing.T) {
	t.Parallel()
	readers := map[string]func(io.Reader) (io.Reader, error){
		"gzip":    func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"deflate": func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
		"br":      func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
		"zstd":    func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	}
	for coding, open := range readers {
		for _, body := range [][]byte{nil, []byte("a"), bytes.Repeat([]byte("MockBase "), 10_000)} {
			coded := engine.Encode(coding, body)
			r, err := open(bytes.NewReader(coded))
			if err != nil {
				t.Fatal(coding, err)
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, body) {
				t.Errorf("%s: %d bytes come back as %d: %v", coding, len(body), len(got), err)
			}
		}
	}
}

func TestO14_the_best_coding_is_chosen(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                            "",
		"gzip":                        "gzip",
		"GZIP":                        "gzip",
		"x-gzip":                      "gzip",
		"gzip;q=0, br":                "br",
		"gzip, deflate, br, zstd":     "br",
		"gzip ; q=1.0 , br ; q = 0.5": "gzip",
		"*":                           "br",
		"*, br;q=0":                   "zstd",
		"*;q=0, gzip;q=0.001":         "gzip",
		"identity;q=1, *;q=0":         "",
		"gzip;q=2":                    "",
		"gzip;q=-1":                   "",
		"gzip;q=NaN":                  "",
		"compress":                    "",
		", ,":                         "",
	} {
		if got := engine.ChooseCoding(line); got != want {
			t.Errorf("%q chooses %q, want %q", line, got, want)
		}
	}
}

func FuzzChooseCoding(f *testing.F) {
	f.Add("gzip;q=0.5, br")
	f.Add("*;q=;;,=")
	f.Fuzz(func(t *testing.T, line string) {
		if coding := engine.ChooseCoding(line); coding != "" && !strings.Contains(line, "*") &&
			!strings.Contains(strings.ToLower(line), coding) {
			t.Errorf("%q chooses %q", line, coding)
		}
	})
}

func FuzzParseRanges(f *testing.F) {
	for _, text := range []string{"bytes=0-1", "bytes=-3", "bytes=5-", "bytes=1-2,4-", "bytes=99999999999999999999-", "items=1-2"} {
		f.Add(text, 10)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 0 || size > 1<<40 {
			return
		}
		ranges, ok := engine.ParseRanges(text, size)
		if !ok && len(ranges) > 0 {
			t.Errorf("%q gives %v and is no range", text, ranges)
		}
		if i := slices.IndexFunc(ranges, func(r [2]int) bool { return r[0] < 0 || r[1] < r[0] || r[1] >= size }); i >= 0 {
			t.Errorf("%q gives %v of %d bytes", text, ranges[i], size)
		}
	})
}

func FuzzTags(f *testing.F) {
	f.Add(`W/"a", "b,c"`, `"b,c"`)
	f.Add(`*`, `"a"`)
	f.Add(`"`, `"a"`)
	f.Fuzz(func(t *testing.T, line, tag string) {
		opaque := strings.TrimPrefix(tag, "W/")
		if engine.ListsTag(line, tag) && !strings.Contains(line, "*") && !strings.Contains(line, opaque) {
			t.Errorf("%q lists %q", line, tag)
		}
	})
}

// Rule O11: a comma inside a tag does not divide the list.
func TestO11_lists_of_tags(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`"a,b"`: true, `"x", "a,b"`: true, `W/"a,b"`: true, `*`: true, ` , "a,b" , `: true,
		`"a", "b"`: false, `a,b`: false, `"a,b`: false, ``: false,
	} {
		if got := engine.ListsTag(line, `"a,b"`); got != want {
			t.Errorf("%q lists it: %t, want %t", line, got, want)
		}
	}
}
