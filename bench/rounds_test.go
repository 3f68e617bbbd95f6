package bench_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/bench"
)

func TestRatio_compares_the_best_and_the_middle(t *testing.T) {
	t.Parallel()
	floor := bench.Score{Rounds: []float64{100, 50, 100, 80}}
	subject := bench.Score{Rounds: []float64{60, 40, 90, 32}}
	got := bench.RatioOf(subject, floor)
	if got.Best != 0.9 || got.Median != 0.7 {
		t.Errorf("got %+v, want 0.9 (90 of 100) and 0.7 (between 0.6 and 0.8)", got)
	}
}

func TestCompare_gives_every_contender_a_turn_in_every_round(t *testing.T) {
	t.Parallel()
	addr := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, "ok")
	}))
	contender := func(name, path string) bench.Contender {
		return bench.Contender{Name: name, Load: bench.Load{Addr: addr, Requests: [][]byte{request(path)}, Clients: 1}}
	}
	rounds := bench.Rounds{Number: 3, Length: 5 * time.Millisecond}
	scores, err := bench.Compare(t.Context(), rounds, contender("a", "/"), contender("b", "/"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a", "b"} {
		if s := scores[i]; s.Name != name || len(s.Rounds) != 3 || s.Best() <= 0 {
			t.Errorf("score %d is %+v", i, s)
		}
	}
	_, err = bench.Compare(t.Context(), rounds, contender("a", "/"), contender("b", "/bad"))
	if err == nil || !strings.HasPrefix(err.Error(), "b: ") || !strings.HasSuffix(err.Error(), "were not 200") {
		t.Errorf("got %v", err)
	}
}
