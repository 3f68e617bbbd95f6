package engine_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

const randomMock = `settings: { seed: 7 }
defaults: { template: true }
mocks:
  - request: GET /a
    response:
      headers: { X-Id: "{{ uuid }}" }
      json: { name: "{{ faker \"name\" }}", n: "{{ randomInt 1 1000000 }}", at: "{{ now }}" }
`

// Rule P13: a seed repeats what is drawn, on every server, and a rendering has one time.
func TestP13_two_servers_with_one_seed_give_the_same_bytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := func() []string {
			e := newEngine(t, engine.Options{})
			publishDefinition(t, e, randomMock)
			var all []string
			for range 3 {
				w := get(e, "/m/shop/a")
				all = append(all, w.Header().Get("X-Id")+" "+w.Body.String())
			}
			return all
		}
		first, second := answers(), answers()
		for i := range first {
			if first[i] != second[i] {
				t.Errorf("%s and %s", first[i], second[i])
			}
		}
		if first[0] == first[1] {
			t.Errorf("two calls are alike: %s", first[0])
		}
		if now := time.Now().UTC().Format(time.RFC3339); !strings.Contains(first[0], `"at":"`+now) {
			t.Errorf("%s is not of %s", first[0], now)
		}
	})
}

// Rule P16: the same text is compiled once, and one broken mock does not keep the others from answering.
func TestP16_a_broken_template_is_refused_and_the_others_answer(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publishDefinition(t, e, randomMock)
	broken := textMock("b", "/b", "{{ nope }}")
	broken.Responses[0].Template = new(true)
	faults := e.CheckMock(&mockbase.Config{}, broken)
	if len(faults) != 1 || faults[0].Code != mockbase.FieldSyntax || !strings.Contains(faults[0].Detail, "line 1, column 4") {
		t.Errorf("faults %v", faults)
	}
	if w := get(e, "/m/shop/a"); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func BenchmarkRendered(b *testing.B) {
	e := newEngine(b, engine.Options{})
	publishDefinition(b, e, "mocks: [{ request: 'GET /a/{id}', response: { template: true, json: { id: '{{ path.id }}', name: Ada } } }]")
	r := httptest.NewRequest(http.MethodGet, "/m/shop/a/7", http.NoBody)
	b.ReportAllocs()
	for b.Loop() {
		var w discard
		e.ServeHTTP(&w, r)
		if w.status != http.StatusOK {
			b.Fatal(w.status)
		}
	}
}
