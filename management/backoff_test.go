package management_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/verdict"
)

const backoffPath = shopPath + "/backoff"

// refusing is a world whose shop limits its callers.
func refusing(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.send(call{method: http.MethodPost, path: shopPath + "/sessions", as: editor, body: `{"name":"other"}`}).want(http.StatusCreated)
	w.apply(`{"mocks":[
		{"name":"orders","request":"GET /orders","rateLimit":{"limit":1,"window":"1m","key":"header:X-Api-Key"},"response":{"text":"ok"},"expect":{"backoff":{}}},
		{"name":"flaky","request":"POST /pay/{who}","response":{"status":503},"expect":{"backoff":{"key":"path:who","maxUnsafe":1,"minRejections":0}}},
		{"name":"plain","request":"GET /plain","response":{"text":"ok"}}]}`)
	return w
}

// at makes a request some time after the one before.
func (w *world) at(after time.Duration, method, target, key string) int {
	w.t.Helper()
	w.clock.Advance(after)
	answer := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(w.t.Context(), method, "http://mocks.test/m/shop"+target, http.NoBody)
	if key != "" {
		r.Header.Set("X-Api-Key", key)
	}
	w.engine.ServeHTTP(answer, r)
	return answer.Code
}

func (w *world) backoff(query string) *verdict.Backoff {
	w.t.Helper()
	var got verdict.Backoff
	w.send(call{method: http.MethodGet, path: backoffPath + query, as: viewer}).want(http.StatusOK).into(&got)
	return &got
}

func TestM181_AA32_clients_of_a_limit_are_judged(t *testing.T) {
	t.Parallel()
	w := refusing(t)
	if got := w.backoff(""); got.Verdict != verdict.Inconclusive || got.Detail != "orders: 0 rejections, at least 1 expected" {
		t.Errorf("before any call: %s, %s", got.Verdict, got.Detail)
	}
	w.at(0, http.MethodGet, "/orders", "one")
	w.at(0, http.MethodGet, "/orders", "one")
	w.at(0, http.MethodGet, "/orders", "two")
	w.at(0, http.MethodGet, "/orders", "two")
	w.at(time.Minute, http.MethodGet, "/orders", "one")
	if got := w.backoff(""); got.Verdict != verdict.Pass || len(got.Clients) != 2 || strings.Contains(got.Clients[0].Key, "one") {
		t.Errorf("two clients that behave, told apart by digests: %+v", got)
	}
	w.at(0, http.MethodGet, "/orders", "one")
	w.at(time.Second, http.MethodGet, "/orders", "one")
	got := w.backoff("")
	latest, _ := w.journal.Exchange(w.shop.ID, "latest")
	if early := got.Clients[0].Checks[0]; got.Verdict != verdict.Fail || early.ID != verdict.FindingEarly || len(early.Exchanges) != 1 || early.Exchanges[0] != latest.ID {
		t.Errorf("a client that hammers: %s, %+v", got.Verdict, early)
	}
	for query, want := range map[string]verdict.Outcome{
		"?maxEarly=1":                     verdict.Pass,
		"?maxEarly=1&maxAttempts=1":       verdict.Fail,
		"?tolerance=1h":                   verdict.Pass,
		"?minRejections=9":                verdict.Inconclusive,
		"?minGrowth=1.5":                  verdict.Fail,
		"?minGrowth=1.5&maxEarly=3":       verdict.Inconclusive,
		"?mock=plain":                     verdict.Inconclusive,
		"?mock=orders":                    verdict.Fail,
		"?mock=orders&policy=orders":      verdict.Fail,
		"?mock=orders&session=default":    verdict.Fail,
		"?mock=orders&session=other":      verdict.Inconclusive,
		"?key=header:X-Api-Key":           verdict.Inconclusive,
		"?key=header:User-Agent,ip":       verdict.Fail,
		"?since=2036-01-01T00:00:00.000Z": verdict.Inconclusive,
	} {
		if got := w.backoff(query); got.Verdict != want {
			t.Errorf("%s: %s, want %s (%s)", query, got.Verdict, want, got.Detail)
		}
	}
}

func TestAA33_a_wait_is_on_the_clock_of_the_session(t *testing.T) {
	t.Parallel()
	w := refusing(t)
	w.at(0, http.MethodGet, "/~ci/orders", "")
	w.at(0, http.MethodGet, "/~ci/orders", "")
	w.send(call{method: http.MethodPost, path: sessionsPath + "/ci/clock", as: editor, body: `{"advance":"60s"}`}).want(http.StatusOK)
	if status := w.at(0, http.MethodGet, "/~ci/orders", ""); status != http.StatusOK {
		t.Fatalf("after the advance: %d", status)
	}
	got := w.backoff("?session=ci")
	if got.Verdict != verdict.Pass || got.Clients[0].Retries != 1 || *got.Clients[0].Timeline[1].WaitedMS != 60_000 || got.Clients[0].Session != "ci" {
		t.Errorf("%s: %+v", got.Verdict, got.Clients)
	}
}

func TestAA38_a_payment_that_is_made_twice_is_unsafe(t *testing.T) {
	t.Parallel()
	w := refusing(t)
	for range 3 {
		w.at(time.Second, http.MethodPost, "/pay/anna", "")
	}
	w.at(time.Second, http.MethodPost, "/pay/bert", "")
	got := w.backoff("?mock=flaky")
	if got.Verdict != verdict.Fail || len(got.Clients) != 2 || got.Clients[0].Key != "anna" || !got.Clients[0].GaveUp || len(got.Clients[0].Checks[3].Exchanges) != 2 {
		t.Errorf("%s: %+v", got.Verdict, got.Clients)
	}
}

func TestM181_wrong_parameters_are_refused(t *testing.T) {
	t.Parallel()
	w := refusing(t)
	for query, name := range map[string]string{
		"maxHerd=2": "maxHerd", "maxEarly=few": "maxEarly", "tolerance=soon": "tolerance", "key=who": "key", "key=ip,who": "key", "minGrowth=0": "minGrowth",
		"mock=order": "mock", "since=now": "since", "early=1": "early", "key=template:%7B%7B%20nope%20%7D%7D": "key",
	} {
		got := w.send(call{method: http.MethodGet, path: backoffPath + "?" + query, as: viewer}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
		if e := got.problem().Errors; len(e) == 0 || e[0].Pointer != "#/query/"+name {
			t.Errorf("%s: %+v", query, e)
		}
	}
}

func TestM180_AA39_a_verification_judges_back_off(t *testing.T) {
	t.Parallel()
	w := refusing(t)
	checks := func(got map[string]any) string {
		var list []string
		for _, c := range got["checks"].([]any) {
			check := c.(map[string]any)
			list = append(list, fmt.Sprintf("%v=%v", check["name"], check["pass"]))
		}
		return fmt.Sprintf("%v %s", got["verdict"], strings.Join(list, ", "))
	}
	const nobody = "inconclusive backoff of orders=<nil>, backoff of flaky: early=<nil>"
	if got := checks(w.verify(`{}`)); !strings.HasPrefix(got, "inconclusive backoff of orders=<nil>") {
		t.Errorf("the mocks' own: %s, want %s", got, nobody)
	}
	w.at(0, http.MethodGet, "/orders", "one")
	w.at(0, http.MethodGet, "/orders", "one")
	w.at(time.Minute, http.MethodGet, "/orders", "one")
	for body, want := range map[string]string{
		`{}`:                  "pass backoff of orders=true, backoff of orders: early=true",
		`{"expectations":[]}`: "pass ",
		`{"expectations":[],"backoff":{"maxAttempts":1}}`: "fail backoff of orders=true, backoff of orders: early=true, backoff of orders: attempts=false",
		`{"expectations":[],"backoff":{"key":"global"}}`:  "pass backoff of orders=true, backoff of orders: early=true",
		`{"session":"other","backoff":{}}`:                "inconclusive backoff of orders=<nil>",
	} {
		if got := checks(w.verify(body)); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	w.journal.Bound(w.shop.ID, mockbase.Retention{MaxCount: 2})
	if got := w.verify(`{}`); got["verdict"] != "inconclusive" {
		t.Errorf("with exchanges gone: %v", got)
	}
}

func TestM72_a_verification_waits_for_the_retry(t *testing.T) {
	t.Parallel()
	w := refusing(t)
	w.at(0, http.MethodGet, "/orders", "one")
	w.at(0, http.MethodGet, "/orders", "one")
	began := time.Now()
	go func() {
		<-time.After(100 * time.Millisecond)
		w.engine.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "http://mocks.test/m/shop/pay/a", http.NoBody))
		w.engine.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "http://mocks.test/m/shop/pay/a", http.NoBody))
	}()
	got := w.verify(`{"wait":"20s","expectations":[],"backoff":{"minRejections":1,"maxEarly":9}}`)
	if got["verdict"] != "pass" || time.Since(began) > 15*time.Second {
		t.Errorf("after %s: %v", time.Since(began), got["verdict"])
	}
}

// The page for users shows what comes of its own example.
func TestTheExampleOfThePageOnBackOffIsTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/backoff.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string) string {
		_, rest, _ := strings.Cut(string(text), "```"+kind+"\n")
		found, _, _ := strings.Cut(rest, "```")
		return found
	}
	definition, err := mockbase.ParseNode([]byte(block("yaml")), mockbase.FormatYAML, mockbase.ParseLimits{})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.apply(string(definition.JSON()))
	pay := func(after time.Duration) {
		w.clock.Advance(after)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://mocks.test/m/shop/payments", http.NoBody)
		r.Header.Set("X-Client", "anna")
		w.engine.ServeHTTP(httptest.NewRecorder(), r)
	}
	for _, after := range []time.Duration{0, 0, 0, 2 * time.Second, 8 * time.Second} {
		pay(after)
	}
	var want verdict.Backoff
	if err := json.Unmarshal([]byte(block("json")), &want); err != nil {
		t.Fatal(err)
	}
	got := w.backoff("?mock=flaky-payment")
	got.Checks, got.Complete, got.Clients[0].Timeline = nil, false, nil
	got.Clients[0].Checks = slices.DeleteFunc(got.Clients[0].Checks, func(f verdict.Finding) bool { return f.Pass == nil })
	for i := range got.Clients[0].Checks {
		f := &got.Clients[0].Checks[i]
		for j, id := range f.Exchanges {
			f.Detail = regexp.MustCompile(`xch_\w+`).ReplaceAllString(f.Detail, "xch_…")
			f.Exchanges[j] = strings.Replace(id, strings.TrimPrefix(id, "xch_"), "…", 1)
		}
	}
	if diff := cmp.Diff(&want, got, cmpopts.IgnoreUnexported(verdict.Backoff{})); diff != "" {
		t.Errorf("the page shows (-) what is (+):\n%s", diff)
	}
}

func TestM80_an_advance_opens_the_windows_of_one_session_and_a_reset_empties_them(t *testing.T) {
	t.Parallel()
	w := refusing(t)
	calls := func(want ...int) {
		t.Helper()
		for i, path := range []string{"/~ci/orders", "/orders"} {
			if got := w.at(0, http.MethodGet, path, ""); got != want[i] {
				t.Errorf("%s: %d, want %d", path, got, want[i])
			}
		}
	}
	clock := func(body string) {
		w.send(call{method: http.MethodPost, path: sessionsPath + "/ci/clock", as: editor, body: body}).want(http.StatusOK)
	}
	calls(200, 200)
	calls(429, 429)
	clock(`{"advance":"60s"}`)
	calls(200, 429)
	calls(429, 429)
	clock(`{"reset":true}`)
	calls(200, 429)
	w.send(call{method: http.MethodPost, path: sessionsPath + "/ci/clock", as: editor, body: `{"advance":"-1s"}`}).want(http.StatusUnprocessableEntity)
}
