package body

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// The bounds of XML, far above what documents of services hold.
const (
	maxXMLDepth = 1_000
	maxXMLNodes = 200_000
)

// Why XML is refused.
var (
	errXMLDirective = errors.New("a document type declaration is not allowed")
	errXMLTooDeep   = errors.New("too deep")
	errXMLTooLarge  = errors.New("too large")
)

// XMLError says where XML is broken.
type XMLError struct {
	Line, Column int
	Err          error
}

// Error names the place: invalid XML at 1:5: unexpected EOF.
func (e *XMLError) Error() string {
	return fmt.Sprintf("invalid XML at %d:%d: %s", e.Line, e.Column, xmlReason(e.Err))
}

// Unwrap returns the reason.
func (e *XMLError) Unwrap() error { return e.Err }

func xmlReason(err error) string {
	if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
		return syntax.Msg
	}
	return err.Error()
}

// element is an element of a document as it compares: names by namespace and local name (rule J1), attributes without
// order (rule J2), and children with the text between them (rule J3).
type element struct {
	name       xml.Name
	attributes []xml.Attr
	children   []xmlNode
}

// xmlNode is an element, or text.
type xmlNode struct {
	element *element
	text    string
}

// xmlReader builds the tree of a document.
type xmlReader struct {
	decoder *xml.Decoder
	root    *element
	open    []*element
	nodes   int
	names   xmlNames
	// blanks tells that the value of an attribute holds a line break or a tab.
	blanks bool
}

// parseXML reads a document from UTF-8 text. Document type declarations and entities of their own are refused (rule J7).
func parseXML(text []byte) (*element, error) {
	r, err := readXML(text)
	if err == nil && r.blanks {
		r, err = readXML(plainBlanks(text))
	}
	if err != nil {
		return nil, err
	}
	return r.root, nil
}

func readXML(text []byte) (*xmlReader, error) {
	r := &xmlReader{decoder: xml.NewDecoder(bytes.NewReader(text))}
	// The text is UTF-8 by now, whatever its declaration says.
	r.decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	for {
		token, err := r.decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.add(token)
		}
		if err != nil {
			line, column := r.decoder.InputPos()
			return nil, &XMLError{Line: line, Column: column, Err: err}
		}
	}
	if r.root == nil {
		return nil, &XMLError{Line: 1, Column: 1, Err: errors.New("there is no element")}
	}
	return r, nil
}

func (r *xmlReader) add(token xml.Token) error {
	if r.nodes++; r.nodes > maxXMLNodes {
		return errXMLTooLarge
	}
	switch t := token.(type) {
	case xml.StartElement:
		return r.start(t)
	case xml.EndElement:
		r.names.leave()
		last := len(r.open) - 1
		r.open[last].finish()
		r.open = r.open[:last]
	case xml.CharData:
		return r.text(string(t))
	case xml.Directive:
		return errXMLDirective
	}
	return nil
}

func (r *xmlReader) start(t xml.StartElement) error {
	e := &element{name: t.Name}
	for _, a := range t.Attr {
		r.blanks = r.blanks || strings.ContainsAny(a.Value, "\t\r\n")
		if a.Name.Space != "xmlns" && (a.Name.Space != "" || a.Name.Local != "xmlns") {
			e.attributes = append(e.attributes, a)
		}
	}
	r.nodes += len(t.Attr)
	if err := r.names.enter(t); err != nil {
		return err
	}
	switch {
	case len(r.open) >= maxXMLDepth:
		return errXMLTooDeep
	case len(r.open) > 0:
		parent := r.open[len(r.open)-1]
		parent.children = append(parent.children, xmlNode{element: e})
	case r.root != nil:
		return errors.New("there is a second root element")
	default:
		r.root = e
	}
	r.open = append(r.open, e)
	return nil
}

// text adds to the text before it: comments and CDATA divide it only in the source.
func (r *xmlReader) text(text string) error {
	if len(r.open) == 0 {
		if strings.Trim(text, xmlBlanks+"\ufeff") != "" {
			return errors.New("there is text outside of the root element")
		}
		return nil
	}
	parent := r.open[len(r.open)-1]
	if last := len(parent.children) - 1; last >= 0 && parent.children[last].element == nil {
		parent.children[last].text += text
		return nil
	}
	parent.children = append(parent.children, xmlNode{text: text})
	return nil
}

const xmlBlanks = " \t\r\n"

// finish removes blank text between elements (rule J3). Blanks that are all that an element holds are its text.
func (e *element) finish() {
	if len(e.children) < 2 {
		return
	}
	kept := e.children[:0]
	for _, n := range e.children {
		if n.element != nil || strings.Trim(n.text, xmlBlanks) != "" {
			kept = append(kept, n)
		}
	}
	e.children = kept
}

// xmlText turns a body into UTF-8 text: by the charset of its media type, a byte order mark, or its own declaration.
func xmlText(raw []byte, contentType string) ([]byte, error) {
	rest, marked := cutMark(raw)
	charset := charsetOf(contentType)
	if charset == "" && marked == "" {
		charset = declaredCharset(raw)
	}
	if charset == "" || marked != "" {
		charset = marked
	}
	if charset == "" || charset == "utf-8" {
		if !utf8.Valid(rest) {
			return nil, errUndecodable
		}
		return rest, nil
	}
	text, err := decodeCharset(rest, charset)
	return []byte(text), err
}

// declaredCharset reads the encoding of an XML declaration.
func declaredCharset(raw []byte) string {
	declaration, _, ok := bytes.Cut(raw, []byte("?>"))
	if !ok || !bytes.HasPrefix(declaration, []byte("<?xml")) {
		return ""
	}
	_, rest, ok := bytes.Cut(declaration, []byte("encoding"))
	rest = bytes.TrimLeft(rest, xmlBlanks+"=")
	if !ok || len(rest) < 2 || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	name, _, _ := bytes.Cut(rest[1:], rest[:1])
	return strings.ToLower(string(name))
}
