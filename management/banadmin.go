package management

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// maxReason bounds the reason of a ban in bytes.
const maxReason = 1000

// forever is the duration of a ban without an end.
const forever = "forever"

// banView is a ban as the API shows one (rule M-225).
type banView struct {
	ID        string              `json:"id"`
	Rule      string              `json:"rule,omitempty"`
	Subject   mockbase.BanSubject `json:"subject"`
	Reason    string              `json:"reason"`
	Source    string              `json:"source"`
	CreatedBy *string             `json:"createdBy"`
	Hits      int64               `json:"hits"`
	CreatedAt string              `json:"createdAt"`
	ExpiresAt *string             `json:"expiresAt"`
}

// The sources of bans.
const (
	sourceManual = "manual"
	sourceRule   = "rule"
)

func viewBan(b *mockbase.Ban) banView {
	view := banView{
		ID: b.ID, Rule: b.Rule, Subject: b.Subject, Reason: b.Reason, Source: sourceManual, CreatedBy: maybeText(b.CreatedBy), Hits: b.Hits,
		CreatedAt: timeText(b.CreatedAt), ExpiresAt: maybeTime(b.ExpiresAt),
	}
	if b.Rule != "" {
		view.Source = sourceRule
	}
	return view
}

// banFilter says which bans a list shows; an empty member says nothing.
type banFilter struct{ active, kind, source, rule string }

func (f *banFilter) selects(v *banView, active bool) bool {
	return (f.active == "" || (f.active == "true") == active) && (f.kind == "" || f.kind == v.Subject.Type) &&
		(f.source == "" || f.source == v.Source) && (f.rule == "" || f.rule == v.Rule)
}

// listBans lists bans, the newest first (M-225).
func (s *Server) listBans(c *call) error {
	p := c.params()
	filter := banFilter{
		active: p.choice("active", []string{"true", "false"}), kind: p.choice("type", []string{mockbase.BanIP, mockbase.BanCIDR, mockbase.BanAccount}),
		source: p.choice("source", []string{sourceManual, sourceRule}), rule: p.text("rule"),
	}
	l, err := p.listing("-createdAt", "expiresAt")
	if err != nil {
		return err
	}
	all, err := s.Guardian.List(c.ctx())
	if err != nil {
		return err
	}
	now := s.clock()
	views := []banView{}
	for i := range all {
		view := viewBan(&all[i])
		if filter.selects(&view, all[i].Active(now)) && l.finds(view.Subject.Value, view.Subject.Account, view.Reason) {
			views = append(views, view)
		}
	}
	total := len(views)
	onPage, next := cut(l, views, func(v banView) key { return v.key(l.sort) })
	return c.list(l, onPage, total, next)
}

// key is what a list of bans is sorted by. A ban without an end stands behind all that have one.
func (v *banView) key(sort string) key {
	switch {
	case sort != "expiresAt":
		return key{Text: v.CreatedAt, ID: v.ID}
	case v.ExpiresAt == nil:
		return key{Text: "~", ID: v.ID}
	default:
		return key{Text: *v.ExpiresAt, ID: v.ID}
	}
}

// getBan shows one ban (M-219).
func (s *Server) getBan(c *call) error {
	found, err := s.banOf(c)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, viewBan(&found))
}

func (s *Server) banOf(c *call) (mockbase.Ban, error) {
	id, err := pathParam(c, "id")
	if err != nil {
		return mockbase.Ban{}, err
	}
	return s.Guardian.Find(c.ctx(), id)
}

// createBan bans an address, a network or an account (M-226).
func (s *Server) createBan(c *call) error {
	var wish mockbase.Ban
	by := s.administrator(c)
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		if o := f.Object("subject"); o != nil {
			kinds := []string{mockbase.BanIP, mockbase.BanCIDR, mockbase.BanAccount}
			if o.Text("type", &wish.Subject.Type) && !slices.Contains(kinds, wish.Subject.Type) {
				o.Fault("type", mockbase.FieldEnum, "a subject is ip, cidr or account")
			}
			o.Line("value", &wish.Subject.Value)
			o.Required("type", "value")
			o.Done()
		}
		s.readEnd(f, &wish.ExpiresAt)
		readReason(f, &wish.Reason)
		f.Bool("force", &by.Force)
		f.Required("subject", "duration", "reason")
	})
	if err != nil {
		return err
	}
	answerTo := func(made *mockbase.Ban) *answer { return created(adminBans+"/"+made.ID, viewBan(made)) }
	c.replay.Foretell(func(made any) error {
		if b, ok := made.(mockbase.Ban); ok {
			c.foretell(answerTo(&b))
		}
		return nil
	})
	made, err := s.Guardian.Add(c.ctx(), wish, by)
	if err != nil {
		return err
	}
	return c.give(answerTo(&made))
}

// readEnd reads how long a ban shall last from now on, and tells whether it is stated.
func (s *Server) readEnd(f *mockbase.Fields, to *time.Time) bool {
	var text string
	if !f.Text("duration", &text) {
		return false
	}
	if text == forever {
		*to = time.Time{}
		return true
	}
	d, err := mockbase.ParseDuration(text)
	switch {
	case err != nil:
		f.Fault("duration", mockbase.FieldPattern, "write a time such as 1h or 7d, or forever")
	case d < time.Second || d > maxBan:
		f.Fault("duration", mockbase.FieldRange, "a ban lasts 1s to 3650d, or forever")
	}
	*to = s.clock().Add(d)
	return true
}

// maxBan is the longest ban with an end.
const maxBan = 3650 * 24 * time.Hour

func readReason(f *mockbase.Fields, to *string) bool {
	if !f.Line("reason", to) {
		return f.Has("reason")
	}
	*to = strings.TrimSpace(*to)
	if *to == "" || len(*to) > maxReason {
		f.Fault("reason", mockbase.FieldRange, "a reason has 1 to %d bytes", maxReason)
	}
	return true
}

// changeBan gives a ban another end or reason (M-227).
func (s *Server) changeBan(c *call) error {
	found, err := s.banOf(c)
	if err != nil {
		return err
	}
	var end time.Time
	var reason string
	var ends, reasoned bool
	err = c.object(typeMergePatch, func(f *mockbase.Fields) {
		ends = s.readEnd(f, &end)
		reasoned = readReason(f, &reason)
	})
	if err != nil {
		return err
	}
	change := func(b *mockbase.Ban) {
		if ends {
			b.ExpiresAt = end
		}
		if reasoned {
			b.Reason = reason
		}
	}
	next := found
	change(&next)
	c.noteChange(viewBan(&found), viewBan(&next))
	changed, err := s.Guardian.Change(c.ctx(), found.ID, change, s.administrator(c))
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, viewBan(&changed))
}

// deleteBan lifts one ban (M-228).
func (s *Server) deleteBan(c *call) error {
	found, err := s.banOf(c)
	if err != nil {
		return err
	}
	c.noteChange(viewBan(&found), nil)
	if err := s.auditedLift(c, []mockbase.Ban{found}); err != nil {
		return err
	}
	if _, err := s.Guardian.Lift(c.ctx(), []mockbase.Ban{found}, s.administrator(c)); err != nil {
		return err
	}
	return c.nothing()
}

// auditedLift writes the entry of bans that end in their register alone. Those of administrators are stored, and their entry
// with them.
func (s *Server) auditedLift(c *call, bans []mockbase.Ban) error {
	if slices.ContainsFunc(bans, func(b mockbase.Ban) bool { return b.Rule == "" }) {
		return nil
	}
	return s.audited(c)
}

// liftBans lifts all bans of a rule, or those with the ids that are named (M-218). One of the two is needed, so that
// nobody lifts all of them by a slip.
func (s *Server) liftBans(c *call) error {
	p := c.params()
	rule, ids := p.text("rule"), p.text("id")
	if (rule == "") == (ids == "") {
		p.fault("rule", mockbase.FieldRequired, "say which bans: either rule, or id with ids and commas between them")
	}
	if err := p.err(); err != nil {
		return err
	}
	all, err := s.Guardian.List(c.ctx())
	if err != nil {
		return err
	}
	named := strings.Split(ids, ",")
	var chosen []mockbase.Ban
	for i := range all {
		if rule != "" && all[i].Rule == rule || ids != "" && slices.Contains(named, all[i].ID) {
			chosen = append(chosen, all[i])
		}
	}
	c.noteChange(viewLifted(chosen), nil)
	if err := s.auditedLift(c, chosen); err != nil {
		return err
	}
	lifted, err := s.Guardian.Lift(c.ctx(), chosen, s.administrator(c))
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, struct {
		Lifted int `json:"lifted"`
	}{lifted})
}

// maxLiftedTold bounds the bans that an audit entry tells.
const maxLiftedTold = 100

// liftedView is what the audit log tells of bans that were lifted together.
type liftedView struct {
	Bans      []banView `json:"bans"`
	Count     int       `json:"count"`
	Truncated bool      `json:"truncated,omitempty"`
}

func viewLifted(bans []mockbase.Ban) liftedView {
	view := liftedView{Bans: []banView{}, Count: len(bans), Truncated: len(bans) > maxLiftedTold}
	for i := range bans[:min(len(bans), maxLiftedTold)] {
		view.Bans = append(view.Bans, viewBan(&bans[i]))
	}
	return view
}
