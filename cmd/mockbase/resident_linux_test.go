package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlyWhatTheFileHoldsIsGivenBack(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-01681000 r-xp 00000000 fe:00 1322 /bin/mockbase
Rss:               13360 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
01681000-01682000 r-xp 01281000 fe:00 1322 /bin/mockbase
Anonymous:             4 kB
02924000-02b2d000 rw-p 02523000 fe:00 1322 /bin/mockbase
Anonymous:             0 kB
7f0000000000-7f0000001000 r--p 00000000 fe:00 99 /lib/other
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:          4096 kB
fffffffff000-ffffffffe000 r--p 00000000 fe:00 1322 /bin/mockbase
Anonymous:             0 kB
`
	got := cleanMappings(strings.NewReader(smaps), "/bin/mockbase")
	if diff := cmp.Diff([]mapping{{0x400000, 0x1281000}}, got, cmp.AllowUnexported(mapping{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheProgramRunsOnWhenItsPagesWereGivenBack(t *testing.T) {
	t.Parallel()
	resident := func() []mapping {
		text, err := os.ReadFile("/proc/self/smaps")
		if err != nil {
			t.Fatal(err)
		}
		program, err := os.Readlink("/proc/self/exe")
		if err != nil {
			t.Fatal(err)
		}
		return cleanMappings(strings.NewReader(string(text)), program)
	}
	before := resident()
	restProgram()
	if after := resident(); len(before) == 0 || len(after) != len(before) {
		t.Errorf("the program is mapped %d times, and %d times when pages were given back", len(before), len(after))
	}
}
