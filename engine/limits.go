package engine

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/simlimit"
	"github.com/mockbase/mockbase/engine/template"
)

// limits are the simulated limits of one mock (group X).
type limits struct {
	keeper *simlimit.Keeper
	list   []limit
	// uses is what their templates read.
	uses template.Uses
}

var _ limiter = (*limits)(nil)

// limit is one of them: a policy, and what of the request it is about.
type limit struct {
	*simlimit.Limit

	// named tells that the policy is one of the project's, which the mock uses by name.
	named bool
	key   key
	// cost is the number of units, unless a template says it.
	cost   int64
	costOf *script
	// response is what a limited request is answered; nil is a problem document.
	response *response
}

// limitsBuilder compiles the limits of one place.
type limitsBuilder struct {
	config   *mockbase.Config
	settings *settings
	// owner is the id, and name the name, of the mock or collection that has the limits.
	owner, name string
	// decision is the value of the decision header of limited answers.
	decision string
	faults   *mockbase.Faults
	made     limits
}

// limit gives a route the limits of its mock, and returns what their templates read.
func (r *route) limit(c *mockbase.Config, s *settings, faults *mockbase.Faults) template.Uses {
	l := compileLimits(c, s, r.mock, faults)
	if l == nil {
		return 0
	}
	r.limits = l
	return l.uses
}

// compileLimits compiles what a mock says about limits, or the project's default where it says nothing. Faults of the
// default are the configuration's, which is checked by itself.
func compileLimits(c *mockbase.Config, s *settings, m *mockbase.Mock, faults *mockbase.Faults) *limits {
	b := &limitsBuilder{config: c, settings: s, owner: m.ID, name: cmp.Or(m.Name, "mock"), decision: s.decision(m.Name), faults: faults}
	if m.RateLimit == nil {
		b.faults = new(mockbase.Faults)
		return b.build(c.Defaults.RateLimit, "#/rateLimit")
	}
	return b.build(m.RateLimit, "#/rateLimit")
}

// compileCollectionLimits compiles what a collection says about limits. All its routes share the buckets.
func compileCollectionLimits(c *mockbase.Config, s *settings, own *mockbase.Collection, faults *mockbase.Faults) *limits {
	name := "collection/" + own.Name
	b := &limitsBuilder{config: c, settings: s, owner: "collection_" + own.Name, name: own.Name, decision: s.decision(name), faults: faults}
	return b.build(own.RateLimit, "#/collections/"+mockbase.PointerToken(own.Name)+"/rateLimit")
}

// namedLimit is a compiled policy of the project.
type namedLimit struct {
	name string
	*simlimit.Limit
}

// policiesOf compiles the project's named policies, for those who manage them.
func (s *settings) policiesOf(c *mockbase.Config) []namedLimit {
	if s.limits == nil {
		return nil
	}
	list := make([]namedLimit, 0, len(c.RateLimits))
	for i := range c.RateLimits {
		own := &c.RateLimits[i]
		// A policy that does not compile was refused when it was saved.
		if compiled := simlimit.Compile(&own.Policy, simlimit.PolicyPlace(own.Name), "#", new(mockbase.Faults)); compiled != nil {
			list = append(list, namedLimit{own.Name, compiled})
		}
	}
	return list
}

// build compiles one or several limits; it returns nil where none is asked for.
func (b *limitsBuilder) build(given *mockbase.RateLimit, at string) *limits {
	if !limited(given) || b.settings.limits == nil {
		return nil
	}
	b.made = limits{keeper: b.settings.limits}
	own := 0
	for i := range given.Limits {
		where := at
		if given.List {
			where = pointerTo(at, strconv.Itoa(i))
		}
		one := &given.Limits[i]
		if one.Use == "" && one.Policy == nil {
			continue // neither could be read, which is known already
		}
		if one.Use == "" {
			b.add(one, one.Policy, simlimit.OwnPlace(b.owner, b.name, own), where)
			own++
			continue
		}
		// A name that does not exist is reported by CheckReferences.
		if policy := b.policy(one.Use); policy != nil {
			b.use(one, policy, where)
		}
	}
	if len(b.made.list) == 0 {
		return nil
	}
	made := b.made
	return &made
}

// limited tells whether a simulated limit is asked for; "none" asks for what is so anyway.
func limited(r *mockbase.RateLimit) bool { return r != nil && !r.None }

func (b *limitsBuilder) policy(name string) *mockbase.LimitPolicy {
	i := slices.IndexFunc(b.config.RateLimits, func(n mockbase.NamedLimit) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &b.config.RateLimits[i].Policy
}

// use adds a named policy. What is wrong with it is the configuration's; the cost is the mock's.
func (b *limitsBuilder) use(one *mockbase.Limit, policy *mockbase.LimitPolicy, at string) {
	own := b.faults
	b.faults = new(mockbase.Faults)
	before := len(b.made.list)
	b.add(&mockbase.Limit{Cost: policy.Cost, CostTemplate: policy.CostTemplate}, policy, simlimit.PolicyPlace(one.Use), at)
	b.faults = own
	if len(b.made.list) == before {
		return
	}
	added := &b.made.list[before]
	added.named = true
	if one.Cost != nil || one.CostTemplate != "" {
		b.price(added, one, at)
	}
	b.apart(added, at)
}

// add adds the limit of a policy.
func (b *limitsBuilder) add(one *mockbase.Limit, policy *mockbase.LimitPolicy, place simlimit.Place, at string) {
	faults := b.faults
	if policy.Unread {
		faults = new(mockbase.Faults) // what was read must not be judged by what was not
	}
	compiled := simlimit.Compile(policy, place, at, faults)
	if compiled != nil && policy.Mode == "disabled" {
		return
	}
	l := limit{Limit: compiled, key: b.key(policy.Keys, at)}
	b.price(&l, one, at)
	if policy.OnExceed != nil && policy.OnExceed.Response != nil {
		l.response = b.response(policy.OnExceed.Response, pointerTo(at, "onExceed", "response"))
	}
	if compiled == nil {
		return
	}
	b.made.list = append(b.made.list, l)
	b.apart(&b.made.list[len(b.made.list)-1], at)
}

// price says what a request costs.
func (b *limitsBuilder) price(l *limit, one *mockbase.Limit, at string) {
	l.cost, l.costOf = 1, nil
	if one.Cost != nil {
		l.cost = *one.Cost
	}
	if one.CostTemplate != "" {
		l.costOf = b.script(one.CostTemplate, pointerTo(at, "cost"), "cost")
	}
}

// apart refuses two limits of one mock in the same bucket: they would be charged twice for one request.
func (b *limitsBuilder) apart(l *limit, at string) {
	for i := range b.made.list {
		other := &b.made.list[i]
		if other.Limit != l.Limit && other.Shares(l.Limit) {
			b.faults.Append(mockbase.FieldError{
				Pointer: at, Code: mockbase.FieldConflict, Detail: "counts in the bucket " + l.Bucket() + ", as another limit of this list does",
			})
			return
		}
	}
}

// key compiles the texts of a key. Secrets are told apart by their digests, so that no store and no journal holds them.
func (b *limitsBuilder) key(texts []string, at string) key {
	var k key
	for i, text := range texts {
		kind, name, _ := strings.Cut(text, ":")
		part := keyPartOf(kind, name)
		switch {
		case kind == "template":
			where := pointerTo(at, "key")
			if len(texts) > 1 {
				where = pointerTo(where, strconv.Itoa(i))
			}
			part = templatePart(b.script(name, where, "key"), name)
		case kind == "cookie", kind == "header" && isSecretHeader(textproto.CanonicalMIMEHeaderKey(name)), kind == "query" && mockbase.IsSecretName(name):
			part = digested(part)
		}
		if part != nil {
			k.parts = append(k.parts, part)
		}
	}
	return k
}

// script compiles a text that is a template, whatever its place says about templates; nil is a constant or a fault.
func (b *limitsBuilder) script(text, pointer, what string) *script {
	compiled, err := b.settings.scripts.compile(scriptKey{source: text})
	if err != nil {
		fault := syntaxFault(pointer, err)
		if what == "key" && fault.Inside.Line == 1 {
			fault.Inside.Column += len("template:") // which the text begins with
		}
		b.faults.Append(fault)
		return nil
	}
	b.made.uses |= compiled.Uses()
	return &script{template: compiled, what: what}
}

// templatePart is a key that a template says; one that says nothing, or fails, is missing.
func templatePart(s *script, constant string) keyPart {
	if s == nil {
		return func(*call) (string, bool) { return constant, true }
	}
	return func(c *call) (string, bool) {
		text, failed := s.text(c)
		if failed != nil {
			c.note(failed.detail)
			return "", false
		}
		if s.shown(c, text) != "" {
			// Keys are shown (rule M-81).
			return c.engine.digest(text), text != ""
		}
		return text, text != ""
	}
}

// digested replaces the value of a part by its digest.
func digested(part keyPart) keyPart {
	return func(c *call) (string, bool) {
		text, ok := part(c)
		if !ok {
			return "", false
		}
		return c.engine.digest(text), true
	}
}

// response compiles the author's own answer. Of the project's defaults that of templates applies: headers and delays are
// for what mocks answer themselves.
func (b *limitsBuilder) response(given *mockbase.PlainResponse, at string) *response {
	bare := *b.config
	bare.Defaults = mockbase.Defaults{Template: b.config.Defaults.Template}
	source := &mockbase.Response{
		Status: given.Status, StatusTemplate: given.StatusTemplate, Headers: given.Headers, Body: given.Body,
		Template: given.Template, Delay: given.Delay,
	}
	if source.Status == 0 && source.StatusTemplate == "" {
		source.Status = http.StatusTooManyRequests
	}
	w := &workbench{config: &bare, settings: b.settings, decision: b.decision, faults: b.faults, at: at}
	r := new(response)
	w.compile(r, source)
	b.made.uses |= r.uses
	return r
}

// asks are the questions that a request puts to the limits.
func (l *limits) asks(c *call) ([]simlimit.Ask, *failure) {
	// What is rendered here is rendered before the mock is chosen, and the answer sees another moment.
	defer c.forgetScope()
	list := make([]simlimit.Ask, len(l.list))
	for i := range l.list {
		own := &l.list[i]
		text := own.key.of(c)
		list[i] = simlimit.Ask{By: own.Limit, Key: text, Label: text, Cost: own.cost}
		if own.costOf == nil {
			continue
		}
		var failed *failure
		if list[i].Cost, failed = readText(c, own.costOf, parseCost); failed != nil {
			return nil, failed
		}
	}
	return list, nil
}

// parseCost reads a rendered cost. One that is too large for a number is too large for every limit.
func parseCost(text string) (int64, error) {
	cost, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(strings.TrimSpace(text), "-") {
		return cost, nil
	}
	if err != nil || cost < 0 {
		return 0, fmt.Errorf("%s is no whole number of at least 0", quoted(text))
	}
	return cost, nil
}
