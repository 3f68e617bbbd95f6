package ratelimit

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxRuleText bounds the text that ParseRules reads.
	maxRuleText = 4096
	wantNumber  = `want a number, as in "100/minute"`
	wantUnit    = "want a unit: ms, s, m, h or d, or their long names"
	wantPer     = `want "/" or " per ", as in "100/minute"`
)

// ParseRules reads a list of policies (rules RL18 to RL21):
//
//	rules  = rule *( ( "," | ";" | " and " ) rule )
//	rule   = digits ( "/" | " per " ) [ digits ] unit *( " " option )
//	unit   = ms | s sec second(s) | m min minute(s) | h hour(s) | d day(s)
//	option = ("algorithm" | "burst" | "align" | "name") "=" value
//
// Case and surrounding blanks do not matter. All policies of a list must allow; they are judged in the order written. A
// wrong text is a *[RuleError] with the offset of the fault in bytes. Whether the numbers work together is the question
// of [Policy.Validate].
func ParseRules(text string) ([]Policy, error) {
	p := ruleParser{input: text, text: strings.ToLower(text)}
	if len(p.text) != len(text) || len(text) > maxRuleText {
		return nil, &RuleError{Input: text, Offset: 0, Reason: "want at most 4096 bytes of ASCII text"}
	}
	var policies []Policy
	for {
		policy, err := p.rule()
		if err != nil {
			return nil, err
		}
		policies = append(policies, policy)
		if p.skipBlanks(); p.at == len(p.text) {
			return policies, nil
		}
		if !p.separator() {
			return nil, p.fault(p.at, `want ",", ";", " and " or an option such as "burst=5"`)
		}
	}
}

// NameRules gives the unnamed policies of a list the name of their place: the name itself if there is one policy, else
// the name with -1, -2 and so on (rule RL19).
func NameRules(policies []Policy, place string) {
	for i := range policies {
		switch {
		case policies[i].Name != "":
		case len(policies) == 1:
			policies[i].Name = place
		default:
			policies[i].Name = place + "-" + strconv.Itoa(i+1)
		}
	}
}

// ruleParser reads one text. The positions in text are those in input.
type ruleParser struct {
	input, text string
	at          int
}

func (p *ruleParser) fault(offset int, reason string) *RuleError {
	return &RuleError{Input: p.input, Offset: offset, Reason: reason}
}

func (p *ruleParser) rule() (Policy, error) {
	p.skipBlanks()
	limit, err := p.number(MaxLimit)
	if err != nil {
		return Policy{}, err
	}
	if !p.per() {
		return Policy{}, p.fault(p.at, wantPer)
	}
	window, err := p.window()
	if err != nil {
		return Policy{}, err
	}
	policy := Policy{Limit: limit, Window: window}
	options := optionReader{ruleParser: p, policy: &policy}
	if err := options.read(); err != nil {
		return Policy{}, err
	}
	return policy, nil
}

// per reads what stands between the limit and the window.
func (p *ruleParser) per() bool {
	start := p.at
	p.skipBlanks()
	if p.take("/") {
		return true
	}
	if p.at > start && p.take("per ") {
		return true
	}
	p.at = start
	return false
}

func (p *ruleParser) window() (time.Duration, error) {
	p.skipBlanks()
	start, count := p.at, int64(1)
	if p.digits() != "" {
		p.at = start
		number, err := p.number(int64(MaxWindow / MinWindow))
		if err != nil {
			return 0, err
		}
		count = number
		p.skipBlanks()
	}
	place := p.at
	unit, ok := unitOf(p.word())
	if !ok {
		return 0, p.fault(place, wantUnit)
	}
	if count == 0 || count > int64(MaxWindow/unit) {
		return 0, p.fault(start, "want a window from 1 ms to 3,653 days")
	}
	return time.Duration(count) * unit, nil
}

func unitOf(word string) (time.Duration, bool) {
	const day = 24 * time.Hour
	switch word {
	case "ms":
		return time.Millisecond, true
	case "s", "sec", "second", "seconds":
		return time.Second, true
	case "m", "min", "minute", "minutes":
		return time.Minute, true
	case "h", "hour", "hours":
		return time.Hour, true
	case "d", "day", "days":
		return day, true
	default:
		return 0, false
	}
}

// separator reads what stands between two rules.
func (p *ruleParser) separator() bool {
	return p.take(",") || p.take(";") || p.blankBefore() && p.take("and ")
}

// optionReader reads the options of one rule, each at most once.
type optionReader struct {
	*ruleParser

	policy *Policy
	seen   []string
	// burstAt and alignAt are where these options were written, since only the algorithm, which may come later, says
	// whether they have a meaning.
	burstAt, alignAt int
}

func (o *optionReader) read() error {
	for {
		o.skipBlanks()
		start := o.at
		if !o.blankBefore() || o.startsWith("and ") || !o.startsWithLetter() {
			return o.check()
		}
		name := o.word()
		if !o.take("=") || !slices.Contains([]string{"algorithm", "burst", "align", "name"}, name) {
			return o.fault(start, "want an option: algorithm=, burst=, align= or name=")
		}
		if slices.Contains(o.seen, name) {
			return o.fault(start, "the option "+name+" is given twice")
		}
		o.seen = append(o.seen, name)
		if err := o.value(name, start); err != nil {
			return err
		}
	}
}

func (o *optionReader) value(name string, start int) error {
	place := o.at
	switch name {
	case "algorithm":
		known := []Algorithm{FixedWindow, SlidingWindow, SlidingLog, TokenBucket, LeakyBucket, GCRA, Concurrency}
		o.policy.Algorithm = Algorithm(o.token())
		if !slices.Contains(known, o.policy.Algorithm) {
			return o.fault(place, "want fixed_window, sliding_window, sliding_log, token_bucket, leaky_bucket, gcra or concurrency")
		}
	case "burst":
		burst, err := o.number(MaxLimit)
		if err != nil {
			return err
		}
		o.policy.Burst, o.burstAt = burst, start
		if burst == 0 {
			return o.fault(place, "want a burst of at least 1")
		}
	case "align":
		o.policy.Align, o.alignAt = Align(o.token()), start
		if o.policy.Align != AlignClock && o.policy.Align != AlignFirstRequest {
			return o.fault(place, "want clock or first_request")
		}
	default:
		if o.policy.Name = o.token(); !ValidName(o.policy.Name) {
			return o.fault(place, "want a name of a-z, 0-9, _ and -, at most 64 characters")
		}
	}
	return nil
}

// check refuses the options that have no meaning for the algorithm.
func (o *optionReader) check() error {
	if o.policy.Burst != 0 && !o.policy.Algorithm.hasBurst() {
		return o.fault(o.burstAt, "only token_bucket, leaky_bucket and gcra have a burst")
	}
	if o.policy.Align != "" && !o.policy.Algorithm.hasAlign() {
		return o.fault(o.alignAt, "only fixed_window has an align")
	}
	return nil
}

// number reads digits, at most the given number.
func (p *ruleParser) number(most int64) (int64, error) {
	start := p.at
	digits := p.digits()
	if digits == "" {
		return 0, p.fault(start, wantNumber)
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || number > most {
		return 0, p.fault(start, "want a number of at most "+strconv.FormatInt(most, 10))
	}
	return number, nil
}

func (p *ruleParser) digits() string {
	return p.span(func(c byte) bool { return c >= '0' && c <= '9' })
}

func (p *ruleParser) word() string {
	return p.span(func(c byte) bool { return c >= 'a' && c <= 'z' })
}

func (p *ruleParser) token() string {
	return p.span(func(c byte) bool { return c != ' ' && c != '\t' && c != ',' && c != ';' })
}

func (p *ruleParser) span(holds func(byte) bool) string {
	start := p.at
	for p.at < len(p.text) && holds(p.text[p.at]) {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *ruleParser) take(literal string) bool {
	if !p.startsWith(literal) {
		return false
	}
	p.at += len(literal)
	return true
}

func (p *ruleParser) startsWith(literal string) bool {
	return strings.HasPrefix(p.text[p.at:], literal)
}

func (p *ruleParser) startsWithLetter() bool {
	return p.at < len(p.text) && p.text[p.at] >= 'a' && p.text[p.at] <= 'z'
}

func (p *ruleParser) skipBlanks() {
	p.span(func(c byte) bool { return c == ' ' || c == '\t' })
}

func (p *ruleParser) blankBefore() bool {
	return p.at > 0 && (p.text[p.at-1] == ' ' || p.text[p.at-1] == '\t')
}

// FormatRules writes policies as ParseRules reads them. The window is written in the largest unit that divides it, and
// an option only where the policy states it. What Validate refuses may come out as a text that does not parse.
func FormatRules(policies []Policy) string {
	var text []byte
	for i := range policies {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = appendRule(text, &policies[i])
	}
	return string(text)
}

func appendRule(text []byte, p *Policy) []byte {
	count, unit := int64(p.Window/time.Millisecond), "ms"
	for _, larger := range []struct {
		ratio int64
		unit  string
	}{{1000, "s"}, {60, "m"}, {60, "h"}, {24, "d"}} {
		if count == 0 || count%larger.ratio != 0 {
			break
		}
		count, unit = count/larger.ratio, larger.unit
	}
	text = strconv.AppendInt(text, p.Limit, 10)
	text = append(text, '/')
	text = strconv.AppendInt(text, max(1, count), 10)
	text = append(text, unit...)
	text = appendOption(text, "algorithm", string(p.Algorithm))
	if p.Burst != 0 {
		text = appendOption(text, "burst", strconv.FormatInt(p.Burst, 10))
	}
	text = appendOption(text, "align", string(p.Align))
	return appendOption(text, "name", p.Name)
}

func appendOption(text []byte, name, value string) []byte {
	if value == "" {
		return text
	}
	text = append(text, ' ')
	text = append(text, name...)
	text = append(text, '=')
	return append(text, value...)
}
