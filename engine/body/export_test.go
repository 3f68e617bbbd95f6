package body

import "github.com/mockbase/mockbase"

// What the tests see of the parsers.

// DecodeText is decodeText.
func DecodeText(raw []byte, contentType string) (string, error) { return decodeText(raw, contentType) }

// ParseParts is parseParts.
func ParseParts(decoded []byte, contentType string) (parts []*Part, bare bool, err error) {
	return parseParts(decoded, contentType)
}

// EqualXML compares two documents; where tells the place of the first difference.
func EqualXML(expected, actual string, o mockbase.XMLOptions) (equal bool, where string, err error) {
	e, err := parseXML([]byte(expected))
	if err != nil {
		return false, "", err
	}
	a, err := parseXML([]byte(actual))
	if err != nil {
		return false, "", err
	}
	if d := newXMLMatcher(e, o).compare(a); d != nil {
		return false, d.at, nil
	}
	return true, "", nil
}

// EvaluateXPath asks a document.
func EvaluateXPath(expression, document string, namespaces []mockbase.NamedText) (XPathResult, error) {
	x, err := CompileXPath(expression, namespaces)
	if err != nil {
		return XPathResult{}, err
	}
	if _, err := parseXML([]byte(document)); err != nil {
		return XPathResult{}, err
	}
	d, err := parseXPathDocument([]byte(document))
	if err != nil {
		return XPathResult{}, err
	}
	return x.Evaluate(d)
}

// MarkedText is what XML is read as.
func MarkedText(raw []byte, contentType string) ([]byte, error) { return xmlText(raw, contentType) }

// CanonicalGraphQL is the canonical form of an operation of a document; ok is false for what is no document or has
// no such operation.
func CanonicalGraphQL(text, name string) (canonical string, ok bool) {
	document, err := parseGraphQL(text)
	if err != nil {
		return "", false
	}
	o, err := document.operation(name)
	if err != nil {
		return "", false
	}
	return o.canonical(), true
}
