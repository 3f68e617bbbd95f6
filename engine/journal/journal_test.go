package journal_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/journal"
)

const shop = "prj_shop"

var start = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// exchange makes the n-th exchange of a project: a GET of /users/n, one second after the one before.
func exchange(projectID string, n int) *mockbase.Exchange {
	at := start.Add(time.Duration(n) * time.Second)
	return &mockbase.Exchange{
		ID:         fmt.Sprintf("xch_%026d", n),
		ProjectID:  projectID,
		At:         at,
		AnsweredBy: mockbase.AnsweredByMock,
		Mock:       mockbase.MockRef{ID: "mck_1", Name: "get-users-id", Version: 1},
		Client:     mockbase.Client{IP: netip.MustParseAddr("127.0.0.1"), UserAgent: "test"},
		Duration:   time.Millisecond,
		Request: mockbase.RecordedRequest{
			Method: http.MethodGet,
			Target: "/m/shop/users/" + strconv.Itoa(n),
			Path:   "/users/" + strconv.Itoa(n),
			Header: http.Header{"User-Agent": {"test"}, "Accept": {"*/*"}},
		},
		Response: mockbase.RecordedResponse{
			Status: http.StatusOK,
			Header: http.Header{"Content-Type": {"application/json"}},
			Body:   []byte(`{"id":` + strconv.Itoa(n) + `}`),
		},
	}
}

// at is a clock that stands still.
func at(n int) func() time.Time {
	return func() time.Time { return start.Add(time.Duration(n) * time.Second) }
}

func recordRange(j *journal.Journal, projectID string, from, to int) {
	for n := from; n < to; n++ {
		j.Record(exchange(projectID, n))
	}
}

// paths are the last parts of the paths of a page: what was recorded as n is "n".
func paths(page mockbase.TrafficPage) string {
	var all []string
	for _, x := range page.Items {
		all = append(all, strings.TrimPrefix(x.Request.Path, "/users/"))
	}
	return strings.Join(all, " ")
}

func everything(j *journal.Journal, projectID string) mockbase.TrafficPage {
	return j.Traffic(projectID, mockbase.TrafficFilter{}, "", 1<<30)
}

func TestY8_the_journal_is_newest_first(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Clock: at(3)})
	recordRange(j, shop, 0, 3)
	recordRange(j, "prj_other", 7, 8)
	page := everything(j, shop)
	if got := paths(page); got != "2 1 0" {
		t.Errorf("got %q", got)
	}
	if page.Total != 3 || page.More || page.Evicted != 0 || page.Dropped != 0 {
		t.Errorf("total %d more %v evicted %d dropped %d", page.Total, page.More, page.Evicted, page.Dropped)
	}
}

func TestM176_one_exchange_by_id_or_the_latest(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Count: 3, Clock: at(5)})
	if _, ok := j.Exchange(shop, journal.Latest); ok {
		t.Error("an empty journal has a latest exchange")
	}
	recordRange(j, shop, 0, 5)
	for _, c := range []struct {
		project, id string
		want        *mockbase.Exchange
	}{
		{shop, journal.Latest, exchange(shop, 4)},
		{shop, exchange(shop, 3).ID, exchange(shop, 3)},
		{shop, exchange(shop, 2).ID, exchange(shop, 2)},
		{shop, exchange(shop, 1).ID, nil},
		{shop, "xch_unknown", nil},
		{"prj_other", exchange(shop, 4).ID, nil},
	} {
		got, ok := j.Exchange(c.project, c.id)
		if ok != (c.want != nil) {
			t.Errorf("%s of %s: found %v", c.id, c.project, ok)
		}
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.id, diff)
		}
	}
}

func TestM179_clear_forgets_one_project_and_counts_anew(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Count: 3, Clock: at(9)})
	recordRange(j, shop, 0, 5)
	recordRange(j, "prj_other", 0, 2)
	if n := j.Clear(shop); n != 3 {
		t.Errorf("cleared %d, want 3", n)
	}
	if n := j.Clear("prj_unknown"); n != 0 {
		t.Errorf("cleared %d of an unknown project", n)
	}
	if page := everything(j, shop); page.Total != 0 || page.Evicted != 0 {
		t.Errorf("after clear there are %d, %d evicted", page.Total, page.Evicted)
	}
	if page := everything(j, "prj_other"); page.Total != 2 {
		t.Errorf("the other project has %d left", page.Total)
	}
	recordRange(j, shop, 5, 7)
	if got := paths(everything(j, shop)); got != "6 5" {
		t.Errorf("got %q", got)
	}
	if s := j.Stats(); s.Evicted != 2 {
		t.Errorf("the figures since the start forgot what was evicted: %+v", s)
	}
}

func TestDrop_forgets_a_project_also_for_requests_that_are_under_way(t *testing.T) {
	t.Parallel()
	now := start.Add(5 * time.Second)
	j := journal.New(journal.Options{Clock: func() time.Time { return now }})
	recordRange(j, shop, 0, 3)
	j.Drop(shop)
	j.Record(exchange(shop, 4))
	if s := j.Stats(); s.Projects != 0 || s.Exchanges != 0 || s.Bytes != 0 {
		t.Errorf("a request that began before the end brought the project back: %+v", s)
	}
	j.Record(exchange(shop, 6))
	if got := paths(everything(j, shop)); got != "6" {
		t.Errorf("a project made anew with the same id holds %q", got)
	}
	now = now.Add(2 * time.Hour)
	j.Drop("prj_other")
	j.Drop(shop)
}

func TestAnExchangeWithoutAProjectIsNotKept(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{})
	j.Record(exchange("", 0))
	if s := j.Stats(); s != (journal.Stats{}) {
		t.Errorf("stats are %+v", s)
	}
}

func TestRestore_puts_saved_exchanges_before_those_recorded_since(t *testing.T) {
	t.Parallel()
	newestFirst := func(from, to int) []*mockbase.Exchange {
		var all []*mockbase.Exchange
		for n := to - 1; n >= from; n-- {
			all = append(all, exchange(shop, n))
		}
		return all
	}
	for _, c := range []struct {
		name    string
		options journal.Options
		since   int
		want    string
	}{
		{"into an empty journal", journal.Options{}, 0, "4 3 2 1 0"},
		{"before what is there", journal.Options{}, 2, "11 10 4 3 2 1 0"},
		{"as far as the count allows", journal.Options{Count: 4}, 2, "11 10 4 3"},
		{"nothing into a full one", journal.Options{Count: 2}, 5, "14 13"},
		{"not what is too old", journal.Options{Age: 17 * time.Second}, 1, "10 4 3"},
		{"as far as the bytes allow", journal.Options{Bytes: 3 * sizeOf(t, exchange(shop, 10))}, 1, "10 4 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.options.Clock = at(20)
			j := journal.New(c.options)
			recordRange(j, shop, 10, 10+c.since)
			before := j.Stats().Evicted
			j.Restore(shop, newestFirst(0, 5))
			page := everything(j, shop)
			if got := paths(page); got != c.want || page.Evicted != before {
				t.Errorf("got %q, %d evicted; want %q", got, page.Evicted, c.want)
			}
			if s := j.Stats(); s.Exchanges != page.Total || (s.Bytes > 0) != (page.Total > 0) {
				t.Errorf("stats are %+v", s)
			}
			j.Record(exchange(shop, 20))
			if got := paths(everything(j, shop)); !strings.HasPrefix(got, "20") {
				t.Errorf("after one more: %q", got)
			}
		})
	}
	j := journal.New(journal.Options{})
	j.Restore(shop, nil)
	if s := j.Stats(); s.Projects != 0 {
		t.Errorf("restoring nothing made a project: %+v", s)
	}
}

func TestAReaderKeepsWhatItReadWhateverHappensAfter(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Count: 4, Clock: at(9)})
	recordRange(j, shop, 0, 4)
	page := everything(j, shop)
	recordRange(j, shop, 4, 8)
	j.Clear(shop)
	if got := paths(page); got != "3 2 1 0" {
		t.Errorf("got %q", got)
	}
	if !bytes.Equal(page.Items[0].Response.Body, []byte(`{"id":3}`)) {
		t.Errorf("its body is %q", page.Items[0].Response.Body)
	}
}
