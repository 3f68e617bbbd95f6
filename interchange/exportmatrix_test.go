package interchange_test

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
)

// operators are all of those of the mock format, each with operands of its kinds.
func operators() []string {
	return []string{
		`abc`, `5`, `{ equals: 5 }`, `{ not: 5 }`, `{ in: [5, abc] }`, `true`, `{ equals: [abc, 5] }`, `{ equals: abc }`, `{ equals: ABC, ignoreCase: true }`, `{ not: abc }`, `{ not: { equals: abc } }`, `{ not: { contains: b, startsWith: a } }`, `{ in: [abc, "5"] }`,
		`{ in: [ABC, "5"], ignoreCase: true }`, `{ contains: bc }`, `{ contains: BC, ignoreCase: true }`, `{ startsWith: ab }`, `{ startsWith: "a.c", ignoreCase: true }`, `{ endsWith: bc }`, `{ matches: "a.c" }`,
		`{ matches: "A.C|x", ignoreCase: true }`, `{ search: "b" }`, `{ search: "^b|d$" }`, `{ search: "B", ignoreCase: true }`, `{ exists: true }`, `{ exists: false }`, `{ not: { exists: true } }`, `{ not: { exists: false } }`,
		`{ gt: 4 }`, `{ gte: 5 }`, `{ lt: 6 }`, `{ lte: 5 }`, `{ before: "2026-01-01T00:00:00Z" }`, `{ after: "2026-01-01T00:00:00Z" }`, `{ type: string }`, `{ type: number }`,
		`{ mediaType: "application/json" }`, `{ mediaType: "application/json; charset=utf-8" }`, `{ mediaType: "application/*" }`, `{ hasItem: abc }`, `{ every: abc }`, `{ every: { startsWith: a } }`, `{ all: [abc, "5"] }`,
		`{ exactly: [abc] }`, `{ exactly: [abc, "5"] }`, `{ ordered: [abc, "5"] }`, `{ count: 1 }`, `{ count: { gte: 2 } }`, `{ anyOf: [abc, { startsWith: "5" }] }`, `{ allOf: [{ startsWith: a }, { endsWith: c }] }`,
		`{ allOf: [abc, "5"] }`, `{ anyOf: [{ exists: false }, abc] }`, `{ not: { in: [abc, "5"] } }`, `{ not: { anyOf: [abc, "5"] } }`, `{ startsWith: a, endsWith: c }`, `{ equals: abc, exists: true }`,
		`{ not: { matches: "a.*" }, exists: true }`, `[abc, "5"]`, `{ equals: "" }`, `{ not: { equals: "" } }`, `{ contains: "" }`, `{ matches: "" }`, `{ contains: "b", not: { endsWith: d } }`,
	}
}

// values are what the operators are asked of: nothing, one value, several.
func values() [][]string {
	return [][]string{
		nil,
		{""},
		{"abc"},
		{"ABC"},
		{"abcd"},
		{"xabc"},
		{"a.cx"},
		{"b"},
		{"5"},
		{"4"},
		{"7.5"},
		{"x, abc"},
		{"abc, 5"},
		{"2025-06-01T00:00:00Z"},
		{"2027-06-01T00:00:00Z"},
		{"Wed, 01 Jan 2025 00:00:00 GMT"},
		{"application/json"},
		{"application/json; charset=utf-8"},
		{"application/xml"},
		{"abc", "5"},
		{"5", "abc"},
		{"abc", "abc"},
		{"zzz", "abc"},
		{"a1", "a2"},
		{"a", "c"},
		{"abc", "5", "x"},
	}
}

// asking is a place of a request that a condition looks at.
type asking struct {
	// condition is a member of a request, with the operators at %s.
	condition string
	// request writes a request with values, "" where it cannot.
	request func(values []string) string
}

func rawOf(method, target, fields, body string) string {
	text := method + " /m/a" + target + " HTTP/1.1\r\nHost: x\r\n" + fields
	if body != "" || method == "POST" {
		text += "Content-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	return text + "\r\n" + body
}

// each writes values between texts.
func each(values []string, before, after string) string {
	var b strings.Builder
	for _, one := range values {
		b.WriteString(before + one + after)
	}
	return b.String()
}

// places are those of a request that conditions look at.
func places() map[string]asking {
	query := func(values []string) string {
		return url.Values{"q": values}.Encode()
	}
	one := func(values []string, text func(string) string) string {
		if len(values) != 1 {
			return ""
		}
		return text(values[0])
	}
	const form = "Content-Type: application/x-www-form-urlencoded\r\n"
	const typed = "Content-Type: application/json\r\n"
	return map[string]asking{
		"query": {`query: { q: %s }`, func(v []string) string { return rawOf("GET", "/x?"+query(v), "", "") }},
		"headers": {`headers: { X-Q: %s }`, func(v []string) string {
			return rawOf("GET", "/x", each(v, "X-Q: ", "\r\n"), "")
		}},
		"cookies": {`cookies: { q: %s }`, func(v []string) string {
			if len(v) == 0 {
				return rawOf("GET", "/x", "", "")
			}
			if strings.ContainsAny(strings.Join(v, ""), ",; ") || len(v) > 1 {
				return ""
			}
			return rawOf("GET", "/x", "Cookie: q="+v[0]+"\r\n", "")
		}},
		"form": {`body: { form: { q: %s } }`, func(v []string) string { return rawOf("POST", "/x", form, query(v)) }},
		"path": {``, func(v []string) string {
			return one(v, func(s string) string {
				if s == "" {
					return ""
				}
				return rawOf("GET", "/p/"+url.PathEscape(s), "", "")
			})
		}},
		"text": {`body: { text: %s }`, func(v []string) string {
			return one(v, func(s string) string { return rawOf("POST", "/x", "", s) })
		}},
		"jsonPath": {`body: { jsonPath: { "$.q": %s } }`, func(v []string) string {
			return one(v, func(s string) string { return rawOf("POST", "/x", typed, `{"q":`+strconv.Quote(s)+`}`) })
		}},
		"jsonPath of numbers": {`body: { jsonPath: { "$.q": %s } }`, func(v []string) string {
			return one(v, func(s string) string {
				if _, err := strconv.ParseFloat(s, 64); err != nil {
					return rawOf("POST", "/x", typed, `{"other":1}`)
				}
				return rawOf("POST", "/x", typed, `{"q":`+s+`}`)
			})
		}},
		"jsonPath of lists": {`body: { jsonPath: { "$.q[*]": %s } }`, func(v []string) string {
			var items []string
			for _, s := range v {
				items = append(items, strconv.Quote(s))
			}
			return rawOf("POST", "/x", typed, `{"q":[`+strings.Join(items, ",")+`]}`)
		}},
		"xpath": {`body: { xpath: { "/a/q/text()": %s } }`, func(v []string) string {
			return rawOf("POST", "/x", "Content-Type: application/xml\r\n", "<a>"+each(v, "<q>", "</q>")+"</a>")
		}},
		"bearer": {`auth: { bearer: %s }`, func(v []string) string {
			if len(v) == 0 {
				return rawOf("GET", "/x", "", "")
			}
			return one(v, func(s string) string {
				if strings.ContainsAny(s, ", ;") || s == "" {
					return ""
				}
				return rawOf("GET", "/x", "Authorization: Bearer "+s+"\r\n", "")
			})
		}},
		"within JSON": {`body: { json: { q: { $match: %s } } }`, func(v []string) string {
			return one(v, func(s string) string { return rawOf("POST", "/x", typed, `{"q":`+strconv.Quote(s)+`}`) })
		}},
		"part": {`body: { multipart: [{ name: q, body: { text: %s } }] }`, func(v []string) string {
			return one(v, func(s string) string {
				return rawOf("POST", "/x", "Content-Type: multipart/form-data; boundary=b\r\n", "--b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\n"+s+"\r\n--b--\r\n")
			})
		}},
		"host": {``, func([]string) string { return "" }},
	}
}

// asks is a definition with one mock that asks for something.
func asks(place asking, operator string) *mockbase.Definition {
	request := "method: ANY, path: /x, " + fmt.Sprintf(place.condition, operator)
	if place.condition == "" {
		request = "method: ANY, path: '/p/{q}'"
		return decoded("version: 1\nmocks:\n  - name: one\n    request: { " + request + " }\n    responses:\n      - { when: { path: { q: " + operator + " } }, text: hit }\n")
	}
	return decoded("version: 1\nmocks:\n  - { name: one, request: { " + request + " }, response: { text: hit } }\n")
}

// loose tells whether a loss says what the other tool takes beside.
func loose(losses []interchange.Loss) bool {
	return slices.ContainsFunc(losses, func(l interchange.Loss) bool { return strings.Contains(l.Detail, "are not told apart") })
}

// M-163: every operator at every place is exported to WireMock so that it means the same when it comes back, or it is told of,
// and then nothing is taken that was not before.
func TestM163_WireMock_gets_every_operator_or_its_loss_is_told(t *testing.T) {
	t.Parallel()
	for name, place := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept, lost := 0, 0
			for _, operator := range operators() {
				d := asks(place, operator)
				if d == nil {
					continue // such a condition cannot be saved
				}
				s := snapshotOf(t, d)
				first := plane(t, s)
				if first == nil {
					continue
				}
				file := exported(t, s, interchange.ExportOptions{Format: interchange.FormatWireMock})
				back := importOf(t, string(file.Text), interchange.Options{Format: interchange.FormatWireMock})
				again, err := back.Definition()
				if err != nil {
					t.Fatal(err)
				}
				second := plane(t, snapshotOf(t, again))
				whole := len(file.Losses)+len(back.Warnings) == 0
				if whole {
					kept++
				} else {
					lost++
				}
				for _, v := range values() {
					raw := place.request(v)
					if raw == "" {
						continue
					}
					want, got := answerOf(first, raw), answerOf(second, raw)
					if whole && want != got || want == noMatch && got != noMatch && !loose(file.Losses) {
						t.Errorf("%s of %q: answers %s, wanted %s; told %v %v\n%s", operator, v, got, want, file.Losses, back.Warnings, file.Text)
					}
				}
			}
			t.Logf("%d operators are kept, %d told of", kept, lost)
		})
	}
}
