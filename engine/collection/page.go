package collection

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
)

// page is the part of a list that is asked for.
type page struct {
	start, limit int
	// numbered tells that pages are counted, and not items from a start.
	numbered bool
}

// pageOf reads _page, _limit, _start and _end (rules V11 and V12).
func pageOf(of *definition, given map[string]string) (page, error) {
	p := page{limit: of.PageSize, numbered: true}
	number := 1
	for _, known := range [...]struct {
		name  string
		least int
		into  *int
	}{{"_page", 1, &number}, {"_limit", 1, &p.limit}, {"_start", 0, &p.start}} {
		if err := readNumber(given, known.name, known.least, known.into); err != nil {
			return p, err
		}
	}
	end := math.MaxInt
	if err := readNumber(given, "_end", 0, &end); err != nil {
		return p, err
	}
	_, started := given["_start"]
	_, ended := given["_end"]
	if _, paged := given["_page"]; paged && (started || ended) {
		return p, badParameter("_page", given["_page"], "it goes with _limit, and not with _start or _end")
	}
	if ended {
		if _, limited := given["_limit"]; !limited {
			p.limit = of.MaxPageSize
		}
		p.limit = max(0, min(p.limit, end-p.start))
	}
	p.limit = min(p.limit, of.MaxPageSize)
	p.numbered = !started && !ended
	if p.numbered {
		p.start = math.MaxInt
		if number-1 < math.MaxInt/max(1, p.limit) {
			p.start = (number - 1) * p.limit
		}
	}
	return p, nil
}

// readNumber reads a parameter of digits, which may be too large to matter.
func readNumber(given map[string]string, name string, least int, into *int) error {
	text, there := given[name]
	if !there {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil && strings.Trim(text, "0123456789") == "" && text != "" {
		n, err = math.MaxInt32, nil
	}
	if err != nil || int(n) < least {
		return badParameter(name, text, fmt.Sprintf("write a whole number from %d", least))
	}
	*into = int(n)
	return nil
}

// number counts the page from 1.
func (p page) number() int {
	if p.limit == 0 {
		return 1
	}
	return p.start/p.limit + 1
}

// of returns the part of the items that is on the page.
func (p page) of(items []*item) []*item {
	if p.start >= len(items) {
		return nil
	}
	return items[p.start:min(len(items), p.start+p.limit)]
}

// links makes the Link header (rule V11, RFC 8288): first, prev, next and last, with the other parameters as they came.
// Slices lie side by side from the one that is asked for; what is left in front of them is shorter.
func (p page) links(self string, query []Parameter, total int) string {
	if p.limit == 0 {
		return ""
	}
	front := p.start % p.limit
	last := page{limit: front, numbered: p.numbered}
	if front == 0 || total > front {
		last.start, last.limit = front+max(0, total-1-front)/p.limit*p.limit, p.limit
	}
	list := []string{page{limit: p.limit, numbered: p.numbered}.link(self, query, "first")}
	if p.start > 0 {
		prev := last
		if p.start-p.limit < last.start {
			prev.start = max(0, p.start-p.limit)
			prev.limit = min(p.limit, p.start)
		}
		list = append(list, prev.link(self, query, "prev"))
	}
	if p.start < last.start {
		next := p
		next.start += p.limit
		list = append(list, next.link(self, query, "next"))
	}
	return strings.Join(append(list, last.link(self, query, "last")), ", ")
}

func (p page) link(self string, query []Parameter, relation string) string {
	var b strings.Builder
	b.WriteString("<" + self + "?")
	for _, parameter := range query {
		switch parameter.Name {
		case "_page", "_limit", "_start", "_end":
		default:
			b.WriteString(url.QueryEscape(parameter.Name) + "=" + url.QueryEscape(parameter.Value) + "&")
		}
	}
	if p.numbered {
		fmt.Fprintf(&b, "_page=%d", p.number())
	} else {
		fmt.Fprintf(&b, "_start=%d", p.start)
	}
	fmt.Fprintf(&b, "&_limit=%d>; rel=%q", p.limit, relation)
	return b.String()
}
