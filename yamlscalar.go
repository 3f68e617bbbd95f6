package mockbase

import (
	"math/big"
	"strings"

	"go.yaml.in/yaml/v3"
)

// quotedStyles are the styles of a scalar that is text whatever it looks like.
const quotedStyles = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func isPlain(y *yaml.Node) bool { return y.Style&quotedStyles == 0 }

// scalar reads a scalar by the core schema of YAML 1.2. The library's own reading is that of 1.1 and is not asked.
func (r *yamlReader) scalar(y *yaml.Node, pointer string) (*Node, *Error) {
	if err := r.count(y); err != nil {
		return nil, err
	}
	tagged := y.Style&yaml.TaggedStyle != 0
	kind, text := NodeText, y.Value
	if isPlain(y) && (!tagged || y.Tag != "!!str") {
		kind, text = r.plain(y, pointer)
	}
	if tagged && !tagSays(y.Tag, kind, text) {
		return nil, yamlFault(y, FieldSyntax, "the tag %s is not supported for %s", quote(y.Tag), quote(y.Value))
	}
	return yamlValue(y, kind, text), nil
}

// tagSays tells whether a tag says what the value is anyway; no other tag has a meaning here.
func tagSays(tag string, kind NodeKind, text string) bool {
	switch kind {
	case NodeNull:
		return tag == "!!null"
	case NodeBool:
		return tag == "!!bool"
	case NodeNumber:
		return tag == "!!float" || tag == "!!int" && !strings.ContainsAny(text, ".eE")
	default:
		return tag == "!!str"
	}
}

// plain reads a scalar without quotes.
func (r *yamlReader) plain(y *yaml.Node, pointer string) (NodeKind, string) {
	switch y.Value {
	case "", "~", "null", "Null", "NULL":
		return NodeNull, ""
	case "true", "True", "TRUE":
		return NodeBool, "true"
	case "false", "False", "FALSE":
		return NodeBool, "false"
	}
	if size, ok := scanNumber(y.Value); ok && size == len(y.Value) {
		return NodeNumber, y.Value
	}
	number, reason := yamlNumber(y.Value)
	if reason != "" {
		at := &Node{Line: y.Line, Column: y.Column}
		r.faults.Add(at, pointer, FieldSyntax, "%s %s: put it in quotes if it is text", quote(y.Value), reason)
	}
	if number == "" {
		return NodeText, y.Value
	}
	return NodeNumber, number
}

// yamlNumber returns the JSON text of a number that YAML 1.2 knows and JSON does not. The result is "" for text; reason
// says why a number is a fault, whose value a tolerant reader takes all the same.
func yamlNumber(s string) (number, reason string) {
	unsigned := strings.TrimLeft(s, "+-")
	if len(s)-len(unsigned) > 1 || unsigned == "" {
		return "", ""
	}
	switch unsigned {
	case ".inf", ".Inf", ".INF":
		return "", "has no JSON number"
	case ".nan", ".NaN", ".NAN":
		if unsigned == s {
			return "", "has no JSON number"
		}
		return "", ""
	}
	if based, isBased := yamlBased(s); isBased {
		if based == "" {
			return "", "is a number of too many digits"
		}
		return based, ""
	}
	return yamlDecimal(s[:len(s)-len(unsigned)], unsigned)
}

// yamlBased reads 0x1f and 0o17, which take no sign.
func yamlBased(s string) (number string, isBased bool) {
	const mostDigits = 64
	base, digits := 16, strings.TrimPrefix(s, "0x")
	if strings.HasPrefix(s, "0o") {
		base, digits = 8, s[2:]
	}
	if len(digits) == len(s) || digits == "" {
		return "", false
	}
	for i := range len(digits) {
		if int(unhex(digits[i])) >= base {
			return "", false
		}
	}
	if len(digits) > mostDigits {
		return "", true
	}
	n, _ := new(big.Int).SetString(digits, base)
	return n.String(), true
}

// yamlDecimal reads +1, .5 and 5.; the sign is apart.
func yamlDecimal(sign, unsigned string) (number, reason string) {
	whole, rest := leadingDigits(unsigned)
	fraction := ""
	if after, found := strings.CutPrefix(rest, "."); found {
		fraction, rest = leadingDigits(after)
	}
	if whole == "" && fraction == "" {
		return "", ""
	}
	zeros := len(whole) > 1 && whole[0] == '0'
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	number = strings.TrimSuffix(sign, "+") + whole + fraction + rest
	if size, ok := scanNumber(number); !ok || size != len(number) {
		return "", ""
	}
	if zeros {
		return number, "is a number with leading zeros, which tools read in different ways"
	}
	return number, ""
}
