package engine

import (
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
)

// selection is how a mock chooses among its responses, and when it may answer at all (group R).
type selection struct {
	// ends holds how many calls of a sequence are over with each response.
	ends  []int64
	onEnd mockbase.OnEnd
	// weights are those of an exact draw, without a common divisor.
	weights []int64
	// times is how often the mock answers, 0 is without end (rule A11); states are those in which it does, none is all.
	times  int64
	states []string
	kind   mockbase.Select
	// shares are sums of weights, shares[i] that of the first i+1.
	shares []float64
	// whens are the conditions of the responses under rules, nil for the one without, whose place is byDefault; -1 is none.
	// There is no list where none has a condition.
	whens     []*conditions
	byDefault int
	// momentary tells that the conditions of the request ask for the state, remembers that choosing the mock depends on
	// what the session remembers, or changes it.
	momentary, remembers bool
}

// keep returns a selection to be kept; those of mocks that have one response without a condition are the same.
func (s *settings) keep(own selection) *selection {
	if own.kind == mockbase.SelectRules && own.whens == nil && own.byDefault == 0 && !own.remembers {
		return s.only
	}
	kept := own
	return &kept
}

// compileSelection compiles what a mock says about its responses. Pointers are relative to the mock.
func compileSelection(m *mockbase.Mock, g *guards, faults *mockbase.Faults) selection {
	s := selection{kind: m.Select, times: int64(m.Times), states: m.States, onEnd: m.OnEnd, byDefault: -1}
	s.momentary = g.momentary()
	s.remembers = s.momentary || s.times > 0 || len(s.states) > 0
	for i := range m.Responses {
		s.remembers = s.remembers || m.Responses[i].SetState != ""
	}
	switch {
	case m.Select == mockbase.SelectSequence:
		s.remembers = true
		s.compileSequence(m)
	case m.Select == mockbase.SelectWeighted && m.Draw == mockbase.DrawExact:
		s.remembers = true
		s.compileExact(m, faults)
	case m.Select == mockbase.SelectWeighted:
		s.compileShares(m, faults)
	default:
		s.compileRules(m, faults)
	}
	return s
}

func (s *selection) compileRules(m *mockbase.Mock, faults *mockbase.Faults) {
	s.kind = mockbase.SelectRules
	for i := range m.Responses {
		when := m.Responses[i].When
		if when == nil {
			s.byDefault = i
			continue
		}
		if s.whens == nil {
			s.whens = make([]*conditions, len(m.Responses))
		}
		s.whens[i] = compileConditions(when, pointerTo(responsePointer(m, i), "when"), faults)
		s.remembers = s.remembers || s.whens[i].momentary()
	}
}

func (s *selection) compileSequence(m *mockbase.Mock) {
	s.ends = make([]int64, len(m.Responses))
	end := int64(0)
	for i := range m.Responses {
		end += int64(max(m.Responses[i].Times, 1))
		s.ends[i] = end
	}
}

// heaviest bounds the sum of exact weights, so that counting with it cannot overflow, nor lose digits.
const heaviest = 1 << 50

func (s *selection) compileExact(m *mockbase.Mock, faults *mockbase.Faults) {
	s.weights = make([]int64, len(m.Responses))
	common, sum := int64(0), int64(0)
	for i := range m.Responses {
		weight := weightOf(m, i)
		if weight < 1 || weight != math.Trunc(weight) || weight > heaviest || sum+int64(weight) > heaviest {
			s.refuseWeight(m, i, faults)
			return
		}
		s.weights[i] = int64(weight)
		sum += s.weights[i]
		common = divisor(s.weights[i], common)
	}
	for i := range s.weights {
		s.weights[i] /= common
	}
}

func (s *selection) compileShares(m *mockbase.Mock, faults *mockbase.Faults) {
	s.shares = make([]float64, len(m.Responses))
	sum := 0.0
	for i := range m.Responses {
		sum += weightOf(m, i)
		if math.IsInf(sum, 0) {
			s.refuseWeight(m, i, faults)
			return
		}
		s.shares[i] = sum
	}
}

func (*selection) refuseWeight(m *mockbase.Mock, i int, faults *mockbase.Faults) {
	faults.Append(mockbase.FieldError{
		Pointer: pointerTo(responsePointer(m, i), "weight"), Code: mockbase.FieldRange,
		Detail: "the weights are too large to be counted with",
	})
}

// weightOf is the weight of a response. One that is too large for a number is infinite, one too small is next to nothing.
func weightOf(m *mockbase.Mock, i int) float64 {
	text := m.Responses[i].Weight
	if text == "" {
		return 1
	}
	weight, err := strconv.ParseFloat(text.String(), 64)
	if err != nil {
		return math.Inf(1)
	}
	return max(weight, math.SmallestNonzeroFloat64)
}

func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// responsePointer is the place of a response in its mock.
func responsePointer(m *mockbase.Mock, i int) string {
	if m.SingleResponse {
		return "#/response"
	}
	return pointerTo("#/responses", strconv.Itoa(i))
}

// momentary tells whether the conditions ask for the state or the number of the call, at any depth.
func (c *conditions) momentary() bool {
	if len(c.states) > 0 || c.call != nil || c.not != nil && c.not.momentary() {
		return true
	}
	inner := func(c *conditions) bool { return c.momentary() }
	return slices.ContainsFunc(c.anyOf, inner) || slices.ContainsFunc(c.allOf, inner)
}

// leaves tells whether the mock may leave a request to the next candidate although all conditions of its request hold, in
// each of its states (rules A11 and R10).
func (s *selection) leaves() bool {
	return s.times > 0 || s.kind == mockbase.SelectRules && s.byDefault < 0 ||
		s.kind == mockbase.SelectSequence && s.onEnd == mockbase.OnEndUnmatched
}

// byRules is the first response in the list whose when holds, else the default one, else -1 (rule R10).
func (s *selection) byRules(q *inquiry) int {
	for i, when := range s.whens {
		if when != nil && when.hold(q) {
			return i
		}
	}
	return s.byDefault
}

// bySequence is the response after taken calls; -1 tells that the sequence has ended and the mock is used up (rule R1).
func (s *selection) bySequence(taken int64) int {
	last := len(s.ends) - 1
	if all := s.ends[last]; taken >= all {
		switch s.onEnd {
		case mockbase.OnEndLoop:
			taken %= all
		case mockbase.OnEndUnmatched:
			return -1
		default:
			return last
		}
	}
	i, _ := slices.BinarySearch(s.ends, taken+1)
	return i
}

// byShare is the response that a number from 0 to 1 falls to.
func (s *selection) byShare(drawn float64) int {
	last := len(s.shares) - 1
	point := drawn * s.shares[last]
	i := slices.IndexFunc(s.shares, func(sum float64) bool { return point < sum })
	if i < 0 {
		return last
	}
	return i
}

// status is the status that a response states, or has by default; 0 where it is known only when it is given (rule AA25).
func (r *response) status() int {
	switch source := r.source; {
	case source.Status != 0:
		return source.Status
	case source.StatusTemplate != "" || source.Proxy != nil || source.WebSocket != nil:
		return 0
	case source.Body.Kind == mockbase.BodyNone && source.SSE == nil:
		return http.StatusNoContent
	default:
		return http.StatusOK
	}
}

// readsBody tells whether a response's condition is about the body.
func (s *selection) readsBody() bool {
	return slices.ContainsFunc(s.whens, func(c *conditions) bool { return c != nil && c.readsBody })
}

// readsParts tells whether one is about the parts or fields of a body.
func (s *selection) readsParts() bool {
	return slices.ContainsFunc(s.whens, func(c *conditions) bool { return c != nil && c.readsParts })
}
