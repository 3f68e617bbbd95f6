package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/mockbase/mockbase/internal/testkit"
)

// scraped are the figures of one scrape by their name and labels, such as "checks_total outcome=denied policy=engine",
// with the labels in alphabetical order. A histogram is its count, its sum and its buckets.
type scraped map[string]float64

// scrape reads /metrics as Prometheus does.
func scrape(tb testing.TB, c *visitor) scraped {
	tb.Helper()
	answer := c.call(tb, http.StatusOK, http.MethodGet, "/metrics", "")
	if kind := answer.Header.Get("Content-Type"); kind != "text/plain; version=0.0.4; charset=utf-8" {
		tb.Errorf("Content-Type is %s", kind)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(answer.body))
	if err != nil {
		tb.Fatalf("%v:\n%s", err, answer.body)
	}
	all := scraped{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			words := []string{name}
			for _, l := range m.GetLabel() {
				words = append(words, l.GetName()+"="+l.GetValue())
			}
			all[strings.Join(words, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
			if h := m.GetHistogram(); h != nil {
				all[name+"_count"], all[name+"_sum"] = float64(h.GetSampleCount()), h.GetSampleSum()
				for _, b := range h.GetBucket() {
					all[fmt.Sprintf("%s_bucket le=%v", name, b.GetUpperBound())] = float64(b.GetCumulativeCount())
				}
			}
		}
	}
	return all
}

// expect compares figures with what they should be; -1 stands for none.
func (s scraped) expect(tb testing.TB, want map[string]float64) {
	tb.Helper()
	for figure, n := range want {
		got, ok := s[figure]
		if !ok {
			got = -1
		}
		if got != n {
			tb.Errorf("%s is %v, want %v", figure, got, n)
		}
	}
}

// total sums up a family, whose figures must all have these labels first.
func (s scraped) total(tb testing.TB, name, labels string) float64 {
	tb.Helper()
	var sum float64
	for figure, n := range s {
		if family, rest, _ := strings.Cut(figure, " "); family == name {
			if !strings.HasPrefix(rest, labels) {
				tb.Errorf("%s has the labels %s", name, rest)
			}
			sum += n
		}
	}
	return sum
}

// checkLabels finds labels that grow with clients (rule RL128).
func (s scraped) checkLabels(tb testing.TB) {
	tb.Helper()
	known := []string{"policy", "outcome", "mode", "reason", "class", "version", "commit", "goversion", "le", "layer", "rule", "store"}
	for figure := range s {
		words := strings.Fields(figure)
		if !strings.HasPrefix(words[0], "mockbase_") {
			continue
		}
		for _, label := range words[1:] {
			name, value, _ := strings.Cut(label, "=")
			if !slices.Contains(known, name) || strings.Contains(value, "127.0.0.1") {
				tb.Errorf("%s has the label %s", words[0], label)
			}
		}
	}
}

func TestRL128_the_shield_is_counted_in_memory(t *testing.T) {
	t.Parallel()
	server := start(t, "--ephemeral", "--metrics=public", "--engine-limit=3/1d", "--login-limit=disabled")
	c := newClient(t, server.URL)
	for i := range 5 {
		want := http.StatusOK
		if i >= 3 {
			want = http.StatusTooManyRequests
		}
		c.call(t, want, http.MethodGet, "/m/demo/hello", "")
	}
	c.call(t, http.StatusOK, http.MethodGet, "/api/v1/auth/status", "")
	for range 2 { // a scrape counts nothing
		got := scrape(t, c)
		got.expect(t, map[string]float64{
			"mockbase_shield_checks_total outcome=allowed policy=engine":     3,
			"mockbase_shield_checks_total outcome=denied policy=engine":      2,
			"mockbase_shield_checks_total outcome=skipped policy=engine":     0,
			"mockbase_shield_checks_total outcome=allowed policy=management": 1,
			"mockbase_shield_checks_total outcome=allowed policy=login":      -1,
			"mockbase_guard_matches_total layer=tiers mode=live rule=engine": 2,
			"mockbase_guard_circuit_state":                                   0,
			"mockbase_guard_adaptive_factor":                                 1,
			"mockbase_shield_store_up":                                       1,
			"mockbase_shield_store_breaker_state":                            -1,
			"mockbase_shield_keys":                                           2,
			"mockbase_shield_evictions_total":                                0,
			"mockbase_shield_clock_jumps_total":                              0,
			"mockbase_journal_exchanges":                                     5,
			"mockbase_journal_queued":                                        0,
			"mockbase_journal_dropped_total":                                 0,
			"mockbase_journal_evicted_total":                                 0,
		})
		if got["mockbase_shield_bytes"] <= 0 || got["go_goroutines"] <= 0 || got["process_open_fds"] <= 0 || got.total(t, "mockbase_build_info", "commit=") != 1 {
			t.Errorf("the process is missing: %v", got)
		}
		got.checkLabels(t)
	}
}

func TestRL128_the_shield_is_counted_in_Redis_and_while_that_is_away(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	server := start(t, "--ephemeral", "--metrics=public", "--redis-url="+redis.URL(), "--redis-budget=2s", "--engine-limit=3/1d")
	c := newClient(t, server.URL)
	for i := range 5 {
		want := http.StatusOK
		if i >= 3 {
			want = http.StatusTooManyRequests
		}
		c.call(t, want, http.MethodGet, "/m/demo/hello", "")
	}
	got := scrape(t, c)
	got.expect(t, map[string]float64{
		"mockbase_shield_checks_total outcome=allowed policy=engine": 3,
		"mockbase_shield_checks_total outcome=denied policy=engine":  2,
		"mockbase_shield_store_up":                                   1,
		"mockbase_shield_store_breaker_state":                        0,
		"mockbase_shield_queue_depth":                                0,
		"mockbase_shield_local_denials_total":                        1,
		"mockbase_shield_keys":                                       0,
		"mockbase_shield_check_seconds_count":                        5,
		"mockbase_shield_batch_size_count":                           4,
		"mockbase_shield_batch_size_sum":                             4,
		"mockbase_shield_batch_size_bucket le=1":                     4,
		"mockbase_shield_batch_size_bucket le=256":                   4,
	})

	redis.Kill()
	await(t, "a store that is down", func() bool {
		_, err := c.try(t.Context(), http.MethodGet, "/m/demo/hello", "")
		return err == nil && scrape(t, c)["mockbase_shield_store_breaker_state"] == 1
	})
	got = scrape(t, c)
	got.expect(t, map[string]float64{"mockbase_shield_store_up": 0})
	degraded := got.total(t, "mockbase_shield_degraded_total", "mode=open reason=")
	if failed := got.total(t, "mockbase_shield_store_errors_total", "class="); degraded < 1 || degraded != failed {
		t.Errorf("%v checks were decided by the failure mode, the store failed %v times", degraded, failed)
	}
	got.checkLabels(t)
}

// M-243: an administrator's token by default. M-1: on the listener of the management API alone.
func TestM243_metrics_stand_on_the_management_listener_for_an_administrator(t *testing.T) {
	t.Parallel()
	server := start(t, "--ephemeral", "--admin-addr=127.0.0.1:0", "--admin-email="+testEmail, "--admin-password="+testPassword)
	_, rest, _ := strings.Cut(server.said.String(), "  api ")
	c := newClient(t, strings.TrimSuffix(strings.Fields(rest)[0], "/api/v1"))
	if answer := c.call(t, http.StatusUnauthorized, http.MethodGet, "/metrics", ""); !strings.Contains(answer.body, `"code":"unauthenticated"`) {
		t.Errorf("without a token: %s", answer.body)
	}
	c.logIn(t)
	scrape(t, c).expect(t, map[string]float64{"mockbase_shield_checks_total outcome=allowed policy=login": 1})
	mocks := newClient(t, "http://"+server.Addr)
	mocks.token = c.token
	mocks.call(t, http.StatusNotFound, http.MethodGet, "/metrics", "")
}

func TestM243_metrics_that_are_disabled_are_not_there(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{nil, {"--no-ui"}} {
		args := []string{"--ephemeral", "--metrics=disabled", "--admin-email=" + testEmail, "--admin-password=" + testPassword}
		c := newClient(t, start(t, append(args, more...)...).URL)
		c.logIn(t)
		if answer := c.call(t, http.StatusNotFound, http.MethodGet, "/metrics", ""); !strings.Contains(answer.body, `"code":"not-found"`) {
			t.Errorf("%v: %s", more, answer.body)
		}
	}
}

// A server without a shield has no figures of one.
func TestRL128_a_shield_that_is_off_has_no_figures(t *testing.T) {
	t.Parallel()
	got := scrape(t, newClient(t, start(t, "--ephemeral", "--metrics=public", "--no-shield-enabled").URL))
	for name := range got {
		if strings.HasPrefix(name, "mockbase_shield_") {
			t.Errorf("there is %s", name)
		}
	}
	got.expect(t, map[string]float64{"mockbase_journal_exchanges": 0})
}
