package engine

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// acceptsText tells whether a client would rather read text than JSON (rule M3): of the media ranges that it prefers, the
// first that means one of the two decides.
func acceptsText(lines []string) bool {
	best, isText := 0.0, false
	for _, line := range lines {
		for line != "" {
			var item string
			item, line, _ = strings.Cut(line, ",")
			media, weight := weighed(item)
			text, known := isTextRange(media)
			if known && weight > best {
				best, isText = weight, text
			}
		}
	}
	return isText
}

func isTextRange(media string) (text, known bool) {
	switch media {
	case "text/plain", "text/html", "text/*":
		return true, true
	case "*/*", "application/*", "application/json", "application/problem+json":
		return false, true
	default:
		return false, false
	}
}

// weighed reads one media range and its weight (RFC 9110, section 12.5.1).
func weighed(item string) (media string, weight float64) {
	media, parameters, _ := strings.Cut(item, ";")
	weight = 1
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		q, err := strconv.ParseFloat(value, 64)
		if err != nil {
			q = 0
		}
		weight = q
	}
	return strings.ToLower(strings.TrimSpace(media)), weight
}

// tabulate writes a problem for people: what was asked, and a table of the nearest misses.
func tabulate(p *problem) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d %s\n%s\n\n", p.Status, p.Title, p.Detail)
	fmt.Fprintf(&b, "request   %s %s\n", p.Request.Method, p.Request.Path)
	if p.Request.Query != "" {
		fmt.Fprintf(&b, "query     %s\n", p.Request.Query)
	}
	fmt.Fprintf(&b, "reason    %s\ncode      %s\nexchange  %s\n", p.Reason, p.Code, p.Instance)
	for _, hint := range p.Hints {
		fmt.Fprintf(&b, "hint      %s\n", oneLine(hint))
	}
	if len(p.NearMisses) == 0 {
		return b.Bytes()
	}
	b.WriteByte('\n')
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { _, _ = io.WriteString(w, strings.Join(cells, "\t")+"\n") }
	row("MOCK", "DISTANCE", "FAILED", "OPERATOR", "EXPECTED", "ACTUAL")
	for _, miss := range p.NearMisses {
		mock, distance := miss.Mock, strconv.FormatFloat(miss.Distance, 'f', 2, 64)
		for _, part := range miss.Failed {
			row(mock, distance, strings.TrimSpace(part.Part+" "+oneLine(part.Name)), part.Operator,
				oneLine(part.Expected), oneLine(part.Actual))
			mock, distance = "", ""
		}
	}
	// A buffer takes everything.
	_ = w.Flush()
	return b.Bytes()
}

// oneLine keeps a value from breaking the table.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
