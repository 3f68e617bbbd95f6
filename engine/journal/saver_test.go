package journal_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/journal"
)

// memorySink is a sink that can be told to fail or to hang.
type memorySink struct {
	mu    sync.Mutex
	calls []string
	fail  error
	hang  chan struct{}
}

var _ journal.Sink = (*memorySink)(nil)

func (s *memorySink) AppendExchanges(ctx context.Context, batch []*mockbase.Exchange) error {
	var text strings.Builder
	text.WriteString(strings.TrimPrefix(batch[0].ProjectID, "prj_") + ":")
	for _, x := range batch {
		text.WriteString(" " + strings.TrimPrefix(x.Request.Path, "/users/"))
	}
	return s.call(ctx, text.String())
}

func (s *memorySink) AmendExchanges(ctx context.Context, batch []*mockbase.Exchange) error {
	text := []string{"amend " + strings.TrimPrefix(batch[0].ProjectID, "prj_") + ":"}
	for _, x := range batch {
		text = append(text, strings.TrimPrefix(x.Request.Path, "/users/"), x.Error)
	}
	return s.call(ctx, strings.Join(text, " "))
}

func (s *memorySink) DeleteExchanges(ctx context.Context, projectID string) error {
	return s.call(ctx, "delete "+strings.TrimPrefix(projectID, "prj_"))
}

func (s *memorySink) call(ctx context.Context, what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hang != nil {
		select {
		case <-s.hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if s.fail != nil {
		return s.fail
	}
	s.calls = append(s.calls, what)
	return nil
}

func (s *memorySink) setFail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func (s *memorySink) expect(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(want, s.calls); diff != "" {
		t.Errorf("the sink's calls (-want +got):\n%s", diff)
	}
}

// bed is what a test of saving works with.
type bed struct {
	t       *testing.T
	journal *journal.Journal
	sink    *memorySink
	log     *bytes.Buffer
}

// saving runs a test in a bubble with a journal that saves three at a time, or after 100 ms.
func saving(t *testing.T, o journal.Options, test func(b *bed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bed{t: t, sink: &memorySink{}, log: &bytes.Buffer{}}
		o.Sink, o.Logger, o.Clock = b.sink, slog.New(slog.NewTextHandler(b.log, nil)), at(9)
		if o.Saving == (journal.Saving{}) {
			o.Saving = journal.Saving{Batch: 3, Interval: 100 * time.Millisecond, Timeout: time.Second, Queue: 5}
		}
		b.journal = journal.New(o)
		test(b)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := b.journal.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

func logged(log *bytes.Buffer, message string) int {
	return strings.Count(log.String(), message)
}

func TestSaving_by_size_and_by_time(t *testing.T) {
	t.Parallel()
	saving(t, journal.Options{}, func(b *bed) {
		recordRange(b.journal, shop, 0, 3)
		synctest.Wait()
		b.sink.expect(b.t, "shop: 0 1 2")
		recordRange(b.journal, shop, 3, 5)
		<-time.After(99 * time.Millisecond)
		b.sink.expect(b.t, "shop: 0 1 2")
		if n := b.journal.Stats().Queued; n != 2 {
			b.t.Errorf("%d are queued, want 2", n)
		}
		<-time.After(2 * time.Millisecond)
		b.sink.expect(b.t, "shop: 0 1 2", "shop: 3 4")
	})
}

func TestSaving_one_batch_holds_one_project(t *testing.T) {
	t.Parallel()
	saving(t, journal.Options{}, func(b *bed) {
		recordRange(b.journal, shop, 0, 1)
		recordRange(b.journal, "prj_bank", 1, 2)
		recordRange(b.journal, shop, 2, 3)
		synctest.Wait()
		b.sink.expect(b.t, "bank: 1", "shop: 0 2")
	})
}

func TestM61_only_projects_that_ask_for_it_are_saved(t *testing.T) {
	t.Parallel()
	o := journal.Options{Persist: func(projectID string) bool { return projectID == shop }}
	saving(t, o, func(b *bed) {
		recordRange(b.journal, shop, 0, 1)
		recordRange(b.journal, "prj_bank", 1, 9)
		<-time.After(time.Second)
		b.sink.expect(b.t, "shop: 0")
		if page := everything(b.journal, "prj_bank"); page.Total != 8 || page.Dropped != 0 {
			b.t.Errorf("the other project holds %d, %d dropped", page.Total, page.Dropped)
		}
	})
}

func TestSaving_a_hanging_sink_costs_saved_exchanges_and_no_time(t *testing.T) {
	t.Parallel()
	saving(t, journal.Options{}, func(b *bed) {
		b.sink.hang = make(chan struct{})
		recordRange(b.journal, shop, 0, 3)
		synctest.Wait()
		began := time.Now()
		recordRange(b.journal, shop, 3, 12)
		if took := time.Since(began); took != 0 {
			b.t.Errorf("recording waited %v for the sink", took)
		}
		page := everything(b.journal, shop)
		if page.Total != 12 || page.Dropped != 4 {
			b.t.Errorf("%d in memory, %d dropped; want 12 and the 4 that the queue had no room for", page.Total, page.Dropped)
		}
		<-time.After(10 * time.Second)
		if n := logged(b.log, "recorded traffic is not saved"); n != 1 {
			b.t.Errorf("logged %d times:\n%s", n, b.log)
		}
		if d := everything(b.journal, shop).Dropped; d != 12 {
			b.t.Errorf("%d dropped, want all 12", d)
		}
		if d := b.journal.Stats().Dropped; d != 12 {
			b.t.Errorf("the figures say %d dropped", d)
		}
		close(b.sink.hang)
		recordRange(b.journal, shop, 12, 15)
		synctest.Wait()
		b.sink.expect(b.t, "shop: 12 13 14")
		if n := logged(b.log, "recorded traffic is saved again"); n != 1 {
			b.t.Errorf("logged %d times:\n%s", n, b.log)
		}
	})
}

func TestSaving_a_failing_sink_is_logged_on_change(t *testing.T) {
	t.Parallel()
	saving(t, journal.Options{}, func(b *bed) {
		b.sink.setFail(errors.New("disk is full"))
		for n := range 30 {
			recordRange(b.journal, shop, n, n+1)
			synctest.Wait()
		}
		<-time.After(time.Second)
		if n := logged(b.log, "level=WARN"); n != 1 || !strings.Contains(b.log.String(), "append exchanges of prj_shop: disk is full") {
			b.t.Errorf("logged %d times:\n%s", n, b.log)
		}
		if d := everything(b.journal, shop).Dropped; d != 30 {
			b.t.Errorf("%d dropped, want 30", d)
		}
		b.sink.setFail(nil)
		for n := range 30 {
			recordRange(b.journal, shop, n, n+1)
			synctest.Wait()
		}
		if n := logged(b.log, "level=INFO"); n != 1 {
			b.t.Errorf("logged %d times:\n%s", n, b.log)
		}
	})
}

func TestSaving_the_queue_is_bounded_by_bytes(t *testing.T) {
	t.Parallel()
	o := journal.Options{
		Bytes:  2 * sizeOf(t, exchange(shop, 0)),
		Saving: journal.Saving{Queue: 100, Batch: 100, Interval: time.Second},
	}
	saving(t, o, func(b *bed) {
		recordRange(b.journal, shop, 0, 5)
		page := everything(b.journal, shop)
		if page.Total != 2 || page.Dropped != 3 || page.Evicted != 3 {
			b.t.Errorf("total %d, dropped %d, evicted %d", page.Total, page.Dropped, page.Evicted)
		}
		<-time.After(2 * time.Second)
		b.sink.expect(b.t, "shop: 0 1")
	})
}

func TestM179_clear_deletes_what_was_saved_and_what_waits(t *testing.T) {
	t.Parallel()
	saving(t, journal.Options{}, func(b *bed) {
		recordRange(b.journal, shop, 0, 3)
		synctest.Wait()
		recordRange(b.journal, shop, 3, 4)
		recordRange(b.journal, "prj_bank", 4, 5)
		b.journal.Clear(shop)
		recordRange(b.journal, shop, 5, 6)
		<-time.After(time.Second)
		b.sink.expect(b.t, "shop: 0 1 2", "delete shop", "bank: 4", "shop: 5")
		b.journal.Drop("prj_bank")
		synctest.Wait()
		b.sink.expect(b.t, "shop: 0 1 2", "delete shop", "bank: 4", "shop: 5", "delete bank")
	})
}

func TestM179_a_deletion_that_fails_is_repeated_before_anything_newer_is_saved(t *testing.T) {
	t.Parallel()
	saving(t, journal.Options{}, func(b *bed) {
		b.sink.setFail(errors.New("database is locked"))
		b.journal.Clear(shop)
		synctest.Wait()
		recordRange(b.journal, shop, 0, 1)
		<-time.After(time.Second)
		if !strings.Contains(b.log.String(), "delete exchanges of prj_shop: database is locked") {
			b.t.Errorf("logged:\n%s", b.log)
		}
		b.sink.setFail(nil)
		recordRange(b.journal, shop, 1, 2)
		<-time.After(time.Second)
		b.sink.expect(b.t, "delete shop", "shop: 1")
		if d := everything(b.journal, shop).Dropped; d != 1 {
			b.t.Errorf("%d dropped, want the one that was not saved", d)
		}
	})
}

func TestClose_saves_what_waits(t *testing.T) {
	t.Parallel()
	saving(t, journal.Options{}, func(b *bed) {
		recordRange(b.journal, shop, 0, 2)
		for range 2 {
			if err := b.journal.Close(b.t.Context()); err != nil {
				b.t.Error(err)
			}
		}
		b.sink.expect(b.t, "shop: 0 1")
		recordRange(b.journal, shop, 2, 3)
		if page := everything(b.journal, shop); page.Total != 3 || page.Dropped != 1 {
			b.t.Errorf("after the end: total %d, dropped %d", page.Total, page.Dropped)
		}
	})
}

func TestClose_ends_at_its_deadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &memorySink{hang: make(chan struct{})}
		j := journal.New(journal.Options{Sink: sink, Clock: at(9)})
		recordRange(j, shop, 0, 4)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		err := j.Close(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 50*time.Millisecond {
			t.Errorf("ended after %v with %v", time.Since(began), err)
		}
		synctest.Wait()
		if d := everything(j, shop).Dropped; d != 4 {
			t.Errorf("%d dropped, want 4", d)
		}
		if err := j.Close(t.Context()); err != nil {
			t.Errorf("closing again: %v", err)
		}
	})
}

func TestClose_of_a_journal_in_memory_does_nothing(t *testing.T) {
	t.Parallel()
	if err := journal.New(journal.Options{}).Close(t.Context()); err != nil {
		t.Error(err)
	}
}
