package journal_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/journal"
)

func named(j *journal.Journal, from, to int) {
	for i := from; i < to; i++ {
		j.Record(&mockbase.Exchange{
			ID: fmt.Sprintf("xch_%d", i), ProjectID: "shop", At: start, AnsweredBy: mockbase.AnsweredByMock,
			Request: mockbase.RecordedRequest{Method: []string{http.MethodGet, http.MethodPost}[i%2]},
		})
	}
}

func idsOf(list []*mockbase.Exchange) []string {
	ids := []string{}
	for _, x := range list {
		ids = append(ids, x.ID)
	}
	return ids
}

func TestM70_news_follow_a_place_and_what_was_missed_is_counted(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Count: 5, Clock: at(0)})
	if place, ok := j.Position("shop", ""); place != 0 || !ok {
		t.Errorf("an empty journal is at %d, %t", place, ok)
	}
	named(j, 0, 3)
	news := j.News("shop", 0, mockbase.TrafficFilter{}, 2)
	if diff := cmp.Diff([]string{"xch_0", "xch_1"}, idsOf(news.Items)); diff != "" || news.Place != 2 || news.Lost != 0 {
		t.Errorf("news %+v: %s", news, diff)
	}
	at, ok := j.Position("shop", "xch_1")
	if at != news.Place || !ok {
		t.Errorf("place %d, %t", at, ok)
	}
	named(j, 3, 10)
	news = j.News("shop", at, mockbase.TrafficFilter{Method: http.MethodPost}, 500)
	if diff := cmp.Diff([]string{"xch_5", "xch_7", "xch_9"}, idsOf(news.Items)); diff != "" || news.Place != 10 || news.Lost != 3 {
		t.Errorf("news %+v: %s", news, diff)
	}
	if again := j.News("shop", news.Place, mockbase.TrafficFilter{}, 500); len(again.Items) != 0 || again.Lost != 0 || again.Place != 10 {
		t.Errorf("no news %+v", again)
	}
	if _, ok := j.Position("shop", "xch_1"); ok {
		t.Error("what is gone has a place")
	}
	if news := j.News("none", 7, mockbase.TrafficFilter{}, 1); news.Place != 7 || news.Items != nil {
		t.Errorf("news of nothing %+v", news)
	}
}

func TestM179_what_a_filter_selects_is_removed(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Count: 5, Clock: at(0)})
	named(j, 0, 7)
	if n := j.ClearSelected("shop", mockbase.TrafficFilter{Method: http.MethodPost}); n != 2 {
		t.Errorf("%d removed", n)
	}
	page := j.Traffic("shop", mockbase.TrafficFilter{}, "", 10)
	if diff := cmp.Diff([]string{"xch_6", "xch_4", "xch_2"}, idsOf(page.Items)); diff != "" || page.Evicted != 2 {
		t.Errorf("left %+v: %s", page, diff)
	}
	named(j, 7, 9)
	news := j.News("shop", 3, mockbase.TrafficFilter{}, 10)
	if diff := cmp.Diff([]string{"xch_4", "xch_6", "xch_7", "xch_8"}, idsOf(news.Items)); diff != "" || news.Place != 9 || news.Lost != 0 {
		t.Errorf("news %+v: %s", news, diff)
	}
	if n := j.ClearSelected("none", mockbase.TrafficFilter{}); n != 0 {
		t.Errorf("%d removed of nothing", n)
	}
}
