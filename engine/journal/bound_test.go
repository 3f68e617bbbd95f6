package journal_test

import (
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/journal"
)

func TestM61_a_project_keeps_what_its_retention_says(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Count: 10, Clock: at(10)})
	recordRange(j, shop, 0, 10)
	j.Bound(shop, mockbase.Retention{MaxCount: 4})
	if got := paths(j.Traffic(shop, mockbase.TrafficFilter{}, "", 100)); got != "9 8 7 6" {
		t.Errorf("kept %s", got)
	}
	recordRange(j, shop, 10, 12)
	page := j.Traffic(shop, mockbase.TrafficFilter{}, "", 100)
	if got := paths(page); got != "11 10 9 8" || page.Evicted != 8 || !page.LostUntil.Equal(exchange(shop, 7).At) {
		t.Errorf("kept %s, %d evicted until %s", got, page.Evicted, page.LostUntil)
	}
	// No project may have more than the server allows.
	j.Bound(shop, mockbase.Retention{MaxCount: 1000})
	recordRange(j, shop, 12, 40)
	if n := len(j.Traffic(shop, mockbase.TrafficFilter{}, "", 100).Items); n != 10 {
		t.Errorf("%d are kept", n)
	}
	// Another project is as it was, and one that has recorded nothing yet is bounded when it does.
	j.Bound("prj_b", mockbase.Retention{MaxCount: 1})
	recordRange(j, "prj_a", 0, 5)
	recordRange(j, "prj_b", 0, 5)
	if a, b := j.Traffic("prj_a", mockbase.TrafficFilter{}, "", 9).Total, j.Traffic("prj_b", mockbase.TrafficFilter{}, "", 9).Total; a != 5 || b != 1 {
		t.Errorf("%d and %d are kept", a, b)
	}
}

func TestM61_age_and_bytes_bound_a_project(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Clock: at(9)})
	recordRange(j, shop, 0, 10)
	j.Bound(shop, mockbase.Retention{MaxAge: 3 * time.Second})
	if got := paths(j.Traffic(shop, mockbase.TrafficFilter{}, "", 100)); got != "9 8 7 6" {
		t.Errorf("young are %s", got)
	}
	half := j.Stats().Bytes / 2
	j.Bound(shop, mockbase.Retention{MaxBytes: half})
	if s := j.Stats(); s.Bytes > half || s.Exchanges != 2 {
		t.Errorf("%d of at most %d bytes, %d exchanges", s.Bytes, half, s.Exchanges)
	}
}

func TestM66_what_is_missing_is_known_by_its_time(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Count: 2, Clock: at(10)})
	recordRange(j, shop, 0, 2)
	if page := j.Traffic(shop, mockbase.TrafficFilter{}, "", 9); !page.LostUntil.IsZero() {
		t.Errorf("lost until %s", page.LostUntil)
	}
	recordRange(j, shop, 2, 3)
	if page := j.Traffic(shop, mockbase.TrafficFilter{}, "", 9); !page.LostUntil.Equal(exchange(shop, 0).At) {
		t.Errorf("lost until %s", page.LostUntil)
	}
	j.Clear(shop)
	if page := j.Traffic(shop, mockbase.TrafficFilter{}, "", 9); !page.LostUntil.IsZero() {
		t.Errorf("after clearing, lost until %s", page.LostUntil)
	}
	// What was saved and has no room after a restart is missing, too.
	j = journal.New(journal.Options{Count: 2, Clock: at(10)})
	j.Restore(shop, []*mockbase.Exchange{exchange(shop, 1), exchange(shop, 2), exchange(shop, 3)})
	if page := j.Traffic(shop, mockbase.TrafficFilter{}, "", 9); !page.LostUntil.Equal(exchange(shop, 1).At) {
		t.Errorf("restored, lost until %s", page.LostUntil)
	}
}
