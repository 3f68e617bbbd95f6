package engine_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

func (x *explained) send(of mockbase.Errand) *mockbase.Sent {
	x.Helper()
	of.ProjectID, of.MaxBody = "prj_shop", 100
	sent, err := x.engine.Send(x.Context(), &of)
	if err != nil {
		x.Fatal(err)
	}
	return sent
}

// TestM79_sending_moves_everything_but_the_shield also shows that what is sent is marked.
func TestM79_sending_moves_everything_but_the_shield(t *testing.T) {
	t.Parallel()
	x := &explained{T: t}
	x.engine = newEngine(t, engine.Options{Journal: &x.recorded, Shield: &countingShield{left: 1}})
	publishDefinition(t, x.engine, manyStates)
	for i, want := range []string{"one", "two", "two"} {
		sent := x.send(mockbase.Errand{Request: mockbase.SampleRequest{Target: "/turn", Client: "203.0.113.9"}})
		exchange := x.recorded.last(t, i+1)
		if string(sent.Body) != want || sent.Status != http.StatusOK || sent.Exchange != exchange.ID || sent.Header.Get("Mockbase-Mock") != "turn" {
			t.Errorf("sent %+v, recorded %+v", sent, exchange)
		}
		if exchange.Via != mockbase.ViaManagement || exchange.Client.IP.String() != "203.0.113.9" {
			t.Errorf("recorded %+v", exchange)
		}
	}
	if w, exchange := x.call(http.MethodGet, "/turn"); w.Code != http.StatusOK || exchange.Via != "" {
		t.Errorf("the shield has counted what was sent: %d", w.Code)
	}
	sent := x.send(mockbase.Errand{Session: "ci", Request: mockbase.SampleRequest{Target: "/turn"}})
	if string(sent.Body) != "one" {
		t.Errorf("in a session of its own: %q", sent.Body)
	}
}

func TestM79_a_key_stands_for_the_client_address(t *testing.T) {
	t.Parallel()
	x := newExplained(t, `
scenarios: { turns: { key: [ip] } }
mocks: [{ request: GET /a, scenario: turns, select: sequence, responses: [{ text: one }, { text: two }] }]
`)
	for _, c := range []struct{ key, want string }{{"ann", "one"}, {"bob", "one"}, {"ann", "two"}, {"", "one"}} {
		if sent := x.send(mockbase.Errand{Key: c.key, Request: mockbase.SampleRequest{Target: "/a"}}); string(sent.Body) != c.want {
			t.Errorf("%q got %q, want %q", c.key, sent.Body, c.want)
		}
	}
}

func TestM79_faults_and_endless_answers_end(t *testing.T) {
	t.Parallel()
	x := newExplained(t, `
mocks:
  - { request: GET /reset, response: { fault: reset } }
  - { request: POST /body, response: { text: "`+strings.Repeat("x", 300)+`" } }
`)
	if sent := x.send(mockbase.Errand{Request: mockbase.SampleRequest{Target: "/reset"}}); !sent.Broken || sent.Status != 0 {
		t.Errorf("sent %+v", sent)
	}
	sent := x.send(mockbase.Errand{Request: mockbase.SampleRequest{Method: http.MethodPost, Target: "/body", Body: make([]byte, 300)}})
	if len(sent.Body) != 100 || sent.BodySize != 300 || sent.Duration > time.Minute {
		t.Errorf("sent %+v", sent)
	}
	_, err := x.engine.Send(t.Context(), &mockbase.Errand{ProjectID: "prj_shop", Request: mockbase.SampleRequest{Target: "/%"}})
	if mockbase.ErrorCode(err) != mockbase.CodeValidationFailed {
		t.Errorf("a target that is none: %v", err)
	}
	_, err = x.engine.Send(t.Context(), &mockbase.Errand{ProjectID: "prj_shop", Session: "a", Request: mockbase.SampleRequest{
		Headers: [][2]string{{"Mockbase-Session", "b"}},
	}})
	if mockbase.ErrorCode(err) != mockbase.CodeValidationFailed {
		t.Errorf("two sessions: %v", err)
	}
}
