package storetest

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

func exchangePromises() []promise {
	return []promise{
		{"Y8: exchanges come back whole, newest first, up to the limit", func(t *testing.T, s store.Store) {
			t.Helper()
			append3(t, s, "shop", "zoo")
			recent, err := s.RecentExchanges(t.Context(), "prj_shop", 2)
			ok(t, "read", err)
			same(t, "exchanges", recent, []*mockbase.Exchange{exchange("shop", 3), exchange("shop", 2)})
		}},
		{"an exchange with nothing but its id comes back", func(t *testing.T, s store.Store) {
			t.Helper()
			bare := &mockbase.Exchange{ID: "xch_bare", ProjectID: "prj_shop"}
			ok(t, "append", s.AppendExchanges(t.Context(), []*mockbase.Exchange{bare}))
			recent, err := s.RecentExchanges(t.Context(), "prj_shop", 2)
			ok(t, "read", err)
			same(t, "exchanges", recent, []*mockbase.Exchange{bare})
		}},
		{"an empty batch is nothing", func(t *testing.T, s store.Store) {
			t.Helper()
			ok(t, "append", s.AppendExchanges(t.Context(), nil))
			wantExchanges(t, s, "shop")
		}},
		{"M-63: an exchange is replaced by its newer form and keeps its place", amendsExchanges},
		{"deleting a project's exchanges leaves those of others", func(t *testing.T, s store.Store) {
			t.Helper()
			append3(t, s, "shop", "zoo")
			ok(t, "delete", s.DeleteExchanges(t.Context(), "prj_shop"))
			wantExchanges(t, s, "shop")
			wantExchanges(t, s, "zoo", 3, 2, 1)
		}},
		{"Y8: traffic is trimmed by count in each project", func(t *testing.T, s store.Store) {
			t.Helper()
			append3(t, s, "shop", "zoo")
			wantTrimmed(t, s, store.Retention{Count: 2}, 2)
			wantExchanges(t, s, "shop", 3, 2)
			wantExchanges(t, s, "zoo", 3, 2)
			wantTrimmed(t, s, store.Retention{Count: 2}, 0)
		}},
		{"Y8: traffic is trimmed by age", func(t *testing.T, s store.Store) {
			t.Helper()
			append3(t, s, "shop")
			wantTrimmed(t, s, store.Retention{Since: exchange("shop", 3).At}, 2)
			wantExchanges(t, s, "shop", 3)
		}},
		{"Y8: traffic is trimmed by bytes, the oldest first", func(t *testing.T, s store.Store) {
			t.Helper()
			append3(t, s, "shop")
			large := exchange("shop", 4)
			large.Response.Body = make([]byte, 100_000)
			ok(t, "append", s.AppendExchanges(t.Context(), []*mockbase.Exchange{large, exchange("shop", 5)}))
			wantTrimmed(t, s, store.Retention{Bytes: 90_000}, 4)
			wantExchanges(t, s, "shop", 5)
		}},
		{"a retention without bounds deletes nothing", func(t *testing.T, s store.Store) {
			t.Helper()
			append3(t, s, "shop")
			wantTrimmed(t, s, store.Retention{}, 0)
			// One project alone may have a closer retention.
			wantTrimmed(t, s, store.Retention{ProjectID: "prj_none", Count: 1, Since: noon().AddDate(1, 0, 0)}, 0)
			wantExchanges(t, s, "shop", 3, 2, 1)
		}},
	}
}

// exchange is an exchange with every member set.
func amendsExchanges(t *testing.T, s store.Store) {
	t.Helper()
	append3(t, s, "shop")
	amended, gone := exchange("shop", 2), exchange("shop", 9)
	amended.Webhooks[0].State, amended.Webhooks[0].Attempts = mockbase.WebhookFailed, append(amended.Webhooks[0].Attempts, mockbase.RecordedAttempt{
		Number: 2, At: noon(), Error: "refused",
	})
	ok(t, "amend", s.AmendExchanges(t.Context(), []*mockbase.Exchange{amended, gone}))
	recent, err := s.RecentExchanges(t.Context(), "prj_shop", 9)
	ok(t, "read", err)
	same(t, "exchanges", recent, []*mockbase.Exchange{exchange("shop", 3), amended, exchange("shop", 1)})
}

func exchange(slug string, n int) *mockbase.Exchange {
	return &mockbase.Exchange{
		ID: fmt.Sprintf("xch_%s_%d", slug, n), ProjectID: "prj_" + slug, At: noon().Add(time.Duration(n) * time.Minute),
		Request: mockbase.RecordedRequest{
			Method: http.MethodPost, Target: "/m/shop/a?b=<&>", Path: "/a", RawQuery: "b=<&>", Proto: "HTTP/1.1", Host: "localhost",
			Header: http.Header{"x-Case": {"1", "2"}}, Body: []byte{0, 0xff, '<'}, BodySize: 7, Truncated: true,
		},
		Response: mockbase.RecordedResponse{
			Name: "r1", Status: http.StatusTeapot, Header: http.Header{"Etag": {`"x"`}}, Body: []byte("tea"), BodySize: 3, Truncated: true,
		},
		SessionAt: noon().Add(time.Hour), Session: mockbase.SessionRef{ID: "ses_a", Name: "ci"}, Seed: "42", Call: 3, Forced: true,
		AnsweredBy: mockbase.AnsweredByUnmatched, Policy: "engine", Mock: mockbase.MockRef{ID: "mck_a", Name: "a", Version: 3},
		Limits: []mockbase.LimitOutcome{{
			Policy: "engine", Kind: "shield", Key: "192.0.2.1", Allowed: true, WouldLimit: true, Remaining: 119, RetryAfter: time.Second,
		}},
		Client:   mockbase.Client{IP: netip.MustParseAddr("2001:db8::1"), UserAgent: "curl/8"},
		Duration: time.Millisecond, DelayPlanned: 2 * time.Second, DelaySlept: 3 * time.Second, ClientAborted: true, Fault: "truncate", Warnings: []string{"a is missing"},
		NearMisses: []mockbase.NearMiss{{
			Mock: "a", Distance: 0.25, Passed: []string{"method"},
			Failed: []mockbase.MissedPart{{Part: "path", Name: "id", Operator: "equals", Expected: "/b", Actual: "/a"}},
		}},
		Messages: []mockbase.RecordedMessage{
			{At: noon(), Sent: true, Kind: "text", Data: []byte("hi")}, {At: noon(), Kind: "close", Code: 1000, Ignored: true},
		},
		MessagesDropped: 4,
		Webhooks: []mockbase.RecordedWebhook{{
			ID: "msg_1", Name: "paid", State: mockbase.WebhookDelivered, Method: http.MethodPost, URL: "http://a.test/", Error: "late",
			Attempts: []mockbase.RecordedAttempt{{Number: 1, At: noon(), Duration: time.Second, Status: 200, Body: []byte("ok"), Error: "cut"}},
		}},
		Hints: []string{"did you mean /b"}, Error: "broken pipe", Redacted: true, Via: mockbase.ViaManagement, Revision: 4,
		Moments: []mockbase.Moment{{Mock: "mck_1", State: "paid", Call: 3, Spent: true}, {Mock: "mck_2", Answered: true}},
	}
}

func append3(t *testing.T, s store.Store, projects ...string) {
	t.Helper()
	for _, slug := range projects {
		ok(t, "append", s.AppendExchanges(t.Context(), []*mockbase.Exchange{exchange(slug, 1), exchange(slug, 2)}))
		ok(t, "append", s.AppendExchanges(t.Context(), []*mockbase.Exchange{exchange(slug, 3)}))
	}
}

func wantTrimmed(t *testing.T, s store.Store, keep store.Retention, want int) {
	t.Helper()
	deleted, err := s.TrimExchanges(t.Context(), keep)
	ok(t, "trim", err)
	same(t, "number deleted", deleted, want)
}

func wantExchanges(t *testing.T, s store.Store, slug string, numbers ...int) {
	t.Helper()
	recent, err := s.RecentExchanges(t.Context(), "prj_"+slug, 100)
	ok(t, "read", err)
	var got, want []string
	for _, x := range recent {
		got = append(got, x.ID)
	}
	for _, n := range numbers {
		want = append(want, exchange(slug, n).ID)
	}
	same(t, "exchanges of "+slug, got, want)
}
