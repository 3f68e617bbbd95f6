package body_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/operator"
)

// Once the effort is spent nothing holds, and nothing is taken for known.
func TestALargeBodyIsTestedWithinAnEffort(t *testing.T) {
	t.Parallel()
	large := []byte(strings.Repeat("a", 2<<20))
	m := compile(t, `{"text":{"search":"b"}}`)
	same := compile(t, `{"text":{"search":"a"}}`)
	for _, c := range []struct {
		name   string
		effort operator.Effort
		spent  bool
	}{
		{"none is allowed", operator.NewEffort(-1), true},
		{"no bound", operator.Effort{}, false},
	} {
		message := body.New(large, nil).Within(&c.effort)
		if m.Holds(message) || same.Holds(message) == c.spent || c.effort.Spent() != c.spent {
			t.Errorf("%s: spent is %t", c.name, c.effort.Spent())
		}
		if got := same.Settled(message); got == c.spent {
			t.Errorf("%s: settled is %t", c.name, got)
		}
		c.effort.End()
	}
	small := operator.NewEffort(-1)
	if !same.Holds(body.New([]byte("aaa"), nil).Within(&small)) || small.Spent() {
		t.Error("a small body is measured")
	}
}

func TestManyConditionsOnALargeFormAndDocument(t *testing.T) {
	t.Parallel()
	form := body.New([]byte(strings.Repeat("a=1&", 30_000)+"b=2"), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
	for match, want := range map[string]bool{
		`{"form":{"b":2,"a":{"count":30000}}}`: true, `{"form":{"b":3}}`: false, `{"form":{"c":{"exists":false}}}`: true,
	} {
		if compile(t, match).Holds(form) != want {
			t.Errorf("%s: not %t", match, want)
		}
	}
	json := message(`{"a":[` + strings.Repeat("1,", 60_000) + `2],"b":3}`)
	xml := message("<r>" + strings.Repeat("<a/>", 30_000) + "<b>x</b></r>")
	for range 2 {
		if !compile(t, `{"jsonPath":{"$.a[-1]":2,"$.a[?@ == 2]":{"count":1}},"schema":{"required":["b"]}}`).Holds(json) {
			t.Error("the document does not hold")
		}
		if !compile(t, `{"xpath":{"count(//a)":30000,"//b":"x"}}`).Holds(xml) {
			t.Error("the XML does not hold")
		}
	}
	found := compile(t, `{"jsonPath":{"$.a[0]":7}}`)
	found.Holds(json)
	for i := range 10 {
		f := found.Findings(json)[0]
		if isTold := f.Operator == "equals"; isTold != (i < 6) {
			t.Errorf("explanation %d: %+v", i, f)
		}
	}
}
