package body

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/antchfx/xmlquery"
	"github.com/antchfx/xpath"

	"github.com/mockbase/mockbase"
)

// The bounds of an XPath expression and of its evaluation.
const (
	maxXPath = 4_096
	// maxXPathSteps is how many nodes an evaluation may visit: a second's work at most.
	maxXPathSteps = 2_000_000
	// maxXPathNodes is how many nodes of a result are looked at.
	maxXPathNodes = 10_000
)

// errXPathSteps is an expression that visits too many nodes.
var errXPathSteps = errors.New("the expression visits too many nodes")

// XPath is a compiled XPath 1.0 expression (rule J8).
type XPath struct {
	text string
	// key is equal for expressions that give the same.
	key  string
	expr *xpath.Expr
	// showsPrefixes tells that the expression asks for names with their prefixes.
	showsPrefixes bool
}

// CompileXPath compiles an expression. Prefixes are those of namespaces; an unknown one is an error, with its column where
// it can be told.
func CompileXPath(text string, namespaces []mockbase.NamedText) (compiled *XPath, err error) {
	if utf8.RuneCountInString(text) > maxXPath {
		return nil, fmt.Errorf("the expression is longer than %d characters", maxXPath)
	}
	uris := make(map[string]string, len(namespaces))
	for _, n := range namespaces {
		uris[n.Name] = n.Text
	}
	// The library panics on some of what it cannot read.
	defer func() {
		if r := recover(); r != nil {
			compiled, err = nil, fmt.Errorf("column 1: %v", r)
		}
	}()
	if at := unbalanced(text); at > 0 {
		return nil, fmt.Errorf("column %d: brackets or quotes are not balanced", at)
	}
	expr, err := xpath.CompileWithNS(text, uris)
	if err == nil {
		// The library ignores what follows an expression; between parentheses nothing may.
		_, err = xpath.CompileWithNS("("+text+")", uris)
	}
	if err != nil {
		return nil, fmt.Errorf("column %d: %w", xpathColumn(text, uris), err)
	}
	asks := strings.Contains(strings.ReplaceAll(text, "local-name", ""), "name")
	return &XPath{text: text, key: fmt.Sprintf("%s\x00%q", text, namespaces), expr: expr, showsPrefixes: asks}, nil
}

// unbalanced returns the column of a bracket or quote that has no partner, 0 if all have one.
func unbalanced(text string) int {
	var open []rune
	column, quotedAt := 0, 0
	var quote rune
	for _, r := range text {
		column++
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote, quotedAt = r, column
		default:
			var fits bool
			if open, fits = bracket(open, r); !fits {
				return column
			}
		}
	}
	if quote != 0 {
		return quotedAt
	}
	return (column + 1) * min(1, len(open))
}

// bracket notes a bracket that opens, or takes the one away that this one closes.
func bracket(open []rune, r rune) (left []rune, fits bool) {
	switch r {
	case '(', '[':
		return append(open, r), true
	case ')', ']':
		last := len(open) - 1
		if last < 0 || (open[last] == '(') != (r == ')') {
			return open, false
		}
		return open[:last], true
	}
	return open, true
}

// xpathColumn finds where an expression goes wrong: behind the longest beginning that compiles, in characters from 1.
func xpathColumn(text string, uris map[string]string) int {
	for end := len(text) - 1; end > 0; end-- {
		if !utf8.RuneStart(text[end]) {
			continue
		}
		if xpathCompiles(text[:end], uris) {
			return utf8.RuneCountInString(text[:end]) + 1
		}
	}
	return 1
}

func xpathCompiles(text string, uris map[string]string) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_, err := xpath.CompileWithNS(text, uris)
	return err == nil
}

// XPathResult is what an expression gives: the string values of the nodes, or of the one number, text or boolean.
type XPathResult struct {
	Values []string
	// Holds tells whether a node set is not empty, a number is neither 0 nor NaN, a text not empty.
	Holds bool
}

// Evaluate asks a document, which [parseXML] has accepted. An expression that visits too many nodes is an error.
func (x *XPath) Evaluate(document *xmlquery.Node) (result XPathResult, err error) {
	steps := maxXPathSteps
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(error); ok && errors.Is(e, errXPathSteps) {
				err = errXPathSteps
				return
			}
			err = fmt.Errorf("evaluate %s: %v", x.text, r)
		}
	}()
	root := &steppedNavigator{xmlquery.CreateXPathNavigator(document), &steps, x.showsPrefixes}
	switch v := x.expr.Evaluate(root).(type) {
	case float64:
		result.Values, result.Holds = []string{formatNumber(v)}, v != 0 && !math.IsNaN(v)
	case string:
		result.Values, result.Holds = []string{v}, v != ""
	case bool:
		result.Values, result.Holds = []string{strconv.FormatBool(v)}, v
	case *xpath.NodeIterator:
		for v.MoveNext() && len(result.Values) < maxXPathNodes {
			result.Values = append(result.Values, v.Current().Value())
		}
		result.Holds = len(result.Values) > 0
	}
	return result, nil
}

// formatNumber writes a number as XPath does: whole numbers without a point (XPath 1.0, section 4.2).
func formatNumber(n float64) string {
	switch {
	case math.IsInf(n, 1):
		return "Infinity"
	case math.IsInf(n, -1):
		return "-Infinity"
	case n == 0:
		// Negative zero is written without its sign.
		return "0"
	default:
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
}

// steppedNavigator counts the nodes that an evaluation visits, and ends one that visits too many.
type steppedNavigator struct {
	*xmlquery.NodeNavigator
	left          *int
	showsPrefixes bool
}

var _ xpath.NodeNavigator = (*steppedNavigator)(nil)

func (n *steppedNavigator) step() {
	if *n.left--; *n.left < 0 {
		panic(errXPathSteps)
	}
}

// Copy returns a navigator at the same node that counts with this one.
func (n *steppedNavigator) Copy() xpath.NodeNavigator {
	n.step()
	inner, ok := n.NodeNavigator.Copy().(*xmlquery.NodeNavigator)
	if !ok {
		panic("the navigator of a document is of another type")
	}
	return &steppedNavigator{inner, n.left, n.showsPrefixes}
}

// Prefix returns the prefix of a name. The library compares it with that of an expression; a name of a default namespace
// has none, and must not be found by an expression without one (XPath 1.0, section 2.3).
func (n *steppedNavigator) Prefix() string {
	prefix := n.NodeNavigator.Prefix()
	if prefix == "" && !n.showsPrefixes && n.NamespaceURL() != "" {
		return "\x00"
	}
	return prefix
}

// MoveTo moves to the node of another navigator of the same document.
func (n *steppedNavigator) MoveTo(other xpath.NodeNavigator) bool {
	if o, ok := other.(*steppedNavigator); ok {
		other = o.NodeNavigator
	}
	return n.NodeNavigator.MoveTo(other)
}

// MoveToChild moves to the first child.
func (n *steppedNavigator) MoveToChild() bool {
	n.step()
	return n.NodeNavigator.MoveToChild()
}

// MoveToNext moves to the next sibling.
func (n *steppedNavigator) MoveToNext() bool {
	n.step()
	return n.NodeNavigator.MoveToNext()
}

// MoveToParent moves to the parent.
func (n *steppedNavigator) MoveToParent() bool {
	n.step()
	return n.NodeNavigator.MoveToParent()
}

// MoveToNextAttribute moves to the next attribute.
func (n *steppedNavigator) MoveToNextAttribute() bool {
	n.step()
	return n.NodeNavigator.MoveToNextAttribute()
}

// parseXPathDocument reads text, which has passed the bounds of [parseXML], for XPath.
func parseXPathDocument(text []byte) (document *xmlquery.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			document, err = nil, fmt.Errorf("read XML: %v", r)
		}
	}()
	document, err = xmlquery.ParseWithOptions(bytes.NewReader(text), xmlquery.ParserOptions{
		Decoder: &xmlquery.DecoderOptions{
			Strict:        true,
			CharsetReader: func(_ string, input io.Reader) (io.Reader, error) { return input, nil },
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read XML: %s", strings.TrimPrefix(err.Error(), "XML syntax error "))
	}
	return document, nil
}
