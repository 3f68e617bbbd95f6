package guard

// Percentile is percentile.
func Percentile(counts []uint64, buckets []float64) float64 { return percentile(counts, buckets) }
