package template

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// numberFunctions calculate with decimals, exactly (rule P12). Texts that are numbers are taken as such.
var numberFunctions = map[string]*function{
	"add":   {least: 2, most: -1, call: folded((*apd.Context).Add)},
	"mul":   {least: 2, most: -1, call: folded((*apd.Context).Mul)},
	"sub":   {least: 2, most: 2, call: folded((*apd.Context).Sub)},
	"div":   {least: 2, most: 2, call: divide},
	"mod":   {least: 2, most: 2, call: remainder},
	"round": {least: 2, most: 2, call: round},
}

// conversionFunctions make one kind of another. What is missing stays missing, so that a default can follow.
var conversionFunctions = map[string]*function{
	"number": {least: 1, most: 1, call: func(_ *run, arguments []any) (any, error) { return toNumber(arguments[0]) }},
	"int":    {least: 1, most: 1, call: whole},
	"bool":   {least: 1, most: 1, call: func(_ *run, arguments []any) (any, error) { return toBool(arguments[0]) }},
	"string": {least: 1, most: 1, call: func(_ *run, arguments []any) (any, error) { return textOf(arguments[0]), nil }},
}

const (
	// maxDigits bounds the digits of operands and results, zeros of an exponent included: 1e1000000000 is short to write.
	maxDigits = 1000
	// quotientDigits is how many digits a quotient has that does not end.
	quotientDigits = 34
)

// operation is one of a context's: it puts the result into the first decimal.
type operation func(c *apd.Context, d, x, y *apd.Decimal) (apd.Condition, error)

// exact calculates without rounding: it has room for the result of any two operands.
func exact() *apd.Context { return apd.BaseContext.WithPrecision(4 * maxDigits) }

// folded applies an operation from left to right.
func folded(apply operation) func(*run, []any) (any, error) {
	return func(_ *run, arguments []any) (any, error) {
		sum, err := operand(arguments[0])
		if err != nil {
			return nil, err
		}
		for _, argument := range arguments[1:] {
			d, err := operand(argument)
			if err != nil {
				return nil, err
			}
			result := new(apd.Decimal)
			if _, err := apply(exact(), result, sum, d); err != nil {
				return nil, failure(err.Error())
			}
			if _, err := plain(result); err != nil {
				return nil, err
			}
			sum = result
		}
		return numberOrError(plain(sum))
	}
}

// divide gives the quotient, rounded half up to 34 digits where it does not end before.
func divide(_ *run, arguments []any) (any, error) {
	x, y, err := dividend(arguments)
	if err != nil {
		return nil, err
	}
	quotient := new(apd.Decimal)
	if _, err := apd.BaseContext.WithPrecision(quotientDigits).Quo(quotient, x, y); err != nil {
		return nil, failure(err.Error())
	}
	quotient.Reduce(quotient)
	return numberOrError(plain(quotient))
}

// remainder has the sign of its first argument.
func remainder(_ *run, arguments []any) (any, error) {
	x, y, err := dividend(arguments)
	if err != nil {
		return nil, err
	}
	rest := new(apd.Decimal)
	if _, err := exact().Rem(rest, x, y); err != nil {
		return nil, failure(err.Error())
	}
	return numberOrError(plain(rest))
}

func dividend(arguments []any) (x, y *apd.Decimal, err error) {
	if x, err = operand(arguments[0]); err != nil {
		return nil, nil, err
	}
	if y, err = operand(arguments[1]); err != nil {
		return nil, nil, err
	}
	if y.IsZero() {
		return nil, nil, failure("division by zero")
	}
	return x, y, nil
}

// round rounds to so many digits behind the point, halves away from zero.
func round(_ *run, arguments []any) (any, error) {
	digits, err := toInt(arguments[0])
	if err != nil || arguments[1] == nil {
		return nil, err
	}
	if digits < 0 || digits > maxDigits/2 {
		return nil, failuref("it rounds to 0 to %d digits, not %d", maxDigits/2, digits)
	}
	x, err := operand(arguments[1])
	if err != nil {
		return nil, err
	}
	rounded := new(apd.Decimal)
	if _, err := exact().Quantize(rounded, x, -int32(digits)); err != nil {
		return nil, failure(err.Error())
	}
	return numberOrError(plain(rounded))
}

// operand gives a number to calculate with.
func operand(v any) (*apd.Decimal, error) {
	n, err := toNumber(v)
	if err != nil {
		return nil, err
	}
	text, ok := n.(number)
	if !ok {
		return nil, failuref("it needs a number, not %s", kindOf(v))
	}
	if err := expandable(string(text)); err != nil {
		return nil, err
	}
	d, _, err := apd.NewFromString(string(text))
	if err != nil {
		return nil, failure(err.Error())
	}
	return d, nil
}

// expandable refuses a number that would be long in plain digits.
func expandable(text string) error {
	d, ok := jsonvalue.ParseDecimal(text)
	if !ok || len(text) > maxDigits || d.Magnitude() > maxDigits || d.Magnitude() < -maxDigits {
		return failuref("the number %s has more than %d digits", shorten(text), maxDigits)
	}
	return nil
}

// plain writes a result without exponent.
func plain(d *apd.Decimal) (number, error) {
	if d.Form != apd.Finite || d.NumDigits()+int64(max(d.Exponent, -d.Exponent)) > 2*maxDigits {
		return "", failuref("the result has more than %d digits", 2*maxDigits)
	}
	if d.IsZero() {
		d.Negative = false
	}
	return number(d.Text('f')), nil
}

func numberOrError(n number, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return n, nil
}

// toNumber makes a number of a number, of a text that is one, and of a boolean; nothing of what is missing. A leading plus
// and leading zeros, which JSON does not know, are dropped.
func toNumber(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case number:
		return v, nil
	case bool:
		if v {
			return number("1"), nil
		}
		return number("0"), nil
	case string:
		if text, ok := numeric(v); ok {
			return number(text), nil
		}
		return nil, failuref("%s is no number", shorten(v))
	default:
		return nil, failuref("%s is no number", kindOf(v))
	}
}

// numeric gives a text as JSON writes numbers.
func numeric(text string) (string, bool) {
	digits := strings.TrimPrefix(text, "+")
	sign := ""
	if strings.HasPrefix(digits, "-") && digits == text {
		sign, digits = "-", digits[1:]
	}
	for len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		digits = digits[1:]
	}
	_, ok := jsonvalue.ParseDecimal(sign + digits)
	return sign + digits, ok && !strings.HasPrefix(digits, "-")
}

// whole drops what is behind the point.
func whole(_ *run, arguments []any) (any, error) {
	n, err := toNumber(arguments[0])
	if err != nil || n == nil {
		return nil, err
	}
	d, err := operand(n)
	if err != nil {
		return nil, err
	}
	integral, fraction := new(apd.Decimal), new(apd.Decimal)
	d.Modf(integral, fraction)
	return numberOrError(plain(integral))
}

// toInt gives a whole number that fits a machine's.
func toInt(v any) (int64, error) {
	n, err := toNumber(v)
	if err != nil {
		return 0, err
	}
	text, ok := n.(number)
	if !ok {
		return 0, failuref("it needs a whole number, not %s", kindOf(v))
	}
	if short, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return short, nil
	}
	if d, err := operand(text); err == nil {
		if i, err := d.Int64(); err == nil {
			return i, nil
		}
	}
	return 0, failuref("it needs a whole number, not %s", shorten(string(text)))
}

// toFloat gives the nearest number that fits a machine's.
func toFloat(v any) (float64, error) {
	n, err := toNumber(v)
	if err != nil {
		return 0, err
	}
	text, ok := n.(number)
	if !ok {
		return 0, failuref("it needs a number, not %s", kindOf(v))
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(f, 0) {
		return 0, failuref("the number %s is too large", shorten(string(text)))
	}
	return f, nil
}

// toBool makes a boolean of true, false, 1 and 0 as texts, in any case, and of numbers.
func toBool(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case bool:
		return v, nil
	case number:
		return truth(v), nil
	case string:
		switch strings.ToLower(v) {
		case "true", "1":
			return true, nil
		case "false", "0":
			return false, nil
		}
		return nil, failuref("%s is no boolean", shorten(v))
	default:
		return nil, failuref("%s is no boolean", kindOf(v))
	}
}
