package mockbase

import (
	"math"
	"strconv"
	"strings"
)

// wholeNumber reads a JSON number as an integer. 2.0 and 2e1 are whole; fits tells whether the value is that of an
// int64, which it may not be although it is whole.
func wholeNumber(text string) (value int64, isWhole, fits bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true, true
	}
	digits, exponent := decimalOf(text)
	digits, negative := strings.CutPrefix(digits, "-")
	switch {
	case digits == "":
		return 0, true, true
	case exponent < 0:
		return 0, false, false
	case exponent > 19 || len(digits) > 19:
		return 0, true, false
	}
	digits += strings.Repeat("0", int(exponent))
	if negative {
		digits = "-" + digits
	}
	value, err := strconv.ParseInt(digits, 10, 64)
	return value, true, err == nil
}

// decimalOf splits a JSON number into significant digits, with their sign, and a power of ten. Zero has no digits.
func decimalOf(text string) (digits string, exponent int64) {
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	if power != "" {
		n, err := strconv.ParseInt(power, 10, 32)
		if err != nil {
			// Beyond any number that could be of use; the sign is kept.
			n = math.MaxInt32
			if power[0] == '-' {
				n = math.MinInt32
			}
		}
		exponent = n
	}
	unsigned, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(unsigned, ".")
	exponent -= int64(len(fraction))
	digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(trimmed))
	if negative && trimmed != "" {
		trimmed = "-" + trimmed
	}
	return trimmed, exponent
}

// between describes bounds in a message.
func between(low, high int64) string {
	if high == math.MaxInt64 {
		return "at least " + strconv.FormatInt(low, 10)
	}
	return "from " + strconv.FormatInt(low, 10) + " to " + strconv.FormatInt(high, 10)
}
