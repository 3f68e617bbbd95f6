package openapi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// condition is what the conditions on Accept that mocks are made with may hold.
type condition struct {
	Search       string
	Not          *condition
	AnyOf, AllOf []condition
	Headers      *struct{ Accept condition }
}

func (c *condition) holds(value string) bool {
	each := func(one condition) bool { return one.holds(value) }
	return (c.Search == "" || regexp.MustCompile(c.Search).MatchString(value)) && (c.Not == nil || !c.Not.holds(value)) &&
		(len(c.AnyOf) == 0 || slices.ContainsFunc(c.AnyOf, each)) && !slices.ContainsFunc(c.AllOf, func(one condition) bool { return !each(one) }) &&
		(c.Headers == nil || c.Headers.Accept.holds(value))
}

// negotiated is the body that a mock answers to a header.
func negotiated(t *testing.T, responses []negotiable, accept string) string {
	t.Helper()
	usual := ""
	for _, r := range responses {
		switch {
		case r.When == nil:
			usual = r.Text
		case accept != "" && r.When.holds(accept):
			if r.Status == 406 {
				return "406"
			}
			return r.Text
		}
	}
	return usual
}

type negotiable struct {
	Status int
	Text   string
	When   *condition
}

// headers are Accept headers of up to three entries, each with one of some qualities.
func headers(names []string) []string {
	var entries []string
	for _, name := range names {
		for _, quality := range []string{"", ";q=1.0", "; q=0.9", ";level=1;q=0.85;x=y", ";q=0.5", ";Q=0.3", ";q=0"} {
			entries = append(entries, name+quality)
		}
	}
	list := []string{"", "text/nothing", "*/*", "none"}
	for _, a := range entries {
		list = append(list, a)
		for _, b := range entries {
			list = append(list, a+", "+b)
		}
	}
	for i, a := range entries {
		for j := i % 3; j < len(entries); j += 3 {
			for k := (i + j) % 5; k < len(entries); k += 5 {
				list = append(list, a+" ,"+entries[j]+","+entries[k])
			}
		}
	}
	return list
}

// isClear tells whether a header is one that conditions can tell: none of its names twice, no ranges of different qualities,
// none named with less than a range beside it but for 0 beside all alone, and no two qualities that tenths do not tell apart.
func isClear(header string) bool {
	quality := regexp.MustCompile(`(?i)^\s*([^\s;]+)(?:.*?;\s*q=([0-9.]+))?`)
	qualities, ranges, names, refused, low, lowest := map[string]float64{}, 0, 0, 0, 0, 2.0
	for part := range strings.SplitSeq(header, ",") {
		found := quality.FindStringSubmatch(part)
		if found == nil {
			continue
		}
		q := 1.0
		if found[2] != "" {
			_, _ = fmt.Sscan(found[2], &q)
		}
		if _, twice := qualities[found[1]]; twice {
			return false
		}
		qualities[found[1]] = q
		if 0 < q && q < 0.5 || q == 0.85 {
			low++
		}
		switch {
		case strings.HasSuffix(found[1], "/*"):
			ranges++
		case q > 0:
			names, lowest = names+1, min(lowest, q)
		default:
			refused++
		}
	}
	_, wide := qualities["*/*"]
	widest := max(qualities["application/*"], qualities["text/*"], qualities["*/*"])
	if ranges > 1 && lowestRange(qualities) < 1 || ranges > 0 && refused > 1 || refused > 0 && ranges > 0 && (!wide || ranges > 1) {
		return false
	}
	return low < 2 && (ranges == 0 || (refused == 0 || names == 0) && (lowest > widest || lowest == 1))
}

// lowestRange is the least quality of a range.
func lowestRange(qualities map[string]float64) float64 {
	lowest := 2.0
	for name, q := range qualities {
		if strings.HasSuffix(name, "/*") {
			lowest = min(lowest, q)
		}
	}
	return lowest
}

// Rules M-78 and W31: mocks made of operations pick among media types as the document does.
func TestW31_expanded_mocks_negotiate_as_their_document_does(t *testing.T) {
	t.Parallel()
	for _, types := range [][]string{
		{"application/json"},
		{"application/xml", "application/json"},
		{"application/json", "application/xml"},
		{"text/plain", "application/json", "application/vnd.a+json"},
		{"text/csv", "text/plain"},
		{"application/json", "text/csv"},
	} {
		t.Run(strings.Join(types, " "), func(t *testing.T) {
			t.Parallel()
			var content strings.Builder
			for _, name := range types {
				fmt.Fprintf(&content, "            %s: { examples: { e: { value: %q } } }\n", name, name)
			}
			text := head + "paths:\n  /a:\n    get:\n      responses:\n        '200':\n          description: d\n          content:\n" + content.String()
			mock := parse(t, text).Expand(openapi.ExpandOptions{}).Mocks[0].Document
			if _, err := mockbase.DecodeMock(mock.JSON(), mockbase.FormatJSON); err != nil {
				t.Fatal(err)
			}
			var made struct {
				Responses []negotiable
			}
			bare := strings.ReplaceAll(string(mock.JSON()), `"json":"`, `"text":"`)
			if err := json.Unmarshal([]byte(bare), &made); err != nil {
				t.Fatal(err)
			}
			d := compile(t, text)
			wrong, all := 0, 0
			for _, accept := range headers(append([]string{"*/*", "application/*", "text/*", "image/png"}, types...)) {
				if !isClear(accept) {
					continue
				}
				request := "GET /a"
				if accept != "" {
					request += "\nAccept: " + accept
				}
				answer := ask(t, d, sent(request))
				want := strings.Trim(string(answer.Body), `"`)
				if answer.Status == 406 {
					want = "406"
				}
				all++
				if got := negotiated(t, made.Responses, accept); got != want {
					if wrong++; wrong < 12 {
						t.Errorf("%q: the mock answers %s, the document %s", accept, got, want)
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d", wrong, all)
			}
		})
	}
}
