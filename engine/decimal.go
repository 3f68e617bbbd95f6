package engine

import (
	"cmp"
	"strings"
)

// decimal is a number in exact form: its value is 0.digits times ten to the power of exponent. Zero has no digits.
type decimal struct {
	negative bool
	// digits neither begin nor end with a zero.
	digits   string
	exponent int64
}

// maxExponentDigits bounds the text of an exponent so that it fits an int64 with room to spare.
const maxExponentDigits = 17

// parseDecimal reads a number in the grammar of JSON. Any other text is none (rule D11).
func parseDecimal(text string) (decimal, bool) {
	var d decimal
	rest := text
	if rest, d.negative = strings.CutPrefix(rest, "-"); rest == "" {
		return d, false
	}
	whole := leadingDigits(rest)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return d, false
	}
	rest = rest[len(whole):]
	var fraction string
	if after, ok := strings.CutPrefix(rest, "."); ok {
		if fraction = leadingDigits(after); fraction == "" {
			return d, false
		}
		rest = after[len(fraction):]
	}
	power, ok := parseExponent(rest)
	if !ok {
		return d, false
	}
	d.normalise(whole, fraction, power)
	return d, true
}

// parseExponent reads what follows the digits of a number: nothing, or e with an integer.
func parseExponent(text string) (int64, bool) {
	if text == "" {
		return 0, true
	}
	if text[0] != 'e' && text[0] != 'E' {
		return 0, false
	}
	text, negative := strings.CutPrefix(text[1:], "-")
	if !negative {
		text = strings.TrimPrefix(text, "+")
	}
	digits := leadingDigits(text)
	if digits == "" || digits != text {
		return 0, false
	}
	if digits = strings.TrimLeft(digits, "0"); len(digits) > maxExponentDigits {
		return 0, false
	}
	var n int64
	for i := range len(digits) {
		n = n*10 + int64(digits[i]-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

func leadingDigits(text string) string {
	end := 0
	for end < len(text) && '0' <= text[end] && text[end] <= '9' {
		end++
	}
	return text[:end]
}

func (d *decimal) normalise(whole, fraction string, power int64) {
	digits := strings.TrimLeft(whole+fraction, "0")
	d.exponent = power + int64(len(digits)-len(fraction))
	d.digits = strings.TrimRight(digits, "0")
	if d.digits == "" {
		*d = decimal{}
	}
}

// compare returns -1, 0 or 1. Nothing is rounded, and huge exponents cost nothing (rules G2 to G4).
func (d *decimal) compare(other *decimal) int {
	if s, o := d.sign(), other.sign(); s != o || s == 0 {
		return cmp.Compare(s, o)
	}
	c := cmp.Or(cmp.Compare(d.exponent, other.exponent), strings.Compare(d.digits, other.digits))
	if d.negative {
		return -c
	}
	return c
}

func (d *decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	default:
		return 1
	}
}
