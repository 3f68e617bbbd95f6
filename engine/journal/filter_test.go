package journal_test

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/journal"
)

func TestM175_pages_follow_each_other_and_miss_nothing(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Count: 10, Clock: at(25)})
	recordRange(j, shop, 0, 25)
	var got []string
	before := ""
	for {
		page := j.Traffic(shop, mockbase.TrafficFilter{}, before, 4)
		if page.Total != 10 || page.Evicted != 15 {
			t.Errorf("total %d, evicted %d", page.Total, page.Evicted)
		}
		got = append(got, paths(page))
		if !page.More {
			break
		}
		before = page.Items[len(page.Items)-1].ID
	}
	if diff := cmp.Diff([]string{"24 23 22 21", "20 19 18 17", "16 15"}, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func TestM175_a_page_begins_where_an_exchange_was_that_has_left(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Count: 3, Clock: at(9)})
	recordRange(j, shop, 0, 9)
	for _, c := range []struct{ name, before, want string }{
		{"evicted", exchange(shop, 2).ID, ""},
		{"never there, newer than all", exchange(shop, 99).ID, "8 7 6"},
		{"kept", exchange(shop, 7).ID, "6"},
		{"the oldest", exchange(shop, 6).ID, ""},
	} {
		if got := paths(j.Traffic(shop, mockbase.TrafficFilter{}, c.before, 10)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestM175_a_limit_of_zero_only_counts(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Clock: at(3)})
	recordRange(j, shop, 0, 3)
	page := j.Traffic(shop, mockbase.TrafficFilter{}, "", 0)
	if len(page.Items) != 0 || page.Total != 3 || !page.More {
		t.Errorf("got %d items, total %d, more %v", len(page.Items), page.Total, page.More)
	}
}

func TestM175_filters_select(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Clock: at(6)})
	for n, change := range []func(x *mockbase.Exchange){
		func(*mockbase.Exchange) {},
		func(x *mockbase.Exchange) {
			x.Request.Method, x.Request.Body = http.MethodPost, []byte(`{"name":"Ada"}`)
			x.Response.Status = http.StatusCreated
			x.Mock = mockbase.MockRef{ID: "mck_2", Name: "create-user", Version: 3}
		},
		func(x *mockbase.Exchange) {
			x.AnsweredBy, x.Mock = mockbase.AnsweredByUnmatched, mockbase.MockRef{}
			x.Response.Status, x.Response.Body = http.StatusNotFound, []byte("no such user")
			x.Client.IP = netip.MustParseAddr("::ffff:10.0.0.9")
		},
		func(x *mockbase.Exchange) {
			x.AnsweredBy, x.Mock, x.Policy = mockbase.AnsweredByShield, mockbase.MockRef{}, "engine"
			x.Response.Status = http.StatusTooManyRequests
		},
		func(x *mockbase.Exchange) {
			x.AnsweredBy, x.Policy = mockbase.AnsweredBySimulatedLimit, "get-users-id"
			x.Response.Status = http.StatusTooManyRequests
		},
		func(x *mockbase.Exchange) {
			x.Duration, x.Request.Path, x.Request.Target = time.Second, "/orders/5", "/m/shop/orders/5?q=Ada"
			x.Session = mockbase.SessionRef{ID: "ses_1", Name: "ci"}
		},
	} {
		x := exchange(shop, n)
		change(x)
		j.Record(x)
	}
	for _, c := range []struct {
		name   string
		filter mockbase.TrafficFilter
		want   string
	}{
		{"nothing said", mockbase.TrafficFilter{}, "/orders/5 4 3 2 1 0"},
		{"since, inclusive", mockbase.TrafficFilter{Since: start.Add(4 * time.Second)}, "/orders/5 4"},
		{"until, exclusive", mockbase.TrafficFilter{Until: start.Add(2 * time.Second)}, "1 0"},
		{"method", mockbase.TrafficFilter{Method: "POST"}, "1"},
		{"method in small letters", mockbase.TrafficFilter{Method: "post"}, "1"},
		{"path", mockbase.TrafficFilter{PathPrefix: "/orders"}, "/orders/5"},
		{"one status", mockbase.TrafficFilter{StatusMin: 404, StatusMax: 404}, "2"},
		{"a class of status", mockbase.TrafficFilter{StatusMin: 400, StatusMax: 499}, "4 3 2"},
		{"AA5 answered by the shield", mockbase.TrafficFilter{AnsweredBy: []mockbase.AnsweredBy{mockbase.AnsweredByShield}}, "3"},
		{"M175 matched by nothing", mockbase.TrafficFilter{Matched: new(false)}, "2"},
		{"AA5 answered by one of two", mockbase.TrafficFilter{AnsweredBy: []mockbase.AnsweredBy{mockbase.AnsweredByUnmatched, mockbase.AnsweredBySimulatedLimit}}, "4 2"},
		{"mock by name", mockbase.TrafficFilter{Mock: "create-user"}, "1"},
		{"mock by id", mockbase.TrafficFilter{Mock: "mck_2"}, "1"},
		{"AA5 policy that decided", mockbase.TrafficFilter{Policy: "engine"}, "3"},
		{"client", mockbase.TrafficFilter{ClientIP: "10.0.0.9"}, "2"},
		{"client that is no address", mockbase.TrafficFilter{ClientIP: "example.test"}, ""},
		{"AA11 session by name", mockbase.TrafficFilter{Session: "ci"}, "/orders/5"},
		{"AA11 session by id", mockbase.TrafficFilter{Session: "ses_1"}, "/orders/5"},
		{"session without traffic", mockbase.TrafficFilter{Session: "ses_2"}, ""},
		{"duration", mockbase.TrafficFilter{MinDuration: time.Second}, "/orders/5"},
		{"text in the target or the request's body", mockbase.TrafficFilter{Text: "Ada"}, "/orders/5 1"},
		{"text in the answer's body", mockbase.TrafficFilter{Text: "no such"}, "2"},
		{"all must hold", mockbase.TrafficFilter{StatusMin: 429, StatusMax: 429, Policy: "get-users-id"}, "4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			page := j.Traffic(shop, c.filter, "", 100)
			if got := paths(page); got != c.want || page.Total != len(page.Items) {
				t.Errorf("got %q (total %d), want %q", got, page.Total, c.want)
			}
		})
	}
}
