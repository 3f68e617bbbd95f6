package guard

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	latencyMetric  = "/sched/latencies:seconds"
	totalMetric    = "/memory/classes/total:bytes"
	releasedMetric = "/memory/classes/heap/released:bytes"
	// tail is the percentile of the latency.
	tail = 0.99
)

// RuntimeMeter reads the signals of this process from the Go runtime and the operating system. Its zero value is ready;
// it is safe for concurrent use. The quota of processors is GOMAXPROCS and the memory limit that of the runtime; without
// a memory limit the heap is unknown.
type RuntimeMeter struct {
	// InFlight counts the requests under way; nil is unknown.
	InFlight func() int64

	mu        sync.Mutex
	samples   []metrics.Sample
	used      time.Duration
	at        time.Time
	latencies []uint64
}

// Read returns the signals since the last reading. The first one knows only the heap and the requests.
func (m *RuntimeMeter) Read() Readings {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.samples == nil {
		m.samples = []metrics.Sample{{Name: latencyMetric}, {Name: totalMetric}, {Name: releasedMetric}}
	}
	metrics.Read(m.samples)
	r := Readings{CPU: m.cpu(), Heap: m.heap(), Latency: m.latency(), InFlight: -1}
	if m.InFlight != nil {
		r.InFlight = float64(m.InFlight())
	}
	return r
}

// cpu returns the share of the processors in use since the last reading.
func (m *RuntimeMeter) cpu() float64 {
	used, ok := processTime()
	now := time.Now()
	before, since := m.used, m.at
	m.used, m.at = used, now
	if !ok || since.IsZero() || !now.After(since) {
		return -1
	}
	return float64(used-before) / float64(now.Sub(since)) / float64(runtime.GOMAXPROCS(0))
}

func (m *RuntimeMeter) heap() float64 {
	limit := debug.SetMemoryLimit(-1) // Negative only reads it.
	if limit == math.MaxInt64 || limit <= 0 || m.samples[1].Value.Kind() != metrics.KindUint64 {
		return -1
	}
	return float64(m.samples[1].Value.Uint64()-m.samples[2].Value.Uint64()) / float64(limit)
}

// latency returns the percentile of the waits since the last reading: the upper end of the bucket that holds it.
func (m *RuntimeMeter) latency() float64 {
	if m.samples[0].Value.Kind() != metrics.KindFloat64Histogram {
		return -1
	}
	h := m.samples[0].Value.Float64Histogram()
	before := m.latencies
	m.latencies = append([]uint64(nil), h.Counts...)
	if len(before) != len(h.Counts) {
		return -1
	}
	fresh := make([]uint64, len(before))
	for i := range fresh {
		fresh[i] = h.Counts[i] - before[i]
	}
	return percentile(fresh, h.Buckets)
}

// percentile returns the upper end of the bucket that the tail of the counts begins in, and -1 without counts.
func percentile(counts []uint64, buckets []float64) float64 {
	var total uint64
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return -1
	}
	rank := uint64(math.Ceil(tail * float64(total)))
	var seen uint64
	for i, n := range counts {
		if seen += n; seen < rank {
			continue
		}
		if end := buckets[i+1]; !math.IsInf(end, 1) {
			return end
		}
		return buckets[i]
	}
	return -1
}
