package journal_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/journal"
)

func TestR7_a_part_of_the_traffic_is_forgotten_and_the_rest_stays_in_order(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	j := journal.New(journal.Options{Count: 5, Clock: func() time.Time { return now }})
	record := func(i int) {
		j.Record(&mockbase.Exchange{
			ID: fmt.Sprintf("xch_%02d", i), ProjectID: "p", At: now, Session: mockbase.SessionRef{ID: fmt.Sprint("ses_", i%2), Name: fmt.Sprint("s", i%2)},
		})
	}
	for i := range 8 {
		record(i)
	}
	if n := j.ClearSelected("p", mockbase.TrafficFilter{Session: "none"}); n != 0 {
		t.Errorf("forgot %d of nothing", n)
	}
	if n := j.ClearSelected("none", mockbase.TrafficFilter{}); n != 0 {
		t.Errorf("forgot %d of a project that recorded nothing", n)
	}
	if n := j.ClearSelected("p", mockbase.TrafficFilter{Session: "ses_1"}); n != 3 {
		t.Errorf("forgot %d, want 3", n)
	}
	for i := 8; i < 10; i++ {
		record(i)
	}
	var ids []string
	for _, x := range j.Traffic("p", mockbase.TrafficFilter{}, "", 10).Items {
		ids = append(ids, x.ID)
	}
	if want := []string{"xch_09", "xch_08", "xch_06", "xch_04"}; !slices.Equal(ids, want) {
		t.Errorf("kept %v, want %v", ids, want)
	}
}

func TestR7_what_was_saved_of_a_part_is_forgotten_too(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, persist := range []bool{true, false} {
		kept := &shelf{}
		j := journal.New(journal.Options{
			Clock: func() time.Time { return now }, Sink: kept, Saving: journal.Saving{Queue: 2, Interval: time.Hour},
			Persist: func(string) bool { return persist },
		})
		for i := range 6 {
			j.Record(&mockbase.Exchange{ID: fmt.Sprint("xch_", i), ProjectID: "p", At: now, Session: mockbase.SessionRef{Name: fmt.Sprint("s", i%2)}})
		}
		j.ClearSelected("p", mockbase.TrafficFilter{Session: "s1"})
		if err := j.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := "erased xch_0 xch_2 xch_4"
		if !persist {
			want = "erased"
		}
		if kept.told != want {
			t.Errorf("persist %t: the sink was told %q, want %q", persist, kept.told, want)
		}
		// A closed journal saves nothing more.
		j.ClearSelected("p", mockbase.TrafficFilter{Session: "s0"})
		if kept.told != want {
			t.Errorf("persist %t: after the end the sink was told %q", persist, kept.told)
		}
	}
}

// shelf is a sink that notes what it is told.
type shelf struct{ told string }

var _ journal.Sink = (*shelf)(nil)

func (s *shelf) AppendExchanges(_ context.Context, batch []*mockbase.Exchange) error {
	for _, x := range batch {
		s.told += " " + x.ID
	}
	return nil
}

func (*shelf) AmendExchanges(context.Context, []*mockbase.Exchange) error { return nil }

func (s *shelf) DeleteExchanges(context.Context, string) error {
	s.told = "erased"
	return nil
}
