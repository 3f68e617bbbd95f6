package jsonvalue

import (
	"cmp"
	"strings"
)

// Decimal is a number in exact form: its value is 0.digits times ten to the power of power plus shift. Zero has no digits.
type Decimal struct {
	negative bool
	// digits neither begin nor end with a zero.
	digits string
	shift  int64
	// power is the exponent as it was written, without the sign of a positive one and without leading zeros.
	power string
}

// shortPower is the length of exponents that fit an int64 with room to spare.
const shortPower = 17

// ParseDecimal reads a number in the grammar of JSON. It reports false for any other text (rule D11).
func ParseDecimal(text string) (Decimal, bool) {
	if n := scanNumber(text); n == 0 || n != len(text) {
		return Decimal{}, false
	}
	return decimal(text), true
}

// decimal takes apart a text that is a number.
func decimal(text string) Decimal {
	var d Decimal
	text, d.negative = strings.CutPrefix(text, "-")
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		d.power = trimPower(text[i+1:])
		text = text[:i]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	whole = strings.TrimLeft(whole, "0")
	d.shift = int64(len(whole))
	if whole == "" {
		significant := strings.TrimLeft(fraction, "0")
		d.shift = int64(len(significant) - len(fraction))
		d.digits = significant
	} else if fraction = strings.TrimRight(fraction, "0"); fraction == "" {
		d.digits = whole
	} else {
		d.digits = whole + fraction
	}
	if d.digits = strings.TrimRight(d.digits, "0"); d.digits == "" {
		return Decimal{}
	}
	return d
}

func trimPower(text string) string {
	text, negative := strings.CutPrefix(text, "-")
	text = strings.TrimLeft(strings.TrimPrefix(text, "+"), "0")
	if negative && text != "" {
		return "-" + text
	}
	return text
}

// CompareNumbers compares two JSON numbers by their exact value: -1, 0 or 1 for less, equal or more. Nothing is rounded,
// and an exponent of any size costs no more than reading it (rules G2 to G4). A text that is no number counts as 0.
func CompareNumbers(a, b string) int {
	x, _ := ParseDecimal(a)
	y, _ := ParseDecimal(b)
	return x.Compare(&y)
}

// Compare returns -1, 0 or 1 for less than, equal to or more than other.
func (d *Decimal) Compare(other *Decimal) int {
	if s, o := d.Sign(), other.Sign(); s != o || s == 0 {
		return cmp.Compare(s, o)
	}
	c := cmp.Or(powerDifference(d, other), strings.Compare(d.digits, other.digits))
	if d.negative {
		return -c
	}
	return c
}

// Sign returns -1, 0 or 1 for less than, equal to or more than zero.
func (d *Decimal) Sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	default:
		return 1
	}
}

// Integer tells whether the number is whole: 2.0 and 1e3 are, 1.5 is not (rule H6).
func (d *Decimal) Integer() bool {
	least := Decimal{digits: d.digits, shift: int64(len(d.digits))}
	return powerDifference(d, &least) >= 0
}

// Digits returns the number of significant digits.
func (d *Decimal) Digits() int { return len(d.digits) }

// Magnitude returns how many digits stand before the decimal point, a negative number for zeros after it; it is cut off
// at a trillion either way. Whoever expands a number asks this first.
func (d *Decimal) Magnitude() int64 {
	var nought Decimal
	return distance(d, &nought)
}

// powerDifference compares the powers of two numbers that have digits.
func powerDifference(a, b *Decimal) int {
	if len(a.power) <= shortPower && len(b.power) <= shortPower {
		return cmp.Compare(a.shift+shortInt(a.power), b.shift+shortInt(b.power))
	}
	return cmp.Compare(distance(a, b), 0)
}

// distance subtracts the powers of two numbers. It is cut off at a trillion either way, which is beyond the length of any
// text: what decides is the sign.
func distance(a, b *Decimal) int64 {
	const most = 1_000_000_000_000
	x, y := a.power, b.power
	length := max(len(x), len(y))
	var d int64
	for i := length; i > 0; i-- {
		// Once the difference is 2 or more it can only grow.
		d = max(-most, min(most, d*10+signedDigit(x, i)-signedDigit(y, i)))
	}
	return max(-most, min(most, d+a.shift-b.shift))
}

// signedDigit returns the digit of a number's text at a place counted from its end, with the number's sign.
func signedDigit(text string, fromEnd int) int64 {
	at := len(text) - fromEnd
	if at < 0 || text[at] == '-' {
		return 0
	}
	digit := int64(text[at] - '0')
	if text[0] == '-' {
		return -digit
	}
	return digit
}

// shortInt reads an integer of at most 17 bytes.
func shortInt(text string) int64 {
	var n int64
	for i := len(text); i > 0; i-- {
		n = n*10 + signedDigit(text, i)
	}
	return n
}
