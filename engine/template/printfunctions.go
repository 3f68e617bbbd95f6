package template

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// printFunctions are Go's print functions over the values of this language: lists and objects print as JSON (rule P15),
// numbers with all their digits (rule P12).
var printFunctions = map[string]*function{
	"print":   {most: -1, call: func(r *run, arguments []any) (any, error) { return printed(r, arguments, betweenNonTexts) }},
	"println": {most: -1, call: printLine},
	"printf":  {least: 1, most: -1, call: printf},
}

// maxWidth bounds the width and the precision of a verb.
const maxWidth = 10_000

// betweenNonTexts is Go's rule for print: a blank stands between two values neither of which is a text.
func betweenNonTexts(a, b any) bool {
	_, first := a.(string)
	_, second := b.(string)
	return !first && !second
}

func printed(r *run, arguments []any, blank func(a, b any) bool) (any, error) {
	var text []byte
	for i, argument := range arguments {
		if i > 0 && blank(arguments[i-1], argument) {
			text = append(text, ' ')
		}
		if text = appendText(text, argument); len(text) > MaxOutput {
			return nil, r.produce(len(text))
		}
	}
	return string(text), nil
}

func printLine(r *run, arguments []any) (any, error) {
	text, err := printed(r, arguments, func(_, _ any) bool { return true })
	if err != nil {
		return nil, err
	}
	return textOf(text) + "\n", nil
}

// printf formats verb by verb, so that no verb can ask for more than a bounded width.
func printf(r *run, arguments []any) (any, error) {
	f := formatter{arguments: arguments[1:]}
	format := textOf(arguments[0])
	for format != "" {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			at = len(format)
		}
		f.out = append(f.out, format[:at]...)
		rest, err := f.verb(format[at:])
		if err != nil {
			return nil, err
		}
		if len(f.out) > MaxOutput {
			return nil, r.produce(len(f.out))
		}
		format = rest
	}
	if f.next < len(f.arguments) && !f.indexed {
		return nil, failuref("the format uses %d of %d values", f.next, len(f.arguments))
	}
	return string(f.out), nil
}

// formatter is a printf under way.
type formatter struct {
	out       []byte
	arguments []any
	next      int
	// indexed says that the format names its arguments by number.
	indexed bool
}

// verb formats the verb that a format begins with and gives the rest of the format.
func (f *formatter) verb(format string) (rest string, err error) {
	if format == "" {
		return "", nil
	}
	flags := len(format) - 1 - len(strings.TrimLeft(format[1:], "+-# 0"))
	spec, rest := format[:1+flags], format[1+flags:]
	if spec, rest, err = f.extent(spec, rest); err != nil {
		return "", err
	}
	if strings.HasPrefix(rest, ".") {
		if spec, rest, err = f.extent(spec+".", rest[1:]); err != nil {
			return "", err
		}
	}
	if rest, err = f.position(rest); err != nil {
		return "", err
	}
	letter, width := utf8.DecodeRuneInString(rest)
	if width == 0 {
		return "", failure("the format ends inside a verb")
	}
	if letter == '%' {
		f.out = append(f.out, '%')
		return rest[width:], nil
	}
	return rest[width:], f.format(spec, letter)
}

// extent reads a width or a precision: digits, or a star for the next argument.
func (f *formatter) extent(spec, format string) (extended, rest string, err error) {
	if format, err = f.position(format); err != nil {
		return "", "", err
	}
	digits := len(format) - len(strings.TrimLeft(format, "0123456789"))
	text, rest := format[:digits], format[digits:]
	if strings.HasPrefix(format, "*") {
		v, err := f.argument()
		if err != nil {
			return "", "", err
		}
		n, err := toInt(v)
		if err != nil {
			return "", "", err
		}
		text, rest = strconv.FormatInt(n, 10), format[1:]
	}
	if text == "" {
		return spec, rest, nil
	}
	if n, err := strconv.Atoi(text); err != nil || n > maxWidth || n < -maxWidth {
		return "", "", failuref("a width or precision is at most %d", maxWidth)
	}
	return spec + text, rest, nil
}

// position reads the number of an argument in brackets.
func (f *formatter) position(format string) (rest string, err error) {
	if !strings.HasPrefix(format, "[") {
		return format, nil
	}
	text, rest, ok := strings.Cut(format[1:], "]")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 1 || n > len(f.arguments) {
		return "", failuref("%s names no value", shorten("["+text+"]"))
	}
	f.next, f.indexed = n-1, true
	return rest, nil
}

func (f *formatter) argument() (any, error) {
	if f.next >= len(f.arguments) {
		return nil, failuref("the format asks for more than %d values", len(f.arguments))
	}
	f.next++
	return f.arguments[f.next-1], nil
}

// format formats the next argument in the form that the verb takes.
func (f *formatter) format(spec string, letter rune) error {
	v, err := f.argument()
	if err != nil {
		return err
	}
	var form any
	switch letter {
	case 'v':
		form, letter = textOf(v), 's'
	case 's', 'q':
		form = textOf(v)
	case 't':
		form = truth(v)
	case 'd', 'b', 'o', 'O':
		form, err = bigInt(v)
	case 'c', 'U':
		form, err = character(v)
	case 'x', 'X':
		form, err = hexadecimal(v)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		form, err = bigFloat(v)
	default:
		return failuref("there is no verb %%%c", letter)
	}
	if err == nil {
		f.out = fmt.Appendf(f.out, spec+string(letter), form)
	}
	return err
}

func bigInt(v any) (any, error) {
	d, err := operand(v)
	if err != nil {
		return nil, err
	}
	text := d.Text('f')
	if whole, fraction, ok := strings.Cut(text, "."); ok && strings.Trim(fraction, "0") == "" {
		text = whole
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil, failuref("%s is no whole number", shorten(text))
	}
	return n, nil
}

// floatBits holds 77 digits exactly.
const floatBits = 256

func bigFloat(v any) (any, error) {
	d, err := operand(v)
	if err != nil {
		return nil, err
	}
	x, _, err := big.ParseFloat(d.Text('f'), 10, floatBits, big.ToNearestEven)
	if err != nil {
		return nil, failure(err.Error())
	}
	return x, nil
}

func character(v any) (any, error) {
	n, err := toInt(v)
	if err != nil || n < 0 || n > utf8.MaxRune {
		return nil, failuref("%s is no character", shorten(textOf(v)))
	}
	return rune(n), nil
}

// hexadecimal takes the digits of a number and the bytes of anything else.
func hexadecimal(v any) (any, error) {
	if n, ok := v.(number); ok {
		return bigInt(n)
	}
	return textOf(v), nil
}
