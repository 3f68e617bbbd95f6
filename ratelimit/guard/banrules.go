package guard

import (
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// ParseBans reads rules for bans, separated by commas, as in
//
//	5/10m ban=15m key=ip+account, 20/10m ban=1h key=ip growth=2
//
// Each says how many offences within which time, and how long the ban is; the parts of the key, the growth, extend=true
// and a name are optional. Times are those of Go and whole days, such as 1d. Rules without a name are named after the
// place: with -1, -2 … if there are several. What cannot be read is a *ratelimit.RuleError with the place of the fault.
func ParseBans(text, place string) ([]BanRule, error) {
	var rules []BanRule
	offset := 0
	for item := range strings.SplitSeq(text, ",") {
		r := BanRule{}
		if err := parseBan(text, item, offset, &r); err != nil {
			return nil, err
		}
		rules = append(rules, r)
		offset += len(item) + 1
	}
	for i := range rules {
		r := &rules[i]
		if r.Name == "" {
			r.Name = place
			if len(rules) > 1 {
				r.Name += "-" + strconv.Itoa(i+1)
			}
		}
		if err := r.Validate(); err != nil {
			return nil, &ratelimit.RuleError{Input: text, Offset: 0, Reason: err.Error()}
		}
	}
	return rules, nil
}

// parseBan reads one rule, which begins at the offset.
func parseBan(text, item string, offset int, r *BanRule) error {
	place, first := 0, true
	for word := range strings.FieldsSeq(item) {
		place += strings.Index(item[place:], word)
		read := parseBanOption
		if first {
			read = parseOffences
		}
		if reason := read(word, r); reason != "" {
			return &ratelimit.RuleError{Input: text, Offset: offset + place, Reason: reason}
		}
		place += len(word)
		first = false
	}
	if first || r.BanTime == 0 {
		return &ratelimit.RuleError{Input: text, Offset: offset, Reason: `want a rule with a ban, as in "5/10m ban=15m"`}
	}
	return nil
}

// parseOffences reads a number and a time, and returns what is wrong with them.
func parseOffences(word string, r *BanRule) (reason string) {
	number, within, _ := strings.Cut(word, "/")
	count, err := strconv.ParseInt(number, 10, 64)
	if err != nil || count < 1 || count > ratelimit.MaxRetries {
		return `want a number of offences and a time, as in "5/10m"`
	}
	r.MaxRetry = count
	if r.FindTime = parseTime(within); r.FindTime == 0 {
		return `want a time after the slash, as in "5/10m"`
	}
	return ""
}

// parseBanOption reads one option, and returns what is wrong with it.
func parseBanOption(word string, r *BanRule) (reason string) {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "ban":
		if r.BanTime = parseTime(value); r.BanTime == 0 {
			return `want a time, as in "ban=15m"`
		}
	case "key":
		r.Key.Parts = strings.Split(value, "+")
		if err := r.Key.validate(""); err != nil {
			return `want the parts of a key, as in "key=ip+account"`
		}
	case "name":
		if r.Name = value; !ratelimit.ValidName(value) {
			return "want a name of letters, digits, dashes and underscores"
		}
	case "growth", "extend":
		return parseRepeats(name, value, r)
	default:
		return "want ban, key, growth, extend or name"
	}
	return ""
}

// parseRepeats reads what becomes of those who go on.
func parseRepeats(name, value string, r *BanRule) (reason string) {
	if name == "extend" {
		if r.Extend = value == "true"; !r.Extend && value != "false" {
			return `want "extend=true" or "extend=false"`
		}
		return ""
	}
	growth, err := strconv.ParseFloat(value, 64)
	if err != nil || !(growth >= 1) {
		return `want a factor of at least 1, as in "growth=2"`
	}
	r.Growth = growth
	return ""
}

const day = 24 * time.Hour

// parseTime reads a time from 1 ms on; 0 is none.
func parseTime(text string) time.Duration {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		count, err := strconv.ParseUint(days, 10, 16)
		if d := time.Duration(count) * day; err == nil && d <= ratelimit.MaxWindow {
			return d
		}
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < ratelimit.MinWindow || d > ratelimit.MaxWindow {
		return 0
	}
	return d
}

// SignInBans are the rules of sign-in if nobody says otherwise (rule RL96): five failures in ten minutes for one address
// and account, twenty from one address. The part "account" must be known to whoever builds attempts.
const SignInBans = "5/10m ban=15m key=ip+account, 20/10m ban=1h key=ip"
