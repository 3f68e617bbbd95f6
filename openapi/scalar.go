package openapi

import (
	"cmp"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// number makes the smallest number that meets the bounds, 0 without bounds (rule W41), or a random one near them.
func (g *generator) number(s *shape) (*mockbase.Node, error) {
	step := s.multiple
	whole := s.kinds.has("integer") && !s.kinds.has("number")
	if whole {
		step = commonMultiple(step, big.NewRat(1, 1))
	}
	value := s.smallest(step)
	if g.random != nil {
		value = g.drawn(s, step, value, whole)
	}
	if g.variant > 0 {
		value = g.apartFrom(s, step, value, whole)
	}
	if !s.allows(value) {
		return nil, errUnmet
	}
	return &mockbase.Node{Kind: mockbase.NodeNumber, Text: numberText(value)}, nil
}

// apartFrom is the number of the variant, in steps from the first; after the last one comes the first again.
func (g *generator) apartFrom(s *shape, step, first *big.Rat, whole bool) *big.Rat { //nolint:revive // whole is a fact about the schema
	one := big.NewRat(1, 1)
	if step == nil {
		if g.between && !whole {
			first = new(big.Rat).Add(first, big.NewRat(1, 2))
		}
		step = one
	}
	n := big.NewRat(int64(g.variant), 1)
	value := new(big.Rat).Add(first, new(big.Rat).Mul(step, n))
	if s.allows(value) || s.highest == nil || s.highest.Cmp(first) < 0 {
		return value
	}
	n.Sub(n, new(big.Rat).Mul(s.steps(step, first), floor(new(big.Rat).Quo(n, s.steps(step, first)))))
	return new(big.Rat).Add(first, new(big.Rat).Mul(step, n))
}

// steps counts the numbers from a first one to the highest.
func (s *shape) steps(step, first *big.Rat) *big.Rat {
	wide := new(big.Rat).Quo(new(big.Rat).Sub(s.highest, first), step)
	count := floor(wide)
	if !s.highestOpen || count.Cmp(wide) != 0 || count.Sign() == 0 {
		count.Add(count, big.NewRat(1, 1))
	}
	return count
}

// smallest is the smallest number of the bounds that is a multiple of step, where there is one.
func (s *shape) smallest(step *big.Rat) *big.Rat {
	switch {
	case s.lowest != nil:
		return s.above(step)
	case s.highest == nil || s.highest.Sign() > 0 || s.highest.Sign() == 0 && !s.highestOpen:
		return new(big.Rat)
	case step == nil:
		if s.highestOpen {
			return new(big.Rat).Sub(s.highest, big.NewRat(1, 1))
		}
		return s.highest
	default:
		at := floor(new(big.Rat).Quo(s.highest, step))
		value := new(big.Rat).Mul(at, step)
		if s.highestOpen && value.Cmp(s.highest) == 0 {
			value.Sub(value, step)
		}
		return value
	}
}

// above is the smallest number that the lowest bound allows.
func (s *shape) above(step *big.Rat) *big.Rat {
	if step == nil {
		if !s.lowestOpen {
			return s.lowest
		}
		next := new(big.Rat).Add(s.lowest, big.NewRat(1, 1))
		if !s.allows(next) && s.highest != nil {
			// The middle of the bounds lies between them.
			next = new(big.Rat).Quo(new(big.Rat).Add(s.lowest, s.highest), big.NewRat(2, 1))
		}
		return next
	}
	at := floor(new(big.Rat).Quo(s.lowest, step))
	value := new(big.Rat).Mul(at, step)
	if value.Cmp(s.lowest) < 0 || s.lowestOpen && value.Cmp(s.lowest) == 0 {
		value.Add(value, step)
	}
	return value
}

// floor is the largest whole number that is not above a number.
func floor(value *big.Rat) *big.Rat {
	quotient, remainder := new(big.Int).QuoRem(value.Num(), value.Denom(), new(big.Int))
	if remainder.Sign() < 0 {
		quotient.Sub(quotient, big.NewInt(1))
	}
	return new(big.Rat).SetInt(quotient)
}

func (s *shape) allows(value *big.Rat) bool {
	if s.lowest != nil {
		if c := value.Cmp(s.lowest); c < 0 || c == 0 && s.lowestOpen {
			return false
		}
	}
	if s.highest != nil {
		if c := value.Cmp(s.highest); c > 0 || c == 0 && s.highestOpen {
			return false
		}
	}
	return true
}

// drawn is a random number of the bounds, up to a thousand steps from the smallest; otherwise where that leaves them.
func (g *generator) drawn(s *shape, step, smallest *big.Rat, whole bool) *big.Rat { //nolint:revive // whole is a fact about the schema
	const span = 1000
	if step == nil {
		step = big.NewRat(1, 100)
	}
	for limit := int64(span); limit > 0; limit /= 10 {
		moved := new(big.Rat).Mul(step, big.NewRat(g.random.Int64N(limit), 1))
		if value := new(big.Rat).Add(smallest, moved); s.allows(value) && (!whole || value.IsInt()) {
			return value
		}
	}
	return smallest
}

// numberText writes a number as JSON.
func numberText(value *big.Rat) string {
	const digits = 20
	if value.IsInt() {
		return value.Num().String()
	}
	return strings.TrimRight(value.FloatString(digits), "0")
}

// text makes a text of the format, the pattern and the length (rule W41).
func (g *generator) text(s *shape) (*mockbase.Node, error) {
	if s.minLength > mostText || s.maxLength >= 0 && s.minLength > s.maxLength {
		return nil, errUnmet
	}
	if len(s.patterns) > 0 {
		return g.patterned(s)
	}
	text := stretched(s.format, g.formatted(s.format), s.minLength)
	switch {
	case text == "" && s.format != formatBinary:
		text = g.word()
	case s.fits(text):
		return textNode(text), nil
	}
	for _, other := range g.family(s.format) {
		if s.fits(other) && g.schemas.formal(s.format, other) {
			return textNode(other), nil
		}
	}
	return textNode(g.fitted(s, text)), nil
}

// stretched makes a text of a format long enough where the format leaves room for more.
func stretched(format, text string, minLength int) string {
	short := minLength - utf8.RuneCountInString(text)
	if text == "" || short <= 0 {
		return text
	}
	const label = 60
	switch format {
	case "email", "idn-email":
		name, host, _ := strings.Cut(text, "@")
		room := min(short, label-len(name))
		return name + strings.Repeat("a", room) + "@" + stretched("hostname", host, len(host)+short-room)
	case "hostname", "idn-hostname":
		for ; short > 0; short -= label + 1 {
			text = strings.Repeat("a", min(max(short-1, 1), label)) + "." + text
		}
		return text
	case "date-time", "time":
		return strings.TrimSuffix(text, "Z") + "." + strings.Repeat("0", max(short-1, 1)) + "Z"
	case "uri", "url", "iri", "uri-reference", "iri-reference", "uri-template", "json-pointer":
		return text + strings.Repeat("a", short)
	default:
		return text
	}
}

// fitted makes a text longer or shorter.
func (g *generator) fitted(s *shape, text string) string {
	tail := ""
	if g.variant > 0 {
		tail = strconv.FormatInt(int64(g.variant), tailBase)
		text += strconv.Itoa(g.variant)
	}
	for len(text) > 0 && utf8.RuneCountInString(text) < s.minLength {
		text += text
	}
	if text == "" {
		text = strings.Repeat("a", s.minLength)
	}
	most := len(text)
	switch {
	case s.maxLength >= 0:
		most = s.maxLength
	case s.minLength > 0:
		most = max(s.minLength, min(most, len("string")))
	}
	if len(text) <= most || tail == "" {
		return text[:min(len(text), most)]
	}
	// What is cut keeps what makes it differ.
	tail = tail[max(0, len(tail)-most):]
	return text[:most-len(tail)] + tail
}

// tailBase writes numbers with all digits and letters.
const tailBase = 36

// fits tells whether a text has an allowed length.
func (s *shape) fits(text string) bool {
	n := utf8.RuneCountInString(text)
	return n >= s.minLength && (s.maxLength < 0 || n <= s.maxLength)
}

// word is a text without further meaning.
func (g *generator) word() string {
	if g.random == nil && g.variant < mostTested/2 {
		return "string"
	}
	words := strings.Fields("amber birch cedar delta ember fjord grove harbor island juniper kelp lagoon meadow north orchid " +
		"pebble quartz river summit timber umbra valley willow yarrow zephyr")
	if g.random == nil {
		return words[g.variant%len(words)]
	}
	return words[g.random.IntN(len(words))]
}

// formatted is a text of a format, "" for none that is known.
func (g *generator) formatted(format string) string {
	n := int64(g.variant)
	if g.random != nil {
		n = g.random.Int64N(1 << 30)
	}
	two := func(from, span int64) string { return pad(from+n%span, 2) }
	switch format {
	case "date-time":
		return "20" + pad(20+n/86400%10, 2) + "-01-" + two(1, 28) + "T" + pad(n%24, 2) + ":00:00Z"
	case "date":
		return "2020-01-" + two(1, 28)
	case "time":
		return two(0, 24) + ":00:00Z"
	case "duration":
		return "PT" + strconv.FormatInt(1+n%59, 10) + "S"
	case "uuid":
		return g.uuid(n)
	default:
		return cmp.Or(technical(format, n), address(format, n))
	}
}

// uuid is one of version 4 and variant 1 (RFC 9562, section 5.4), with a number in front where it is not random.
func (g *generator) uuid(n int64) string {
	r := g.random
	if r == nil {
		return pad(n%100_000_000, 8) + "-0000-4000-8000-000000000000"
	}
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", r.Uint32(), r.Uint32N(1<<16), r.Uint32N(1<<12), r.Uint32N(1<<12), r.Uint64N(1<<48))
}

// address is a text of one of the formats of names and addresses.
func address(format string, n int64) string {
	suffix := ""
	if n > 0 {
		suffix = strconv.FormatInt(n, 10)
	}
	switch format {
	case "email", "idn-email":
		return "user" + suffix + "@example.com"
	case "hostname", "idn-hostname":
		return "host" + suffix + ".example.com"
	case "ipv4", "ip":
		return "192.0.2." + strconv.FormatInt(1+n%254, 10)
	case "ipv6":
		return "2001:db8::" + strconv.FormatInt(1+n%9999, 10)
	case "uri", "url", "iri":
		return "https://example.com/" + suffix
	case "uri-reference", "iri-reference", "uri-template":
		return "/path" + suffix
	default:
		return ""
	}
}

func pad(n int64, width int) string {
	text := strconv.FormatInt(n, 10)
	return strings.Repeat("0", max(0, width-len(text))) + text
}
