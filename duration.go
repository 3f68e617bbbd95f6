package mockbase

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// day is the longest unit of a written duration; it knows no leap seconds.
const day = 24 * time.Hour

// ParseDuration reads a duration as a person writes it: 250ms, 1.5s, 2m, 1h, 7d, or a sum such as 1m30s (rule M-2). A
// number without a unit, a sign and anything above 292 years are errors. Digits below a nanosecond are dropped.
func ParseDuration(s string) (time.Duration, error) {
	var sum time.Duration
	for rest := s; ; {
		value, left, ok := durationTerm(rest)
		if !ok {
			return 0, fmt.Errorf("%s is no duration: write a number with a unit, such as 250ms, 1.5s, 2m, 1h, 7d or 1m30s", quote(s))
		}
		sum += value
		if sum < 0 {
			return 0, fmt.Errorf("%s is longer than any clock can count", quote(s))
		}
		if left == "" {
			return sum, nil
		}
		rest = left
	}
}

// durationTerm reads one number with its unit. A term that overflows comes back negative, which the caller sees in the
// sum.
func durationTerm(s string) (value time.Duration, rest string, ok bool) {
	whole, s := leadingDigits(s)
	fraction := ""
	if after, found := strings.CutPrefix(s, "."); found {
		if fraction, s = leadingDigits(after); fraction == "" {
			return 0, "", false
		}
	}
	unit, rest := leadingUnit(s)
	if whole == "" || unit == 0 {
		return 0, "", false
	}
	n, err := strconv.ParseUint(whole, 10, 63)
	if err != nil {
		return -1, rest, true
	}
	high, low := bits.Mul64(n, unit)
	low, carry := bits.Add64(low, fractionOf(fraction, unit), 0)
	if high+carry > 0 || low > 1<<63-1 {
		return -1, rest, true
	}
	return time.Duration(low), rest, true
}

// fractionOf returns the nanoseconds of 0.digits of a unit, which is in nanoseconds too.
func fractionOf(digits string, unit uint64) uint64 {
	// Eighteen digits are exact below a nanosecond for every unit, and fit.
	digits = digits[:min(len(digits), 18)]
	if digits == "" {
		return 0
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0
	}
	scale := uint64(1)
	for range digits {
		scale *= 10
	}
	high, low := bits.Mul64(n, unit)
	quotient, _ := bits.Div64(high, low, scale)
	return quotient
}

func leadingDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && digitByte(s[i]) {
		i++
	}
	return s[:i], s[i:]
}

func leadingUnit(s string) (unit uint64, rest string) {
	switch {
	case strings.HasPrefix(s, "ms"):
		return uint64(time.Millisecond), s[2:]
	case strings.HasPrefix(s, "s"):
		return uint64(time.Second), s[1:]
	case strings.HasPrefix(s, "m"):
		return uint64(time.Minute), s[1:]
	case strings.HasPrefix(s, "h"):
		return uint64(time.Hour), s[1:]
	case strings.HasPrefix(s, "d"):
		return uint64(day), s[1:]
	}
	return 0, s
}
