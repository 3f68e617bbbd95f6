package verdict_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/management/verdict"
)

var zero = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is a moment in seconds after the beginning.
func at(seconds float64) time.Time {
	return zero.Add(time.Duration(math.Round(seconds*1e6)) * time.Microsecond)
}

// timeline makes exchanges of one mock from words like "a@1.5:429/2": client, seconds, status and the seconds of Retry-After.
// With "~2" behind the time the exchange takes two seconds, with "+3600" the session's clock is ahead, "P" before the status
// makes it a POST, and "M" a rejection by the mock itself.
func timeline(t *testing.T, text string) []*mockbase.Exchange {
	t.Helper()
	var all []*mockbase.Exchange
	for i, word := range strings.Fields(text) {
		client, rest, _ := strings.Cut(word, "@")
		when, status, _ := strings.Cut(rest, ":")
		status, demand, demanded := strings.Cut(status, "/")
		when, ahead, _ := strings.Cut(when, "+")
		when, took, _ := strings.Cut(when, "~")
		x := &mockbase.Exchange{
			ID: fmt.Sprintf("x%d", i), AnsweredBy: mockbase.AnsweredByMock, Mock: mockbase.MockRef{ID: "mck_1", Name: "api"}, ClientKey: client,
			At: at(seconds(t, when)), Duration: at(seconds(t, took)).Sub(zero), Session: mockbase.SessionRef{ID: "ses_1", Name: "default"},
		}
		x.SessionAt = x.At.Add(at(seconds(t, ahead)).Sub(zero))
		x.Request.Method = http.MethodGet
		if strings.Contains(status, "P") {
			x.Request.Method = http.MethodPost
		}
		x.Response.Status, _ = strconv.Atoi(strings.Trim(status, "PM"))
		if x.Response.Status == http.StatusTooManyRequests && !strings.Contains(status, "M") {
			x.AnsweredBy = mockbase.AnsweredBySimulatedLimit
		}
		x.Limits = []mockbase.LimitOutcome{{Policy: "api", Kind: "simulated", Key: client}}
		if demanded {
			x.Response.Header = http.Header{"Retry-After": {demand}}
		}
		all = append(all, x)
	}
	return all
}

func seconds(t *testing.T, text string) float64 {
	t.Helper()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// terms are thresholds as a mock states them.
func terms(t *testing.T, text string) verdict.Terms {
	t.Helper()
	stated, err := mockbase.DecodeBackoff(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return verdict.TermsOf(stated)
}

func judge(t *testing.T, stated, text string) *verdict.Backoff {
	t.Helper()
	own := terms(t, stated)
	return verdict.JudgeBackoff(&verdict.BackoffQuestion{Terms: func(mockbase.MockRef) *verdict.Terms { return &own }}, timeline(t, text), true)
}

// finding is that of the first client, or of the mock.
func finding(b *verdict.Backoff, id string) verdict.Finding {
	var all []verdict.Finding
	if len(b.Clients) > 0 {
		all = append(all, b.Clients[0].Checks...)
	}
	for _, f := range append(all, b.Checks...) {
		if f.ID == id {
			return f
		}
	}
	return verdict.Finding{}
}

func TestBackoffIsJudgedByItsFigures(t *testing.T) {
	t.Parallel()
	const waits = "a@0:503 a@%s:503 a@%s:503 a@%s:200"
	ten := func(back string) string {
		var words []string
		for i := range 10 {
			words = append(words, fmt.Sprintf("k%d@0.0%d:429/2", i, i))
		}
		for i, when := range strings.Fields(back) {
			words = append(words, fmt.Sprintf("k%d@%s:200", i, when))
		}
		return strings.Join(words, " ")
	}
	for name, c := range map[string]struct {
		stated, timeline string
		id               string
		actual           float64
		want             verdict.Outcome
		proof            string
	}{
		"AA33 a wait is measured":                        {`{}`, "a@0:429/2 a@2:200", "early", 0, verdict.Pass, ""},
		"AA34 within the tolerance":                      {`{}`, "a@0:429/2 a@1.96:200", "early", 0, verdict.Pass, ""},
		"AA34 before the tolerance":                      {`{}`, "a@0:429/2 a@1.9:200", "early", 1, verdict.Fail, "x1"},
		"AA34 a tolerance of its own":                    {`{"tolerance":"200ms"}`, "a@0:429/2 a@1.9:200", "early", 0, verdict.Pass, ""},
		"AA34 some may be early":                         {`{"maxEarly":1}`, "a@0:429/2 a@1:429/1 a@1.5:429/1 a@3:200", "early", 2, verdict.Fail, "x1 x2"},
		"AA34 nothing is demanded":                       {`{}`, "a@0:503 a@0.1:200", "early", 0, verdict.Pass, ""},
		"AA34 no time is demanded":                       {`{}`, "a@0:503/0 a@0:200", "early", 0, verdict.Pass, ""},
		"AA34 an answer that takes its time":             {`{}`, "a@0~1:429/2 a@2.5:200", "early", 1, verdict.Fail, "x1"},
		"AA33 a clock that was advanced":                 {`{}`, "a@0:429/60 a@0.1+60:200", "early", 0, verdict.Pass, ""},
		"AA35 doubled waits":                             {`{"minGrowth":1.5}`, fmt.Sprintf(waits, "1", "3", "7"), "growth", 2, verdict.Pass, ""},
		"AA35 equal waits":                               {`{"minGrowth":1.5}`, fmt.Sprintf(waits, "1", "2", "3"), "growth", 1, verdict.Fail, "x2 x3"},
		"AA35 no wait at all counts as a millisecond":    {`{"minGrowth":1.5}`, "a@0:503 a@0:503 a@0.001:200", "growth", 1, verdict.Fail, "x2"},
		"AA36 equal waits":                               {`{"minJitter":0.1}`, "a@0:503 a@1:200 b@5:503 b@6:200 a@9:503 a@10:200", "jitter", 0, verdict.Fail, "x1 x5 x3"},
		"AA36 spread waits":                              {`{"minJitter":0.4}`, "a@0:503 a@0.8:200 b@5:503 b@6:200 c@9:503 c@10.3:200", "jitter", 0.484, verdict.Pass, ""},
		"AA36 what is demanded is no jitter":             {`{"minJitter":0.1}`, "a@0:429/1 a@1:200 b@5:429/3 b@8:200 c@9:429/5 c@14:200", "jitter", 0, verdict.Fail, "x1 x3 x5"},
		"AA37 six and silence":                           {`{"maxAttempts":6}`, "a@0:503 a@1:503 a@2:503 a@3:503 a@4:503 a@5:503", "attempts", 6, verdict.Pass, ""},
		"AA37 seven":                                     {`{"maxAttempts":6}`, "a@0:503 a@1:503 a@2:503 a@3:503 a@4:503 a@5:503 a@6:503", "attempts", 7, verdict.Fail, "x6"},
		"AA37 silence ends an episode":                   {`{"maxAttempts":2}`, "a@0:503 a@1:503 a@31.1:503 a@32:200", "attempts", 2, verdict.Pass, ""},
		"AA33 twice the demand is no silence":            {`{"maxAttempts":2}`, "a@0:503/60 a@90:503/60 a@170:200", "attempts", 3, verdict.Fail, "x2"},
		"AA33 what was under way is not judged":          {`{"maxAttempts":2}`, "a@0~1:429/2 a@0.5~0.6:429/2 a@3:200", "attempts", 2, verdict.Pass, ""},
		"AA38 eight of ten at once":                      {`{"maxHerd":0.5}`, ten("2 2.01 2.02 2.03 2.04 2.05 2.06 2.08 2.5 3"), "herd", 0.8, verdict.Fail, "x10 x11 x12 x13 x14 x15 x16 x17"},
		"AA38 one after the other":                       {`{"maxHerd":0.3}`, ten("2 2.2 2.4 2.6 2.8 3 3.2 3.4 3.6 3.8"), "herd", 0, verdict.Pass, ""},
		"AA38 a POST that a mock refused":                {`{"maxUnsafe":0}`, "a@0:P503 a@1:P200", "unsafe", 1, verdict.Fail, "x1"},
		"AA38 a POST that a limit refused":               {`{"maxUnsafe":0}`, "a@0:P429 a@1:P200", "unsafe", 0, verdict.Pass, ""},
		"AA38 a GET that a mock refused":                 {`{"maxUnsafe":0}`, "a@0:M429 a@1:200", "unsafe", 0, verdict.Pass, ""},
		"AA33 a clock that went back begins a new story": {`{}`, "a@0+3600:429/60 a@1:429/60 a@61:200", "early", 0, verdict.Pass, ""},
	} {
		got := judge(t, c.stated, c.timeline)
		f := finding(got, c.id)
		if got.Verdict != c.want || f.Actual == nil || math.Abs(*f.Actual-c.actual) > 0.001 || strings.Join(f.Exchanges, " ") != c.proof {
			t.Errorf("%s: %s, want %s, %v proved by %q: %+v", name, got.Verdict, c.want, c.actual, c.proof, f)
		}
	}
}

func TestAA34_a_date_demands_too(t *testing.T) {
	t.Parallel()
	all := timeline(t, "a@0:429 a@1:200")
	all[0].Response.Header = http.Header{"retry-after": {at(3).Format(http.TimeFormat)}}
	own := terms(t, `{}`)
	got := verdict.JudgeBackoff(&verdict.BackoffQuestion{Terms: func(mockbase.MockRef) *verdict.Terms { return &own }}, all, true)
	if f := finding(got, "early"); *f.Actual != 1 || math.Abs(*f.Shortest-1.0/3) > 0.001 {
		t.Errorf("early %+v", f)
	}
	all[0].Response.Header = http.Header{"Retry-After": {"soon"}}
	got = verdict.JudgeBackoff(&verdict.BackoffQuestion{Terms: func(mockbase.MockRef) *verdict.Terms { return &own }}, all, true)
	if f := finding(got, "early"); *f.Actual != 0 || f.Shortest != nil {
		t.Errorf("a text that is no time: %+v", f)
	}
}

func TestAA39_what_was_not_seen_is_inconclusive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ stated, timeline, detail string }{
		"no traffic":             {`{}`, "", "no client was refused"},
		"nobody was refused":     {`{}`, "a@0:200", "no client was refused"},
		"too few":                {`{"minRejections":3}`, "a@0:429/1 a@0.1:200", "api: 1 rejection, at least 3 expected"},
		"no two waits":           {`{"minGrowth":1.5}`, "a@0:503 a@1:200", "api: growth needs an episode with two waits after answers without Retry-After"},
		"all waits are demanded": {`{"minGrowth":1.5}`, "a@0:503/1 a@1:503/1 a@3:200", "api: growth needs an episode with two waits after answers without Retry-After"},
		"no three episodes":      {`{"minJitter":0.1}`, "a@0:503 a@1:200", "api: jitter needs three waits of the same retry number"},
		"no five clients":        {`{"maxHerd":0.5}`, "a@0:503 a@1:200", "api: herd needs five clients that were refused"},
	} {
		if got := judge(t, c.stated, c.timeline); got.Verdict != verdict.Inconclusive || got.Detail != c.detail {
			t.Errorf("%s: %s, %s", name, got.Verdict, got.Detail)
		}
	}
	own := terms(t, `{}`)
	q := &verdict.BackoffQuestion{Terms: func(mockbase.MockRef) *verdict.Terms { return &own }}
	for _, text := range []string{"a@0:429/1 a@2:200", "a@0:429/1 a@0.1:200"} {
		if got := verdict.JudgeBackoff(q, timeline(t, text), false); got.Verdict != verdict.Inconclusive || got.Complete {
			t.Errorf("with exchanges missing: %s", got.Verdict)
		}
	}
	q.Mocks = []mockbase.MockRef{{ID: "mck_9", Name: "quiet"}}
	if got := verdict.JudgeBackoff(q, timeline(t, "a@0:429/1 a@2:200"), true); got.Verdict != verdict.Inconclusive || !strings.HasPrefix(got.Detail, "quiet: 0 rejections") {
		t.Errorf("of a mock that refused nobody: %s, %s", got.Verdict, got.Detail)
	}
	own.MinRejections = 0
	if got := verdict.JudgeBackoff(q, nil, true); got.Verdict != verdict.Pass {
		t.Errorf("where none are needed: %s, %s", got.Verdict, got.Detail)
	}
}

func TestAA32_clients_are_told_apart(t *testing.T) {
	t.Parallel()
	all := timeline(t, "a@0:429/5 b@0.1:429/5 a@5:200 b@6:200 @7:429/1")
	all[4].Client.IP = netip.MustParseAddr("192.0.2.7")
	own := terms(t, `{}`)
	q := &verdict.BackoffQuestion{Terms: func(mockbase.MockRef) *verdict.Terms { return &own }}
	keys := func(b *verdict.Backoff) string {
		var list []string
		for _, c := range b.Clients {
			list = append(list, c.Key)
		}
		return strings.Join(list, " ")
	}
	if got := verdict.JudgeBackoff(q, all, true); keys(got) != "a b 192.0.2.7" || got.Verdict != verdict.Pass {
		t.Errorf("by the limit's key: %s, %s", keys(got), got.Verdict)
	}
	own.Key = func(*mockbase.Exchange) (string, bool) { return "all", true }
	if got := verdict.JudgeBackoff(q, all, true); keys(got) != "all" || got.Verdict != verdict.Fail {
		t.Errorf("by a key of our own: %s, %s", keys(got), got.Verdict)
	}
	own.Key = func(*mockbase.Exchange) (string, bool) { return "", false }
	if got := verdict.JudgeBackoff(q, all, true); got.Verdict != verdict.Inconclusive || !strings.Contains(got.Detail, "masked") {
		t.Errorf("by a key that was masked: %s, %s", got.Verdict, got.Detail)
	}
	own.Key, q.Policy = nil, "other"
	all[0].Limits[0].Policy = "other"
	all[2].Limits[0].Policy = "other"
	if got := verdict.JudgeBackoff(q, all, true); keys(got) != "a" {
		t.Errorf("of one policy: %s", keys(got))
	}
	q.Policy = ""
	all[2].Session.ID = "ses_2"
	if got := verdict.JudgeBackoff(q, all, true); !got.Clients[0].GaveUp {
		t.Error("a request of another session ended the episode")
	}
}

func TestM73_a_verdict_has_its_shape(t *testing.T) {
	t.Parallel()
	got := judge(t, `{"maxAttempts":3,"minGrowth":1.2}`, "a@0:200 a@0.1~0.2:429/1 a@0.15:429/1 a@0.8:429/1 a@2:503 a@3:503 a@5:503 a@60:200 b@1:429/1 b@2.5:200")
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/backoff.json", append(text, '\n'))
}

func TestM72_findings_are_checks_of_a_verification(t *testing.T) {
	t.Parallel()
	v := verdict.Judge(&verdict.Question{}, nil, true)
	v.Add(judge(t, `{"maxAttempts":2}`, "a@0:429/1 a@0.5:429/1 a@2:200 b@3:429/1 b@5:200"))
	var lines []string
	for _, c := range v.Checks {
		lines = append(lines, fmt.Sprintf("%s: %s, %s, %t %v", c.Name, c.Expected, c.Actual, c.Pass != nil && *c.Pass, c.Exchanges))
	}
	want := `backoff of api: at least 1 rejection, 3 rejections, true []
backoff of api: early: at most 0, 1, false [x1]
backoff of api: attempts: at most 2, 3, false [x2]`
	if got := strings.Join(lines, "\n"); got != want || v.Verdict != verdict.Fail {
		t.Errorf("%s:\n%s", v.Verdict, got)
	}
	v = verdict.Judge(&verdict.Question{}, nil, true)
	v.Add(judge(t, `{}`, ""))
	if v.Verdict != verdict.Inconclusive || len(v.Checks) != 1 || v.Checks[0].Pass != nil {
		t.Errorf("with nobody refused: %+v", v)
	}
}

func FuzzBackoff(f *testing.F) {
	f.Add([]byte{0, 10, 3, 1, 20, 0}, 50)
	f.Fuzz(func(t *testing.T, moves []byte, giveUp int) {
		var all []*mockbase.Exchange
		when := zero
		for i := 0; i+2 < len(moves); i += 3 {
			when = when.Add(time.Duration(moves[i+1]) * 10 * time.Millisecond)
			x := &mockbase.Exchange{
				ID: strconv.Itoa(i), At: when, AnsweredBy: mockbase.AnsweredByMock, Mock: mockbase.MockRef{Name: "m"}, ClientKey: strconv.Itoa(int(moves[i]) % 7),
				Duration: time.Duration(moves[i+2]) * time.Millisecond,
			}
			x.Response.Status = []int{200, 429, 503, 429}[moves[i+2]%4]
			x.Response.Header = http.Header{"Retry-After": {strconv.Itoa(int(moves[i+2]) % 5)}}
			all = append(all, x)
		}
		own := verdict.TermsOf(&mockbase.ExpectBackoff{GiveUpAfter: new(time.Duration(giveUp) * time.Millisecond), MaxHerd: new(0.5), MinJitter: new(0.1)})
		got := verdict.JudgeBackoff(&verdict.BackoffQuestion{Terms: func(mockbase.MockRef) *verdict.Terms { return &own }}, all, true)
		if _, err := json.Marshal(got); err != nil {
			t.Fatal(err)
		}
		for _, c := range got.Clients {
			if c.Retries > c.Limited || len(c.Timeline) > len(all) {
				t.Errorf("client %+v", c)
			}
		}
	})
}
