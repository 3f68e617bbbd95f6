package journal_test

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/journal"
)

// fail returns a change that notes an error.
func fail(text string) func(*mockbase.Exchange) {
	return func(x *mockbase.Exchange) { x.Error = text }
}

func TestM63_an_amended_exchange_leaves_the_readers_what_they_have(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Clock: at(9)})
	recordRange(j, shop, 0, 3)
	page := everything(j, shop)
	old := page.Items[1]
	if !j.Amend(shop, old.ID, fail("late")) {
		t.Fatal("the exchange was not found")
	}
	now, ok := j.Exchange(shop, old.ID)
	if !ok || now.Error != "late" || old.Error != "" {
		t.Errorf("kept %+v, and the reader has %q", now, old.Error)
	}
	if again := everything(j, shop); again.Items[1] != now || again.Total != 3 {
		t.Errorf("the exchange lost its place: %v", again.Items)
	}
	if j.Amend(shop, "xch_none", fail("x")) || j.Amend("prj_none", old.ID, fail("x")) {
		t.Error("an exchange that is not kept was amended")
	}
}

func TestM63_what_an_exchange_grows_by_counts(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Clock: at(9), Bytes: 64 << 10})
	recordRange(j, shop, 0, 4)
	before := j.Stats().Bytes
	newest, _ := j.Exchange(shop, journal.Latest)
	j.Amend(shop, newest.ID, func(x *mockbase.Exchange) {
		x.Webhooks = []mockbase.RecordedWebhook{{Attempts: []mockbase.RecordedAttempt{{Body: make([]byte, 63<<10)}}}}
	})
	if after := j.Stats(); after.Exchanges == 4 || after.Evicted == 0 {
		t.Errorf("the journal holds %+v, it held %d bytes", after, before)
	}
	if x, ok := j.Exchange(shop, newest.ID); !ok || len(x.Webhooks) != 1 {
		t.Error("the exchange that grew is gone")
	}
}

func TestM63_amendments_at_the_same_time_all_count(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Clock: at(9)})
	recordRange(j, shop, 0, 1)
	x, _ := j.Exchange(shop, journal.Latest)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			j.Amend(shop, x.ID, func(x *mockbase.Exchange) { x.Hints = append(slices.Clip(x.Hints), strconv.Itoa(i)) })
		})
	}
	all.Wait()
	if x, _ = j.Exchange(shop, journal.Latest); len(x.Hints) != 50 {
		t.Errorf("%d amendments are kept, want 50", len(x.Hints))
	}
}

func TestM63_the_saved_form_follows(t *testing.T) {
	t.Parallel()
	saving(t, journal.Options{}, func(b *bed) {
		recordRange(b.journal, shop, 0, 1)
		queued, _ := b.journal.Exchange(shop, journal.Latest)
		b.journal.Amend(shop, queued.ID, fail("queued"))
		<-time.After(time.Second)
		b.sink.expect(b.t, "shop: 0")
		b.journal.Amend(shop, queued.ID, fail("first"))
		b.journal.Amend(shop, queued.ID, fail("second"))
		<-time.After(time.Second)
		synctest.Wait()
		b.sink.expect(b.t, "shop: 0", "amend shop: 0 second")
		b.journal.Amend(shop, queued.ID, fail("third"))
		b.journal.Clear(shop)
		synctest.Wait()
		b.sink.expect(b.t, "shop: 0", "amend shop: 0 second", "delete shop")
	})
}

func TestM63_an_amendment_that_cannot_be_saved_is_told(t *testing.T) {
	t.Parallel()
	saving(t, journal.Options{}, func(b *bed) {
		recordRange(b.journal, shop, 0, 1)
		<-time.After(time.Second)
		b.sink.setFail(errors.New("disk is full"))
		x, _ := b.journal.Exchange(shop, journal.Latest)
		b.journal.Amend(shop, x.ID, fail("late"))
		<-time.After(time.Second)
		b.sink.setFail(nil)
		synctest.Wait()
		if logged(b.log, "is not saved") != 1 {
			b.t.Errorf("logged %s", b.log)
		}
	})
}
