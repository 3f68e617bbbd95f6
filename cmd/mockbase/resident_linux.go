package main

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// restProgram gives back the pages of the program's own file that only the start needed: tables and code that run once. With
// each page that is touched the system maps its neighbours, so that most of the file is resident after a start. What is needed
// again is still in the system's cache, and comes back without reading the disk.
func restProgram() {
	mapped, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer func() { _ = mapped.Close() }()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for _, m := range cleanMappings(mapped, program) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.size, syscall.MADV_DONTNEED)
	}
}

// mapping is a range of addresses.
type mapping struct{ from, size uintptr }

// cleanMappings reads /proc/self/smaps (proc(5)) and returns where a file is mapped and nothing was ever changed: such pages
// are the file's, and come back as they were. A loader or a debugger that wrote to them shows as anonymous memory.
func cleanMappings(smaps io.Reader, path string) []mapping {
	var clean []mapping
	var m mapping
	ours := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		line := lines.Text()
		if next, isHead := mappingOf(line); isHead {
			m, ours = next, strings.HasSuffix(line, " "+path) && !strings.Contains(strings.Fields(line)[1], "w")
		} else if size, found := strings.CutPrefix(line, "Anonymous:"); found && ours && strings.TrimSpace(size) == "0 kB" {
			clean = append(clean, m)
		}
	}
	return clean
}

// mappingOf reads the line that a mapping begins with, such as "00400000-01681000 r-xp 00000000 fe:00 1322 /bin/mockbase".
func mappingOf(line string) (m mapping, ok bool) {
	place, rest, _ := strings.Cut(line, " ")
	first, last, ok := strings.Cut(place, "-")
	if !ok || rest == "" {
		return m, false
	}
	begin, err := strconv.ParseUint(first, 16, strconv.IntSize)
	if err != nil {
		return m, false
	}
	end, err := strconv.ParseUint(last, 16, strconv.IntSize)
	return mapping{uintptr(begin), uintptr(end - begin)}, err == nil && end > begin
}
