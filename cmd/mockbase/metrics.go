package main

import (
	"bytes"
	"fmt"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"github.com/mockbase/mockbase/engine/journal"
)

// newMetrics returns what writes the server's figures in the text format of Prometheus; nil where metrics are disabled
// (M-243). Nothing is counted for it: the parts are asked for what they count anyway.
func (s *server) newMetrics() (func() ([]byte, error), error) {
	if s.settings.Metrics == "disabled" {
		return nil, nil //nolint:nilnil // no metrics are no failure
	}
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gatherer(gatherBuild),
		gatherer(s.shield.gather),
		gatherer(s.limits.gather),
		gatherer(func(f figures) { gatherJournal(f, s.journal.Stats()) }),
	} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return func() ([]byte, error) { return metricsText(registry) }, nil
}

// metricsText writes everything that a registry gathers.
func metricsText(from prometheus.Gatherer) ([]byte, error) {
	families, err := from.Gather()
	if err != nil {
		return nil, fmt.Errorf("gather: %w", err)
	}
	var text bytes.Buffer
	to := expfmt.NewEncoder(&text, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, family := range families {
		if err := to.Encode(family); err != nil {
			return nil, fmt.Errorf("write %s: %w", family.GetName(), err)
		}
	}
	return text.Bytes(), nil
}

// gatherer is a collector that reads its figures when somebody scrapes.
type gatherer func(figures)

var _ prometheus.Collector = gatherer(nil)

// Describe announces nothing: which figures there are depends on the settings.
func (gatherer) Describe(chan<- *prometheus.Desc) {}

// Collect sends the present figures.
func (g gatherer) Collect(to chan<- prometheus.Metric) { g(figures{to: to}) }

// figures takes the figures of one scrape, with their labels as pairs of a name and a value.
type figures struct{ to chan<- prometheus.Metric }

func (f figures) count(name, help string, n int64, labels ...string) {
	f.send(prometheus.CounterValue, name, help, float64(n), labels)
}

func (f figures) gauge(name, help string, value float64, labels ...string) {
	f.send(prometheus.GaugeValue, name, help, value, labels)
}

func (f figures) send(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	names, values := make([]string, 0, len(labels)/2), make([]string, 0, len(labels)/2)
	for i := 0; i+1 < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	f.to <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
}

func gatherBuild(f figures) {
	f.gauge("mockbase_build_info", "The binary, always 1.", 1, "version", version, "commit", commit, "goversion", runtime.Version())
}

func gatherJournal(f figures, now journal.Stats) {
	f.gauge("mockbase_journal_exchanges", "Recorded requests that are kept.", float64(now.Exchanges))
	f.gauge("mockbase_journal_bytes", "Bytes that recorded requests take.", float64(now.Bytes))
	f.gauge("mockbase_journal_queued", "Recorded requests that wait to be saved.", float64(now.Queued))
	f.count("mockbase_journal_dropped_total", "Requests that were not recorded or not saved.", now.Dropped)
	f.count("mockbase_journal_evicted_total", "Recorded requests that made room for others or grew too old.", now.Evicted)
}
