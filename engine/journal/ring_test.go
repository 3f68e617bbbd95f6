package journal_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/journal"
)

func TestY8_the_journal_is_bounded(t *testing.T) {
	t.Parallel()
	size := sizeOf(t, exchange(shop, 0))
	for _, c := range []struct {
		name    string
		options journal.Options
		want    string
		evicted int64
	}{
		{"Y8 by count", journal.Options{Count: 3}, "9 8 7", 7},
		{"Y8 by one", journal.Options{Count: 1}, "9", 9},
		{"Y8 by bytes", journal.Options{Bytes: 4 * size}, "9 8 7 6", 6},
		{"Y8 by bytes, one less than four take", journal.Options{Bytes: 4*size - 1}, "9 8 7", 7},
		{"Y8 by age", journal.Options{Age: 2 * time.Second}, "9 8 7", 7},
		{"Y8 by whatever is reached first", journal.Options{Count: 5, Bytes: 4 * size, Age: time.Second}, "9 8", 8},
		{"Y8 by defaults", journal.Options{}, "9 8 7 6 5 4 3 2 1 0", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.options.Clock = at(9)
			j := journal.New(c.options)
			recordRange(j, shop, 0, 10)
			page := everything(j, shop)
			if got := paths(page); got != c.want || page.Evicted != c.evicted {
				t.Errorf("got %q, %d evicted; want %q, %d evicted", got, page.Evicted, c.want, c.evicted)
			}
			if s := j.Stats(); s.Evicted != c.evicted || s.Exchanges != len(page.Items) {
				t.Errorf("stats are %+v", s)
			}
		})
	}
}

// sizeOf is what the journal counts for an exchange.
func sizeOf(t *testing.T, x *mockbase.Exchange) int64 {
	t.Helper()
	j := journal.New(journal.Options{})
	j.Record(x)
	return j.Stats().Bytes
}

func TestY8_bytes_count_headers_bodies_and_what_the_structures_take(t *testing.T) {
	t.Parallel()
	plain := sizeOf(t, &mockbase.Exchange{ProjectID: shop})
	if plain < 500 {
		t.Errorf("an empty exchange counts as %d bytes, less than its structure takes", plain)
	}
	for _, c := range []struct {
		name string
		x    mockbase.Exchange
		more int64
	}{
		{"request body", mockbase.Exchange{Request: mockbase.RecordedRequest{Body: make([]byte, 1000)}}, 1000},
		{"response body", mockbase.Exchange{Response: mockbase.RecordedResponse{Body: make([]byte, 1000)}}, 1000},
		{"target", mockbase.Exchange{Request: mockbase.RecordedRequest{Target: strings.Repeat("x", 1000)}}, 1000},
		{"request header", mockbase.Exchange{Request: mockbase.RecordedRequest{Header: http.Header{"A": {strings.Repeat("x", 1000)}}}}, 1000},
		{"many headers", mockbase.Exchange{Response: mockbase.RecordedResponse{Header: http.Header{"A": make([]string, 1000)}}}, 16_000},
		{"error", mockbase.Exchange{Error: strings.Repeat("x", 1000)}, 1000},
		{"limits", mockbase.Exchange{Limits: []mockbase.LimitOutcome{{Key: strings.Repeat("x", 1000)}}}, 1000},
		{"hints", mockbase.Exchange{Hints: []string{strings.Repeat("x", 1000)}}, 1000},
		{"near misses", mockbase.Exchange{NearMisses: []mockbase.NearMiss{{
			Passed: []string{strings.Repeat("x", 500)},
			Failed: []mockbase.MissedPart{{Expected: strings.Repeat("x", 500)}},
		}}}, 1000},
	} {
		c.x.ProjectID = shop
		if got := sizeOf(t, &c.x) - plain; got < c.more || got > c.more+1000 {
			t.Errorf("%s: counts as %d bytes more, want about %d", c.name, got, c.more)
		}
	}
}

func TestY8_an_exchange_larger_than_all_bytes_is_dropped_and_evicts_nothing(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Bytes: 8 << 10, Clock: at(3)})
	recordRange(j, shop, 0, 2)
	large := exchange(shop, 2)
	large.Response.Body = make([]byte, 16<<10)
	j.Record(large)
	page := everything(j, shop)
	if got := paths(page); got != "1 0" || page.Dropped != 1 || page.Evicted != 0 {
		t.Errorf("got %q, %d dropped, %d evicted", got, page.Dropped, page.Evicted)
	}
}

func TestY8_bodies_over_the_cap_are_cut_with_a_flag(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{BodyCap: 4, Clock: at(3)})
	if j.BodyCap() != 4 {
		t.Errorf("the cap is %d", j.BodyCap())
	}
	long, short := exchange(shop, 1), exchange(shop, 2)
	long.Request.Body, long.Response.Body = []byte("12345678"), []byte("abcdefgh")
	short.Request.Body, short.Response.Body = []byte("1234"), []byte("abc")
	short.Response.Truncated = true
	j.Record(long)
	j.Record(short)
	for _, c := range []struct {
		x                 *mockbase.Exchange
		request, response string
		cutRequest        bool
	}{
		{long, "1234", "abcd", true},
		{short, "1234", "abc", false},
	} {
		x, _ := j.Exchange(shop, c.x.ID)
		if string(x.Request.Body) != c.request || x.Request.Truncated != c.cutRequest {
			t.Errorf("%s: request %q, truncated %v", x.ID, x.Request.Body, x.Request.Truncated)
		}
		if string(x.Response.Body) != c.response || !x.Response.Truncated {
			t.Errorf("%s: response %q, truncated %v", x.ID, x.Response.Body, x.Response.Truncated)
		}
		if cap(x.Request.Body) > 8 {
			t.Errorf("%s: the rest of the body is still held", x.ID)
		}
	}
}

func TestY8_exchanges_leave_when_they_grow_too_old_though_nothing_is_recorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := journal.New(journal.Options{})
		record := func(id string) {
			x := exchange(shop, 0)
			x.ID, x.At = id, time.Now()
			j.Record(x)
		}
		record("xch_a")
		<-time.After(23 * time.Hour)
		record("xch_b")
		<-time.After(time.Hour)
		if n := everything(j, shop).Total; n != 2 {
			t.Errorf("after exactly 24 h there are %d, want both", n)
		}
		<-time.After(time.Nanosecond)
		page := everything(j, shop)
		if page.Total != 1 || page.Items[0].ID != "xch_b" || page.Evicted != 1 {
			t.Errorf("after 24 h there are %d and %d evicted", page.Total, page.Evicted)
		}
		<-time.After(24 * time.Hour)
		if x, ok := j.Exchange(shop, journal.Latest); ok {
			t.Errorf("%s is still the latest after 47 h", x.ID)
		}
		if s := j.Stats(); s.Exchanges != 0 || s.Bytes != 0 || s.Evicted != 2 {
			t.Errorf("stats are %+v", s)
		}
	})
}

func TestY8_one_that_is_too_old_behind_a_younger_one_is_not_shown(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Age: 5 * time.Second, Clock: at(10)})
	j.Record(exchange(shop, 8))
	j.Record(exchange(shop, 4))
	if got := paths(everything(j, shop)); got != "8" {
		t.Errorf("got %q", got)
	}
}

// The ring must hold its order whatever mixture of growth, wrapping and eviction it went through.
func TestTheRingIsALimitedList(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 2, 15, 16, 17, 31, 33, 100} {
		j := journal.New(journal.Options{Count: count, Clock: at(0)})
		var model []string
		for n := range 250 {
			if n%97 == 96 {
				j.Clear(shop)
				model = nil
			}
			j.Record(exchange(shop, n))
			model = append([]string{strconv.Itoa(n)}, model...)
			model = model[:min(len(model), count)]
			if got, want := paths(everything(j, shop)), strings.Join(model, " "); got != want {
				t.Fatalf("count %d, after %d: got %q, want %q", count, n, got, want)
			}
		}
	}
}

func TestWritersReadersAndClearersMayMeet(t *testing.T) {
	t.Parallel()
	const writers, each = 4, 2000
	sink := &memorySink{}
	j := journal.New(journal.Options{Count: 500, Sink: sink, Saving: journal.Saving{Batch: 50, Interval: time.Millisecond}})
	var group sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				page := j.Traffic(shop, mockbase.TrafficFilter{Method: "GET"}, "", 50)
				if len(page.Items) > 50 || page.Total > 500 {
					t.Errorf("%d items, total %d", len(page.Items), page.Total)
				}
				j.Exchange(shop, journal.Latest)
				j.Exchange(shop, "xch_unknown")
				j.Stats()
				j.Clear(shop)
				j.Drop("prj_3")
			}
		})
	}
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for n := range each {
				x := exchange(shop, w*each+n)
				if n%10 == 0 {
					x.ProjectID = "prj_" + strconv.Itoa(w)
				}
				x.At = time.Now()
				j.Record(x)
			}
		})
	}
	writing.Wait()
	close(stop)
	group.Wait()
	if err := j.Close(t.Context()); err != nil {
		t.Error(err)
	}
	j.Clear(shop)
	if n := everything(j, shop).Total; n != 0 {
		t.Errorf("%d are left after the last clear", n)
	}
	if got := everything(j, "prj_0").Total; got != each/10 {
		t.Errorf("project prj_0 has %d, want %d", got, each/10)
	}
}
