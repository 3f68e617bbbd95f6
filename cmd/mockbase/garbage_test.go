package main

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"testing/fstest"
	"time"
)

// paced is a collector whose time and heap a test says, and the percentages that it set.
type paced struct {
	collector

	now  time.Time
	left int64
	got  []int
}

func newPaced() *paced {
	p := &paced{now: time.Unix(1000, 0), left: 56 << 20}
	p.room, p.clock, p.measure = heapRoom, func() time.Time { return p.now }, func() int64 { return p.left }
	p.set = func(percent int) int { p.got = append(p.got, percent); return 0 }
	return p
}

// after is the percentage that is set after a cycle that ends so much later than the one before.
func (p *paced) after(d time.Duration) int {
	p.now = p.now.Add(d)
	p.collected()
	return p.got[len(p.got)-1]
}

func TestABusyServerWithASmallHeapIsCollectedLessOften(t *testing.T) {
	t.Parallel()
	p := newPaced()
	defer p.stop()
	for _, step := range []struct {
		name string
		wait time.Duration
		left int64
		want int
	}{
		{"the first cycle says nothing of the pace", 0, 56 << 20, 100},
		{"the next one is near", time.Second, 64 << 20, 200},
		{"a tiny heap has the same room", time.Second, 4 << 20, 3200},
		{"a large heap doubles, as usual", time.Second, 300 << 20, 100},
		{"nothing was measured", time.Second, 0, 100},
		{"the server was idle", busyPace, 4 << 20, 100},
		{"and is busy again", time.Second, 32 << 20, 400},
	} {
		p.left = step.left
		if got := p.after(step.wait); got != step.want {
			t.Errorf("%s: %d %%, want %d", step.name, got, step.want)
		}
	}
}

func TestAServerThatEndedSetsThePaceNoMore(t *testing.T) {
	t.Parallel()
	p := newPaced()
	p.after(0)
	p.after(time.Second)
	p.stop()
	p.stop()
	p.collected()
	if want := []int{100, 228, 100}; fmt.Sprint(p.got) != fmt.Sprint(want) {
		t.Errorf("set %v, want %v", p.got, want)
	}
}

// Each cycle of Go's collector calls the collector, also the one after next.
func TestEveryCycleIsHeard(t *testing.T) {
	t.Parallel()
	heard := make(chan int, 100)
	c := &collector{room: heapRoom, clock: time.Now, measure: measureHeap, set: func(percent int) int { heard <- percent; return 0 }}
	defer c.stop()
	c.watch()
	for range 3 {
		for len(heard) == 0 {
			runtime.GC()
			runtime.Gosched()
		}
		<-heard
	}
}

// What Go counts its percentage of is what is measured: the goal lies by the room above the heap that a cycle left.
func TestTheHeapIsMeasuredAsTheCollectorDoes(t *testing.T) {
	t.Parallel()
	runtime.GC()
	if left := measureHeap(); left < 1<<20 || left > 1<<40 {
		t.Errorf("%d bytes", left)
	}
	if got := percentFor(heapRoom, 1); got != math.MaxInt32 {
		t.Errorf("%d %% of a byte", got)
	}
}

// C-20: what the operator says of Go's collector holds.
func TestC20_the_operators_pace_of_the_collector_holds(t *testing.T) {
	t.Parallel()
	for _, variable := range []string{"GOGC=100", "GOMEMLIMIT=100MiB"} {
		s := &server{process: &process{environ: []string{variable}}}
		if err := s.collectLess(); err != nil || len(s.ends) > 0 {
			t.Errorf("%s: the pace is ours (%v)", variable, err)
		}
	}
	s := &server{process: &process{environ: []string{"GOGC="}, clock: time.Now}}
	if err := s.collectLess(); err != nil || len(s.ends) != 1 {
		t.Fatalf("the pace is not ours (%v)", err)
	}
	if err := s.ends[0](); err != nil {
		t.Error(err)
	}
}

func TestTheRoomOfAContainerIsAPartOfItsMemory(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, c := range []struct {
		name string
		root fstest.MapFS
		want int64
	}{
		{"no control groups", fstest.MapFS{}, heapRoom},
		{"no limit", fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("max\n")}, heapRoom},
		{"a container", fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("134217728\n")}, 32 << 20},
		{"a large container", fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("8589934592\n")}, heapRoom},
		{"a service below a slice", fstest.MapFS{
			"proc/self/cgroup":                                       file("12:cpu:/x\n0::/system.slice/mockbase.service\n"),
			"sys/fs/cgroup/system.slice/memory.max":                  file("67108864\n"),
			"sys/fs/cgroup/system.slice/mockbase.service/memory.max": file("max\n"),
		}, 16 << 20},
		{"version 1", fstest.MapFS{"sys/fs/cgroup/memory/memory.limit_in_bytes": file("268435456\n")}, 64 << 20},
		{"version 1 without a limit", fstest.MapFS{"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n")}, heapRoom},
	} {
		if got := roomIn(c.root); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
}
