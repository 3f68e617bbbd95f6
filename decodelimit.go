package mockbase

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of a simulated limit (mock format, section 6).
const (
	maxLimit      = 10_000_000
	maxLogLimit   = 1_000_000
	minWindow     = 100 * time.Millisecond
	maxWindow     = 30 * day
	maxKeys       = 3
	maxLimits     = 5
	maxDialects   = 3
	maxLimitDelay = time.Minute
	// defaultLease is the life of a place of concurrency whose owner died.
	defaultLease = 5 * time.Minute
)

// decodeRateLimit reads none, one limit or several.
func decodeRateLimit(at place) *RateLimit {
	switch {
	case at.Kind == NodeText && at.Text == "none":
		return &RateLimit{None: true}
	case at.Kind != NodeList:
		return &RateLimit{Limits: []Limit{decodeLimit(at)}}
	}
	r := &RateLimit{List: true}
	for _, item := range at.items(1, maxLimits) {
		r.Limits = append(r.Limits, decodeLimit(item))
	}
	return r
}

// decodeLimit reads "limit/window", a reference to a named policy, or a policy.
func decodeLimit(at place) Limit {
	switch at.Kind {
	case NodeText:
		return Limit{Policy: decodeLimitShorthand(at)}
	case NodeObject:
	default:
		at.fault(FieldType, "must be a text such as 5/10s or an object, found %s", at.describe())
		return Limit{}
	}
	f := at.fields()
	if !f.Has("use") {
		policy := decodePolicy(f, "use")
		return Limit{Policy: &policy, Cost: policy.Cost, CostTemplate: policy.CostTemplate}
	}
	var limit Limit
	f.slug("use", &limit.Use)
	limit.Cost, limit.CostTemplate = decodeCost(f)
	for _, m := range f.node.Members {
		if slices.Contains(policyKeys(), m.Key) && m.Key != "cost" {
			f.Node(m.Key)
			f.Fault(m.Key, FieldConflict, "cannot stand beside use: the named policy says it")
		}
	}
	f.Done()
	return limit
}

// defaultPolicy is a policy of which nothing but the numbers is stated.
func defaultPolicy() LimitPolicy {
	return LimitPolicy{
		Algorithm: "fixed_window", Align: "first_request", Keys: []string{"global"}, Mode: "enforce",
		Headers: []string{"x"}, Reset: "epoch",
	}
}

// decodeLimitShorthand reads "5/10s" or "100/m".
func decodeLimitShorthand(at place) *LimitPolicy {
	p := defaultPolicy()
	count, window, found := strings.Cut(at.Text, "/")
	digits, rest := leadingDigits(count)
	unit, after := leadingUnit(window)
	if unit == 0 || after != "" {
		number, _ := leadingDigits(window)
		if unit, after = leadingUnit(window[len(number):]); number == "" {
			unit = 0
		}
	} else {
		window = "1" + window
	}
	if !found || digits == "" || rest != "" || unit == 0 || after != "" {
		at.fault(FieldPattern, `%s is no limit: write "limit/window", such as 5/10s or 100/m`, quote(at.Text))
		return &p
	}
	var err error
	if p.Limit, err = strconv.ParseInt(count, 10, 64); err != nil || p.Limit > maxLimit {
		at.fault(FieldRange, "the limit must be from 0 to %d, found %s", maxLimit, quote(count))
	}
	if p.Window, err = ParseDuration(window); err != nil {
		p.Window = maxWindow + 1
	}
	checkWindow(at, p.Window)
	return &p
}

func checkWindow(at place, window time.Duration) {
	switch {
	case window < minWindow, window > maxWindow:
		at.fault(FieldRange, "the window must be from 100ms to 30d, found %s", quote(at.Text))
	case window%time.Millisecond != 0:
		at.fault(FieldRange, "the window must be whole milliseconds, found %s", quote(at.Text))
	}
}

// policyKeys are the members of a policy.
func policyKeys() []string {
	return []string{
		"algorithm", "limit", "window", "burst", "align", "key", "cost", "mode", "bucket", "headers", "reset", "retryAfter",
		"showLimitedBy", "warnAt", "initialUsed", "after", "onExceed", "ban",
	}
}

// DecodeLimitPolicy reads a named policy (mock format, section 6) at a place of a document, as M-207 and M-214 take it. What
// is wrong is appended to the faults.
func DecodeLimitPolicy(n *Node, pointer string, faults *Faults) *LimitPolicy {
	p := decodeNamedPolicy(place{n, pointer, faults})
	return &p
}

// decodePolicy reads a policy; further are keys that its author may have meant.
func decodePolicy(f *Fields, further ...string) LimitPolicy {
	p := defaultPolicy()
	before := f.faults.Len()
	if !oneOf(f, "algorithm", &p.Algorithm,
		"fixed_window", "sliding_window", "sliding_log", "token_bucket", "leaky_bucket", "gcra", "concurrency") && f.Has("algorithm") {
		p.Algorithm = ""
	}
	if !f.Int64("limit", &p.Limit, 0, maxLimit) && f.Has("limit") {
		p.Limit = maxLimit // from which nothing follows for others
	}
	if f.Duration("window", &p.Window) {
		checkWindow(place{f.node.Find("window"), f.Pointer("window"), f.faults}, p.Window)
	}
	p.Burst = f.optionalInt64("burst", 1, maxLimit)
	oneOf(f, "align", &p.Align, "first_request", "clock")
	if at, ok := f.at("key"); ok {
		p.Keys = decodeLimitKeys(at)
	}
	p.Cost, p.CostTemplate = decodeCost(f)
	oneOf(f, "mode", &p.Mode, "enforce", "dry_run", "disabled")
	f.slug("bucket", &p.Bucket)
	decodeLimitHeaders(f, &p)
	oneOf(f, "reset", &p.Reset, "seconds", "epoch", "epoch_ms", "http_date")
	oneOf(f, "retryAfter", &p.RetryAfter, "seconds", "http_date", "none")
	f.negated("showLimitedBy", &p.HideLimited)
	p.WarnAt = f.optionalFloat("warnAt", 1)
	f.Int64("initialUsed", &p.InitialUsed, 0, math.MaxInt64)
	var after string
	p.AfterAuth = oneOf(f, "after", &after, "auth")
	p.OnExceed = decodeMember(f, "onExceed", decodeOnExceed)
	p.Ban = decodeMember(f, "ban", decodeBan)
	f.Required("limit")
	f.known = append(f.known, further...)
	f.Done()
	if slices.Contains(f.meant, "algorithm") {
		p.Algorithm = ""
	}
	checkPolicy(f, &p)
	p.Unread = f.faults.Len() > before
	return p
}

// checkPolicy notes members that need or exclude others.
func checkPolicy(f *Fields, p *LimitPolicy) {
	if p.Algorithm == "" {
		return // nobody knows what it was to be
	}
	if p.Algorithm == "concurrency" && !f.Has("window") {
		p.Window = defaultLease
	}
	if p.Algorithm != "concurrency" && !f.Has("window") {
		f.missing("window", "is missing: only concurrency does without")
	}
	f.needsAlgorithm("burst", p.Algorithm, "token_bucket", "leaky_bucket", "gcra")
	f.needsAlgorithm("align", p.Algorithm, "fixed_window")
	if p.Algorithm != "fixed_window" {
		p.Align = ""
	}
	if (p.Algorithm == "sliding_log" || p.Algorithm == "concurrency") && p.Limit > maxLogLimit {
		f.Fault("limit", FieldRange, "must be at most %d with %s, found %d", maxLogLimit, p.Algorithm, p.Limit)
	}
	if p.InitialUsed > p.Limit && f.Has("limit") {
		f.Fault("initialUsed", FieldRange, "must be at most the limit of %d, found %d", p.Limit, p.InitialUsed)
	}
}

// needsAlgorithm notes a member that other algorithms have.
func (f *Fields) needsAlgorithm(name, algorithm string, algorithms ...string) {
	if f.Has(name) && !slices.Contains(algorithms, algorithm) {
		f.Fault(name, FieldConflict, "needs algorithm: %s", alternatives(algorithms))
	}
}

// decodeLimitKeys reads one key or up to three.
func decodeLimitKeys(at place) []string {
	if at.Kind == NodeText {
		checkLimitKey(at, at.Text)
		return []string{at.Text}
	}
	if at.Kind != NodeList {
		at.fault(FieldType, "must be a key or a list of keys, found %s", at.describe())
		return nil
	}
	return distinct(at.items(1, maxKeys), checkLimitKey)
}

func checkLimitKey(at place, key string) bool {
	kind, name, _ := strings.Cut(key, ":")
	valid := false
	switch kind {
	case "global", "ip", "session":
		valid = kind == key
	case "header", "query", "cookie", "path", "jwt":
		valid = name != "" && !strings.Contains(name, ":") && !strings.ContainsFunc(name, isBlank)
	case "template":
		valid = name != "" && !strings.ContainsAny(name, "\r\n\u2028\u2029")
	}
	if !valid {
		at.fault(FieldPattern, "%s is no key: write global, ip, session, header:N, query:N, cookie:N, path:N, jwt:claim or template:…", quote(key))
	}
	return valid
}

// decodeCost reads a number of units or a template for one.
func decodeCost(f *Fields) (cost *int64, template string) {
	at, ok := f.at("cost")
	switch {
	case !ok:
		return nil, ""
	case at.Kind == NodeText && isTemplate(at.Text):
		return nil, at.Text
	case at.Kind != NodeNumber:
		at.fault(FieldType, "must be a whole number or a template with {{ … }}, found %s", at.describe())
		return nil, ""
	}
	value, isWhole, fits := wholeNumber(at.Text)
	if !isWhole || !fits || value < 0 {
		at.fault(FieldRange, "must be a whole number of at least 0, found %s", at.Text)
		return nil, ""
	}
	return &value, ""
}

// decodeLimitHeaders reads one dialect, several, or names of the author's own.
func decodeLimitHeaders(f *Fields, p *LimitPolicy) {
	at, ok := f.at("headers")
	if !ok {
		return
	}
	dialects := []string{"draft", "split", "x", "x-github", "x-delta"}
	switch at.Kind {
	case NodeText:
		var dialect string
		if enumerated(at, at.Text, &dialect, append(dialects, "none")...) {
			p.Headers = []string{dialect}
		}
	case NodeList:
		p.Headers = distinct(at.items(1, maxDialects), func(at place, text string) bool {
			return enumerated(at, text, &text, dialects...)
		})
		if slices.Contains(p.Headers, "draft") && slices.Contains(p.Headers, "split") {
			at.fault(FieldConflict, "draft and split exclude each other: they use the same names")
		}
	case NodeObject:
		p.Headers, p.HeaderNames = nil, decodeLimitHeaderNames(at)
	default:
		at.fault(FieldType, "must be a dialect, a list of dialects or an object with names, found %s", at.describe())
	}
}

func decodeLimitHeaderNames(at place) *LimitHeaderNames {
	f := at.fields()
	names := &LimitHeaderNames{}
	f.headerName("limit", &names.Limit)
	f.headerName("remaining", &names.Remaining)
	f.headerName("reset", &names.Reset)
	f.Done()
	f.needsAny("name")
	return names
}

// headerName reads the name of a header.
func (f *Fields) headerName(name string, to *string) {
	if f.Text(name, to) && !validToken(*to) {
		place{f.node.Find(name), f.Pointer(name), f.faults}.noHeaderName(*to)
	}
}

func decodeOnExceed(at place) *OnExceed {
	f := at.fields()
	o := &OnExceed{Action: "reject"}
	known := oneOf(f, "action", &o.Action, "reject", "delay", "drop") || !f.Has("action")
	if f.Duration("maxDelay", &o.MaxDelay) && o.MaxDelay > maxLimitDelay {
		f.Fault("maxDelay", FieldRange, "must be at most 60s, found %s", o.MaxDelay)
	}
	o.Response = decodeMember(f, "response", decodePlain)
	f.Done()
	if known && f.Has("maxDelay") && o.Action != "delay" {
		f.Fault("maxDelay", FieldConflict, "needs action: delay")
	}
	return o
}

func decodeBan(at place) *LimitBan {
	f := at.fields()
	b := &LimitBan{}
	f.Int("after", &b.After, 1, math.MaxInt)
	f.Duration("within", &b.Within)
	f.Duration("for", &b.For)
	f.Required("after", "within", "for")
	f.Done()
	return b
}
