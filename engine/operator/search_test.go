package operator_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/operator"
)

// A long text is read in pieces, and gives what it gives as a whole.
func TestPatternsOnLongTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("abé ", 1<<16)
	large := "(?:[a-zé]{1,200} ?){1,4}"
	for pattern, want := range map[string]bool{
		large + `x`: false, large: true, `b` + large + `é $`: true, `(?:x|` + large + `)*`: true, `zz` + large: false,
	} {
		m := texts(t, `{"search":"`+pattern+`"}`)
		if m.Holds(sent(long)) != want {
			t.Errorf("%s: not %t", pattern, want)
		}
	}
	if texts(t, `{"matches":"`+large+`"}`).Holds(sent(long)) {
		t.Error("a part is taken for the whole")
	}
	if !texts(t, `{"search":"`+strings.Repeat("[^x]{1,900}", 4)+`"}`).Holds(sent(strings.Repeat("\xff", 1<<16))) {
		t.Error("bytes that are no UTF-8 are lost")
	}
}

func TestAnEffortIsSpentOnce(t *testing.T) {
	t.Parallel()
	e := operator.NewEffort(-1)
	if !e.Spend(1000) || e.Spent() {
		t.Error("little is measured")
	}
	if e.Spend(2<<20) || e.Spend(1) || !e.Spent() {
		t.Error("much is allowed")
	}
	e.End()
	e.End()
	if !e.Spent() {
		t.Error("what was spent comes back")
	}
	var none operator.Effort
	if !none.Spend(1<<40) || !none.Try(func() bool { return true }) || none.Try(func() bool { return false }) {
		t.Error("nothing is bounded, and something is refused")
	}
	defer func() {
		if recover() != "own" {
			t.Error("another panic is lost")
		}
	}()
	none.Try(func() bool { panic("own") })
}
