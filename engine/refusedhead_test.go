package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/parking"
)

// M-6, N6 and N7: a head that cannot be read is told in the form of all problems.
func TestM6_a_head_that_cannot_be_read_is_a_problem(t *testing.T) {
	t.Parallel()
	bounds := engine.HeadBounds{MaxHeader: 64 << 10, MaxTarget: 16 << 10, BasePath: "/base"}
	for _, c := range []struct {
		refused parking.Refused
		bounds  engine.HeadBounds
		status  int
		code    mockbase.Code
		detail  string
	}{
		{parking.Refused{Status: 431}, bounds, 431, mockbase.CodeHeadersTooLarge, "longer than 65536 bytes"},
		{parking.Refused{Status: 431, HTTP2: true}, bounds, 431, mockbase.CodeHeadersTooLarge, "longer than 65536 bytes, with the 32 that HTTP/2 counts"},
		{parking.Refused{Status: 417}, bounds, 417, mockbase.CodeBadRequest, "100-continue alone"},
		{parking.Refused{Status: 431, InLine: true}, bounds, 414, mockbase.CodeTargetTooLong, "longer than 16384 bytes"},
		{parking.Refused{Status: 431, InLine: true}, engine.HeadBounds{MaxHeader: 1 << 10, MaxTarget: 1 << 20}, 431, mockbase.CodeHeadersTooLarge, "longer than 1024 bytes"},
		{parking.Refused{Status: 400, Reason: "invalid header name", Secure: true}, bounds, 400, mockbase.CodeBadRequest, "cannot be read: invalid header name."},
		{parking.Refused{Status: 400, InClear: true}, bounds, 400, mockbase.CodeBadRequest, "HTTP request to an HTTPS server; write https://"},
		{parking.Refused{Status: 505}, bounds, 505, mockbase.CodeBadRequest, "cannot be read."},
	} {
		answer := engine.RefuseHead(&c.refused, c.bounds, "req_1")
		var p struct {
			Type, Title, Detail, Instance, RequestID string
			Status                                   int
			Code                                     mockbase.Code
		}
		if err := json.NewDecoder(answer.Body).Decode(&p); err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.status || p.Status != c.status || p.Code != c.code || !strings.Contains(p.Detail, c.detail) || p.Title == "" ||
			p.Type != c.bounds.BasePath+"/docs/problems/"+string(c.code) || p.Instance != "req_1" || p.RequestID != "req_1" {
			t.Errorf("%+v: %d %+v", c.refused, answer.StatusCode, p)
		}
		if answer.Header.Get("Content-Type") != "application/problem+json" || (answer.Header.Get("Strict-Transport-Security") != "") != c.refused.Secure {
			t.Errorf("%+v: %v", c.refused, answer.Header)
		}
	}
}

// AA28: what would be refused past every mock is foretold as it is answered.
func TestAA28_a_head_that_cannot_be_read_is_foretold(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "a")})
	for of, c := range map[string]struct {
		sample mockbase.SampleRequest
		status int
		code   string
	}{
		"a long field":   {mockbase.SampleRequest{Target: "/a", Headers: [][2]string{{"X", strings.Repeat("a", 100<<10)}}}, 431, "headers-too-large"},
		"a long target":  {mockbase.SampleRequest{Target: "/a?" + strings.Repeat("a", 100<<10)}, 414, "target-too-long"},
		"an expectation": {mockbase.SampleRequest{Target: "/a", Headers: [][2]string{{"Expect", "202-maybe"}}}, 417, "bad-request"},
	} {
		x, err := e.Explain(t.Context(), &mockbase.Question{ProjectID: "prj_1", Request: c.sample})
		if err != nil {
			t.Fatal(err)
		}
		if x.Response == nil || x.Response.Status != c.status || !strings.Contains(string(x.Response.Body), `"code":"`+c.code+`"`) ||
			x.Response.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %+v", of, x.Response)
		}
	}
}
