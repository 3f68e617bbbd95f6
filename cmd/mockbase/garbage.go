package main

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// heapRoom is how many bytes a busy server's heap may grow between two collections, however small it is: what some 3,000
	// changes leave behind.
	heapRoom = 128 << 20
	// busyPace is the time between two collections from which on a server is not busy.
	busyPace = 10 * time.Second
	// usualPercent is Go's own pace: the heap may double.
	usualPercent = 100
	// roomShare is the part of the memory that a container has which the room may be.
	roomShare = 4
)

// collectLess has a small heap collected less often while the server is busy, and as usual while it is not, until the server
// ends. Where the operator set a pace or a limit of Go's own, that holds and nothing else.
func (s *server) collectLess() error {
	for _, own := range []string{"GOGC", "GOMEMLIMIT"} {
		if value, _ := s.lookup(own); value != "" {
			return nil
		}
	}
	c := &collector{room: roomIn(os.DirFS("/")), clock: s.clock, measure: measureHeap, set: debug.SetGCPercent}
	c.watch()
	s.ends = append(s.ends, func() error { c.stop(); return nil })
	return nil
}

// collector sets the pace of the garbage collector anew after each of its cycles.
type collector struct {
	room  int64
	clock func() time.Time
	// measure reads the bytes that a cycle left and those of the roots, set takes a percentage as [debug.SetGCPercent] does.
	measure func() int64
	set     func(percent int) int

	mu      sync.Mutex
	last    time.Time
	stopped bool
}

// marker is garbage from the moment that it is made: its end tells of a cycle.
type marker struct{ _ *marker }

func (c *collector) watch() {
	runtime.AddCleanup(new(marker), (*collector).collected, c)
}

// collected is called after a cycle.
func (c *collector) collected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	now := c.clock()
	busy := !c.last.IsZero() && now.Sub(c.last) < busyPace
	c.last = now
	percent := usualPercent
	if busy {
		percent = percentFor(c.room, c.measure())
	}
	c.set(percent)
	c.watch()
}

// stop goes back to the usual pace.
func (c *collector) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		c.stopped = true
		c.set(usualPercent)
	}
}

// percentFor is the percentage by which what a cycle left may grow by so many bytes, or by itself where that is more.
func percentFor(room, left int64) int {
	if left <= 0 {
		return usualPercent
	}
	return int(min(max(room*100/left, usualPercent), math.MaxInt32))
}

// measureHeap returns what the collector counts its percentage of: the live heap, stacks and globals.
func measureHeap() int64 {
	parts := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(parts)
	var all int64
	for _, p := range parts {
		if p.Value.Kind() == metrics.KindUint64 {
			all += int64(p.Value.Uint64()) //nolint:gosec // bytes of this process
		}
	}
	return all
}

// roomIn is the room that the machine or the container allows, of which root is the file system.
func roomIn(root fs.FS) int64 {
	return min(heapRoom, memoryLimit(root)/roomShare)
}

// memoryLimit is the memory that the process's control group may have: the least of its own limit and those above it. It
// is math.MaxInt64 where there is none.
func memoryLimit(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	note := func(file string) {
		text, err := fs.ReadFile(root, file)
		if err != nil {
			return
		}
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // "max" is none
			least = min(least, limit)
		}
	}
	note("sys/fs/cgroup/memory/memory.limit_in_bytes") // version 1, as a container sees it
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(groups)) {
		if group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			for at := path.Clean("/" + group); ; at = path.Dir(at) {
				note(path.Join("sys/fs/cgroup", at, "memory.max"))
				if at == "/" {
					break
				}
			}
		}
	}
	return least
}
