package interchange_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
	"github.com/mockbase/mockbase/openapi"
)

// described is an OpenAPI document, as far as these tests look at it.
type described struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Description string
			Headers     map[string]struct{ Example any }
			Content     map[string]struct{ Example any }
		}
	}
}

// limited exports a project of one mock as OpenAPI.
func limited(t *testing.T, definition string) (d described, losses string) {
	t.Helper()
	made := exported(t, snapshotOf(t, decoded(definition)), interchange.ExportOptions{Format: interchange.FormatOpenAPI, As: mockbase.FormatJSON})
	if err := json.Unmarshal(made.Text, &d); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, l := range made.Losses {
		told = append(told, l.Mock+" "+l.Pointer+": "+l.Detail)
	}
	return d, strings.Join(told, "\n")
}

// M-163: the answer beyond a limit is part of the document, with the fields that the settings send.
func TestM163_a_limit_is_exported_with_its_answer(t *testing.T) {
	t.Parallel()
	const mock = `mocks: [{ name: a, request: GET /a, response: { json: { ok: true } }, rateLimit: %s }]`
	for name, c := range map[string]struct {
		limit, status, words, kind, losses string
		headers                            map[string]any
	}{
		"usual": {
			"5/10s", "429", "Too Many Requests: 5 requests in 10 seconds", "application/problem+json", "a #/rateLimit: when the limit is reached",
			map[string]any{"X-RateLimit-Limit": 5.0, "X-RateLimit-Remaining": 0.0, "X-RateLimit-Reset": 1767225610.0, "Retry-After": 10.0},
		},
		"draft with an answer of its own": {
			"{ limit: 2, window: 1h, headers: draft, key: 'header:X-Key', onExceed: { response: { status: 503, headers: { X-Why: calm }, json: { error: slow } } } }",
			"503", "Service Unavailable: 2 requests in 1 hour, counted by header:X-Key", "application/json", "",
			map[string]any{"RateLimit-Policy": `"a";q=2;w=3600`, "RateLimit": `"a";r=0;t=3600`, "Retry-After": 3600.0, "X-Why": "calm"},
		},
		"meter with names of its own": {
			"{ algorithm: token_bucket, limit: 6, window: 1m, burst: 3, headers: { limit: L, remaining: R }, retryAfter: http_date }",
			"429", "Too Many Requests: 6 requests in 1 minute", "application/problem+json", "",
			map[string]any{"L": 3.0, "R": 0.0, "Retry-After": "Thu, 01 Jan 2026 00:00:10 GMT"},
		},
		"no fields": {"{ limit: 1, window: 1m, headers: none }", "429", "Too Many Requests: 1 request in 1 minute", "application/problem+json", "", nil},
		"places": {
			"{ algorithm: concurrency, limit: 3, headers: split, ban: { after: 2, within: 1m, for: 5m }, cost: 2 }", "429", "Too Many Requests: 3 at one time",
			"application/problem+json", "the ban of those who go on cannot be said",
			map[string]any{"RateLimit-Limit": 3.0, "RateLimit-Remaining": 0.0, "RateLimit-Reset": 300.0},
		},
		"dropped":       {"{ limit: 1, window: 1m, onExceed: { action: drop } }", "", "", "", "the connection is cut", nil},
		"only watching": {"{ limit: 1, window: 1m, mode: dry_run }", "", "", "", "refuses nobody (mode dry_run)", nil},
		"none":          {"none", "", "", "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, losses := limited(t, strings.Replace(mock, "%s", c.limit, 1))
			responses := d.Paths["/a"]["get"].Responses
			if !strings.Contains(losses, c.losses) || c.losses == "" && c.status == "" && losses != "" {
				t.Errorf("losses: %s", losses)
			}
			if c.status == "" {
				if len(responses) != 1 {
					t.Errorf("responses: %+v", responses)
				}
				return
			}
			got := responses[c.status]
			headers := map[string]any{}
			for name, h := range got.Headers {
				headers[name] = h.Example
			}
			if got.Description != c.words || len(headers)+len(c.headers) > 0 && !cmp.Equal(headers, c.headers) || got.Content[c.kind].Example == nil {
				t.Errorf("%+v, want %+v", got, c)
			}
		})
	}
}

// M-163: the limits of the project's defaults and of its policies are those of its mocks.
func TestM163_limits_of_the_project_are_exported(t *testing.T) {
	t.Parallel()
	d, _ := limited(t, `
rateLimits: { partner: { limit: 7, window: 1m, headers: draft } }
defaults: { rateLimit: 3/1s }
mocks:
  - { name: a, request: GET /a, response: { status: 429, json: { mine: 1 } }, rateLimit: [{ use: partner }, 100/d] }
  - { name: b, request: GET /b, response: {} }
`)
	a, b := d.Paths["/a"]["get"].Responses["429"], d.Paths["/b"]["get"].Responses["429"]
	if a.Headers["RateLimit-Policy"].Example != `"partner";q=7;w=60` || a.Headers["X-RateLimit-Limit"].Example != 100.0 || !strings.Contains(a.Description, "7 requests in 1 minute") ||
		!strings.Contains(a.Description, "100 requests in 1 day") || len(a.Content) != 2 {
		t.Errorf("a: %+v", a)
	}
	if b.Headers["X-RateLimit-Limit"].Example != 3.0 {
		t.Errorf("b: %+v", b)
	}
}

// M-163, X: what was exported becomes the same limit again.
func TestM163_an_exported_limit_comes_back(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{
		`"5/10s"`, `{"limit":120,"window":"1m","headers":["draft"]}`, `{"limit":9,"window":"2h","headers":["split"]}`,
		`{"algorithm":"token_bucket","limit":6,"window":"1m"}`, `{"limit":4,"window":"1m","headers":["x"],"reset":"epoch_ms","retryAfter":"http_date"}`,
	} {
		definition := decoded(`{"mocks":[{"name":"a","request":"GET /a","response":{"json":{"ok":true}},"rateLimit":` + limit + `}]}`)
		made := exported(t, snapshotOf(t, definition), interchange.ExportOptions{Format: interchange.FormatOpenAPI, As: mockbase.FormatJSON})
		source, err := openapi.Parse(made.Text)
		if err != nil {
			t.Fatal(err)
		}
		expanded := source.Expand(openapi.ExpandOptions{Limits: true})
		back, err := mockbase.DecodeMock(expanded.Mocks[0].Document.JSON(), mockbase.FormatJSON)
		if err != nil || back.RateLimit == nil {
			t.Fatalf("%s: %v, %s", limit, err, expanded.Mocks[0].Document.JSON())
		}
		want, got := definition.Mocks[0].RateLimit.Limits[0].Policy, back.RateLimit.Limits[0].Policy
		if want.Limit != got.Limit || want.Window != got.Window || !cmp.Equal(want.Headers, got.Headers) || want.Reset != got.Reset {
			t.Errorf("%s came back as %+v", limit, got)
		}
	}
}
