package engine_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

// foretell explains a request of the corpus before it is sent, several times, which must leave no trace (rule AA29): the
// case goes on as if nobody had asked. It returns nil for what is no request to the server.
func (x *exchangeCase) foretell(t *testing.T, raw []byte) *mockbase.Explanation {
	t.Helper()
	sample, ok := sampleOf(raw)
	if !ok {
		return nil
	}
	x.asked = sample
	q := &mockbase.Question{ProjectID: "prj_shop", Request: sample}
	first, err := x.engine.Explain(t.Context(), q)
	if err != nil {
		return nil
	}
	second, err := x.engine.Explain(t.Context(), q)
	if err != nil || outline(first) != outline(second) {
		t.Errorf("explained as %+v, and then as %+v, %v", outline(first), outline(second), err)
	}
	return first
}

// said is what of an explanation must be so.
type said struct {
	by             mockbase.AnsweredBy
	mock, decision string
	candidates     int
}

func outline(x *mockbase.Explanation) said {
	return said{x.Outcome, x.Mock.Name, x.DecidedBy, len(x.Candidates)}
}

func sampleOf(raw []byte) (mockbase.SampleRequest, bool) {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return mockbase.SampleRequest{}, false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return mockbase.SampleRequest{}, false
	}
	sample := mockbase.SampleRequest{
		Method: r.Method, Target: r.RequestURI, Body: body, Headers: [][2]string{{"Host", r.Host}},
	}
	for _, coding := range r.TransferEncoding {
		sample.Headers = append(sample.Headers, [2]string{"Transfer-Encoding", coding})
	}
	for name, lines := range r.Header {
		for _, line := range lines {
			sample.Headers = append(sample.Headers, [2]string{name, line})
		}
	}
	return sample, true
}

// agrees holds what was foretold against what happened (rule AA30).
func (x *exchangeCase) agrees(t *testing.T, foretold *mockbase.Explanation) {
	t.Helper()
	if strings.HasSuffix(x.status, "417 Expectation Failed") || strings.HasSuffix(x.status, "400 Bad Request") && x.headerValue("Mockbase-Mock") == "" {
		// net/http has answered by itself, so nothing is recorded.
		x.sent--
		return
	}
	if foretold == nil || x.breaks || strings.HasSuffix(x.status, " 101 Switching Protocols") {
		// Conversations are recorded when they end.
		return
	}
	happened := x.recorded.last(t, x.sent)
	if happened.AnsweredBy == mockbase.AnsweredByShield || happened.ClientAborted {
		return
	}
	x.recalls(t, foretold, happened)
	if foretold.Outcome != happened.AnsweredBy || foretold.Mock != happened.Mock {
		t.Errorf("foretold %s by %v, but it was %s by %v: %s", foretold.Outcome, foretold.Mock, happened.AnsweredBy, happened.Mock, happened.Request.Target)
		return
	}
	if len(foretold.Candidates) > 0 && foretold.Mock.ID != "" && (!foretold.Candidates[0].Matched || foretold.Candidates[0].Mock != foretold.Mock) {
		t.Errorf("the best candidate for %v is %+v", foretold.Mock, foretold.Candidates[0])
	}
	limitsAgree(t, foretold.Limits, happened.Limits)
	answer := foretold.Response
	if answer == nil || answer.Seed != happened.Seed {
		return
	}
	if answer.Name != happened.Response.Name || answer.Call != happened.Call {
		t.Errorf("foretold response %q of call %d, but it was %q of %d", answer.Name, answer.Call, happened.Response.Name, happened.Call)
	}
	if answer.Rendered && answer.Fault == "" && answer.Status != happened.Response.Status {
		t.Errorf("foretold status %d, but it was %d", answer.Status, happened.Response.Status)
	}
	if answer.Rendered && answer.Fault == "" && (foretold.Outcome == mockbase.AnsweredByMock || foretold.Outcome == mockbase.AnsweredBySimulatedLimit) {
		if diff := cmp.Diff(unmarked(answer.Body), unmarked(happened.Response.Body)); diff != "" {
			t.Errorf("the body is another (-foretold +sent):\n%s", diff)
		}
	}
}

// limitsAgree holds what each limit was to decide against what it decided. Between the two, time passed.
func limitsAgree(t *testing.T, foretold []mockbase.LimitOutlook, happened []mockbase.LimitOutcome) {
	t.Helper()
	const late = 5 * time.Second
	for i := range happened {
		was := &happened[i]
		at := slices.IndexFunc(foretold, func(f mockbase.LimitOutlook) bool { return f.Policy == was.Policy && f.Kind == was.Kind })
		if at < 0 {
			if was.Kind == "simulated" {
				t.Errorf("%s was not foretold", was.Policy)
			}
			continue
		}
		told := &foretold[at]
		passed := told.RetryAfter - was.RetryAfter
		if told.Key != was.Key || told.Allowed != was.Allowed || told.WouldLimit != was.WouldLimit || !was.Allowed && (passed < 0 || passed > late) {
			t.Errorf("foretold %+v, but it was %+v", told, was)
		}
	}
}

// anew asks again what a request would be answered with, and again after it, until recording has added no mock in between.
func (x *exchangeCase) anew(t *testing.T, then **mockbase.Explanation, happened *mockbase.Exchange) *mockbase.Explanation {
	t.Helper()
	for {
		now, err := x.engine.Explain(t.Context(), &mockbase.Question{ProjectID: "prj_shop", Request: x.asked})
		if err != nil {
			t.Fatal(err)
		}
		after, err := x.engine.ExplainExchange(t.Context(), happened, mockbase.SeesAll)
		if err != nil {
			t.Fatal(err)
		}
		if !x.records || len((*then).Current.Candidates) == len(after.Current.Candidates) {
			return now
		}
		*then = after
	}
}

// unmarked is a body without the ids of exchanges.
func unmarked(body []byte) string {
	return regexp.MustCompile("xch_[0-9A-Z]{26}").ReplaceAllString(string(body), "xch")
}

// recalls holds the explanation of a recorded exchange against what was foretold and what happened: the same mocks are
// compared, with the same checks, by the request as it was recorded (rule AA31).
func (x *exchangeCase) recalls(t *testing.T, foretold *mockbase.Explanation, happened *mockbase.Exchange) {
	t.Helper()
	then, err := x.engine.ExplainExchange(t.Context(), happened, mockbase.SeesAll)
	if err != nil {
		t.Errorf("explained afterwards: %v", err)
		return
	}
	if then.Outcome != happened.AnsweredBy || then.Mock != happened.Mock {
		t.Errorf("%s by %v is recalled as %s by %v", happened.AnsweredBy, happened.Mock, then.Outcome, then.Mock)
	}
	if then.Current == nil {
		if happened.Response.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s has no explanation by the mocks of now: %q", happened.Request.Target, then.Hints)
		}
		return
	}
	if happened.Redacted || happened.Request.Truncated {
		return
	}
	now := x.anew(t, &then, happened)
	if outline(then.Current) != outline(now) {
		t.Errorf("by the mocks of now it is %+v, and asked anew %+v", outline(then.Current), outline(now))
	}
	if diff := cmp.Diff(then.Current.Candidates, now.Candidates); diff != "" {
		t.Errorf("%s %s by the mocks of now (-recalled +asked anew):\n%s", happened.Request.Method, happened.Request.Target, diff)
	}
	if happened.AnsweredBy == mockbase.AnsweredByError || happened.AnsweredBy == mockbase.AnsweredByPreflight {
		return // no mock was asked
	}
	if diff := cmp.Diff(known(then.Candidates, then.Candidates), known(foretold.Candidates, then.Candidates)); diff != "" {
		t.Errorf("%s %s as it was then (-recalled +foretold):\n%s", happened.Request.Method, happened.Request.Target, diff)
	}
	if then.DecidedBy != foretold.DecidedBy && len(known(then.Candidates, then.Candidates)) == len(then.Candidates) {
		t.Errorf("it was decided by %q, and foretold %q", then.DecidedBy, foretold.DecidedBy)
	}
}

// known are the candidates without those of which the recalled ones do not know all.
func known(list, recalled []mockbase.Candidate) []mockbase.Candidate {
	unsure := func(k mockbase.Check) bool { return k.Doubtful }
	return slices.DeleteFunc(slices.Clone(list), func(c mockbase.Candidate) bool {
		return slices.ContainsFunc(recalled, func(r mockbase.Candidate) bool { return r.Mock == c.Mock && slices.ContainsFunc(r.Checks, unsure) })
	})
}
