package journal_test

import (
	"runtime"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/journal"
)

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The tests of memory measure the whole process, so they do not run beside others.

func TestY8_memory_is_flat_once_the_bounds_are_reached(t *testing.T) {
	const count = 1000
	total := 300_000
	if testing.Short() {
		total = 50_000
	}
	j := journal.New(journal.Options{Count: count, Clock: at(0)})
	record := func(from, to int) {
		for n := from; n < to; n++ {
			j.Record(exchange(shop, n))
		}
	}
	record(0, total/10)
	warm := heap()
	record(total/10, total)
	if grown := heap() - warm; grown > 256<<10 {
		t.Errorf("the heap grew by %d bytes after the ring was full", grown)
	}
	if s := j.Stats(); s.Exchanges != count || s.Evicted != int64(total-count) {
		t.Errorf("stats are %+v", s)
	}
}

func TestY8_the_bytes_that_are_counted_are_near_what_the_heap_holds(t *testing.T) {
	for _, body := range []int{0, 500, 20_000} {
		empty := heap()
		j := journal.New(journal.Options{Count: 1 << 20, Bytes: 8 << 20, Clock: at(0)})
		for n := 0; j.Stats().Evicted == 0; n++ {
			x := exchange(shop, n)
			x.Response.Body = make([]byte, body)
			j.Record(x)
		}
		held, counted := heap()-empty, j.Stats().Bytes
		if counted > 8<<20 || held > counted*13/10 || held < counted*6/10 {
			t.Errorf("bodies of %d bytes: counted %d, held %d", body, counted, held)
		}
		runtime.KeepAlive(j)
	}
}

func TestAQuietProjectTakesLittle(t *testing.T) {
	empty := heap()
	j := journal.New(journal.Options{})
	x := exchange(shop, 0)
	x.Request.Header, x.Response.Header = nil, nil
	j.Record(x)
	if held := heap() - empty; held > 8<<10 {
		t.Errorf("one exchange of one project takes %d bytes", held)
	}
	runtime.KeepAlive(j)
}

func TestRecordAllocatesNothing(t *testing.T) {
	j := journal.New(journal.Options{Count: 64, Clock: at(0)})
	all := prepared(256)
	n := 0
	allocations := testing.AllocsPerRun(1000, func() {
		j.Record(all[n%len(all)])
		n++
	})
	if allocations != 0 {
		t.Errorf("recording allocates %v times", allocations)
	}
}

func prepared(n int) []*mockbase.Exchange {
	all := make([]*mockbase.Exchange, n)
	for i := range all {
		all[i] = exchange(shop, i)
	}
	return all
}

func BenchmarkRecord(b *testing.B) {
	j := journal.New(journal.Options{Clock: at(0)})
	all := prepared(20_000)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		j.Record(all[n])
		if n++; n == len(all) {
			n = 0
		}
	}
}

func BenchmarkRecordInParallel(b *testing.B) {
	j := journal.New(journal.Options{Clock: at(0)})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		all := prepared(1000)
		for n := 0; pb.Next(); n++ {
			j.Record(all[n%len(all)])
		}
	})
}

func BenchmarkTrafficOfAFullRing(b *testing.B) {
	j := journal.New(journal.Options{Clock: at(0)})
	recordRange(j, shop, 0, journal.DefaultCount)
	b.ReportAllocs()
	for b.Loop() {
		j.Traffic(shop, mockbase.TrafficFilter{StatusMin: 200, StatusMax: 299}, "", 50)
	}
}
