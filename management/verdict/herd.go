package verdict

import (
	"slices"
	"time"

	"github.com/mockbase/mockbase"
)

// arrival is a retry of a client, or one of its rejections.
type arrival struct {
	group int
	at    time.Time
	// after is when the rejection before a retry was answered.
	after time.Time
	id    string
}

// herd is the largest share of clients that came back at the same instant, of those that were refused since the first of
// them was: that is what the same window means for limits that open for each key at its own time (rule AA38).
func (c *crowd) herd() Finding {
	f := Finding{ID: FindingHerd, Mock: c.ref.Name, Expected: c.terms.MaxHerd, Exchanges: []string{}}
	bySession := map[string][]*group{}
	for _, g := range c.groups {
		if len(g.episodes) > 0 {
			bySession[g.session] = append(bySession[g.session], g)
		}
	}
	for _, groups := range bySession {
		share, members := largestHerd(groups)
		if len(groups) >= minHerd && (f.Actual == nil || share > *f.Actual) {
			f.Actual, f.Exchanges = new(share), members
		}
	}
	switch {
	case f.Actual == nil:
		f.Detail = needs(FindingHerd)
	case f.Expected == nil:
		f.Exchanges = []string{}
	default:
		f.Detail = number(100**f.Actual) + " % of the clients came back within " + herdSpan.String()
	}
	weigh(&f)
	return f
}

// largestHerd looks at every instant when a client came back.
func largestHerd(groups []*group) (share float64, members []string) {
	members = []string{}
	retries, rejections := arrivals(groups)
	for i := range retries {
		herd := within100(retries[i:])
		if len(herd) < 2 {
			continue
		}
		refused := refusedBefore(herd, rejections, len(groups))
		if part := float64(len(herd)) / float64(max(refused, len(herd))); refused >= minHerd && part > share {
			share, members = part, members[:0:0]
			for _, a := range herd {
				members = append(members, a.id)
			}
		}
	}
	return share, members
}

// refusedBefore counts the clients that were refused from the first refusal of a herd until it came back.
func refusedBefore(herd, rejections []arrival, all int) int {
	since := slices.MinFunc(herd, func(a, b arrival) int { return a.after.Compare(b.after) }).after
	from, _ := slices.BinarySearchFunc(rejections, since, func(a arrival, at time.Time) int { return a.at.Compare(at) })
	refused := map[int]bool{}
	for _, r := range rejections[from:] {
		if r.at.After(herd[0].at) || len(refused) == all {
			break
		}
		refused[r.group] = true
	}
	return len(refused)
}

// arrivals lists the retries by their time, and the rejections by the time of their answers.
func arrivals(groups []*group) (retries, rejections []arrival) {
	for n, g := range groups {
		for i := range g.episodes {
			for _, s := range g.episodes[i].steps {
				if s.after != nil {
					retries = append(retries, arrival{group: n, at: sessionTime(s.x), after: endOf(s.after), id: s.x.ID})
				}
				if rejects(s.x) {
					rejections = append(rejections, arrival{group: n, at: endOf(s.x), id: s.x.ID})
				}
			}
		}
	}
	byTime := func(a, b arrival) int { return a.at.Compare(b.at) }
	slices.SortStableFunc(retries, byTime)
	slices.SortStableFunc(rejections, byTime)
	return retries, rejections
}

// within100 are the first retries of each client that arrive within the span of a herd.
func within100(retries []arrival) []arrival {
	var herd []arrival
	seen := map[int]bool{}
	for _, r := range retries {
		if r.at.Sub(retries[0].at) > herdSpan {
			break
		}
		if !seen[r.group] {
			seen[r.group] = true
			herd = append(herd, r)
		}
	}
	return herd
}

// gather sorts exchanges by mock, session and client.
func gather(q *BackoffQuestion, all []*mockbase.Exchange) []*crowd {
	g := gathering{question: q, crowds: map[string]*crowd{}, groups: map[groupID]*group{}}
	for _, ref := range q.Mocks {
		g.crowd(ref)
	}
	stated := len(g.list)
	for _, x := range all {
		g.add(x)
	}
	list := g.list[:stated:stated]
	for _, c := range g.list[stated:] {
		if slices.ContainsFunc(c.groups, func(g *group) bool { return slices.ContainsFunc(g.all, rejects) }) || c.unknown > 0 {
			list = append(list, c)
		}
	}
	return list
}

// gathering is the exchanges that are sorted already.
type gathering struct {
	question *BackoffQuestion
	crowds   map[string]*crowd
	list     []*crowd
	groups   map[groupID]*group
}

type groupID struct{ mock, session, key string }

// crowd finds the clients of a mock; nil is one that is left out.
func (g *gathering) crowd(ref mockbase.MockRef) *crowd {
	id := crowdID(ref)
	c, known := g.crowds[id]
	if known {
		return c
	}
	if terms := g.question.Terms(ref); terms != nil {
		c = &crowd{ref: ref, terms: *terms}
		g.list = append(g.list, c)
	}
	g.crowds[id] = c
	return c
}

// crowdID tells mocks apart: those that are no mocks by themselves, such as a collection, have no id.
func crowdID(ref mockbase.MockRef) string {
	if ref.ID != "" {
		return ref.ID
	}
	return "name:" + ref.Name
}

// add adds an exchange to its client's.
func (g *gathering) add(x *mockbase.Exchange) {
	if x.Mock.Name == "" || x.AnsweredBy != mockbase.AnsweredBySimulatedLimit && !served(x) {
		return
	}
	key, limited := g.met(x)
	if key == nil {
		return
	}
	c := g.crowd(x.Mock)
	if c == nil {
		return
	}
	text := *key
	if c.terms.Key != nil {
		told, known := c.terms.Key(x)
		if !known {
			c.unknown++
			return
		}
		text = told
	}
	id := groupID{crowdID(x.Mock), x.Session.ID, text}
	own := g.groups[id]
	if own == nil {
		own = &group{session: x.Session.ID, key: text, client: Client{Key: text, Mock: x.Mock.Name, Session: x.Session.Name}}
		g.groups[id] = own
		c.groups = append(c.groups, own)
	}
	own.limited = own.limited || limited
	own.all = append(own.all, x)
}

// met tells whether an exchange met a simulated limit, and the key of its client; nil leaves it out.
func (g *gathering) met(x *mockbase.Exchange) (key *string, limited bool) {
	text := x.ClientKey
	if text == "" && x.Client.IP.IsValid() {
		text = x.Client.IP.String()
	}
	if g.question.Policy == "" {
		return &text, slices.ContainsFunc(x.Limits, func(l mockbase.LimitOutcome) bool { return l.Kind == kindSimulated })
	}
	for i := range x.Limits {
		if l := &x.Limits[i]; l.Kind == kindSimulated && l.Policy == g.question.Policy {
			if l.Key != keyOfAll {
				text = l.Key
			}
			return &text, true
		}
	}
	return nil, false
}

// What a limit's outcome says of itself: its kind, and the key of one that all clients share.
const (
	kindSimulated = "simulated"
	keyOfAll      = "global"
)
