package body

import (
	"crypto/sha256"

	"github.com/antchfx/xmlquery"

	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/operator"
)

// views are the readings of a body beside JSON.
type views struct {
	// most is how many bytes the body may grow to when it is decoded; 0 is defaultMost.
	most     int64
	text     view[string]
	form     view[[]Pair]
	fields   view[map[string][]string]
	plain    view[any]
	selected map[string]selected
	results  map[string]evaluated
	parts    view[[]*Part]
	messages []*Message
	xml      view[*element]
	document view[*xmlquery.Node]
	graph    view[*graphQL]
	sum      view[[sha256.Size]byte]
	notes    []string
}

// defaultMost is how many bytes a body may grow to where nobody says otherwise.
const defaultMost = 10 << 20

// Limit sets how many bytes the body may grow to when its content codings are undone (rule F3). It returns the message.
func (m *Message) Limit(most int64) *Message {
	m.most = most
	return m
}

// Within bounds what matching spends on the body. It returns the message.
func (m *Message) Within(effort *operator.Effort) *Message {
	m.effort = effort
	return m
}

func (m *Message) bound() int64 {
	if m.most == 0 {
		return defaultMost
	}
	return m.most
}

// Text returns the body as text in its charset (rule F5).
func (m *Message) Text() (string, error) {
	return m.text.get(func() (string, error) {
		decoded, err := m.Decoded()
		if err != nil {
			return "", err
		}
		return decodeText(decoded, m.ContentType())
	})
}

// Form returns the fields of a form, in their order (rules I1 and I2). The error says why the body is none.
func (m *Message) Form() ([]Pair, error) {
	return m.form.get(func() ([]Pair, error) {
		decoded, err := m.Decoded()
		if err != nil {
			return nil, err
		}
		return parseForm(decoded, m.ContentType(), m.Parts)
	})
}

// field returns the values of one field of a form (rule C7).
func (m *Message) field(name string) (*texts, error) {
	pairs, err := m.Form()
	const few = 64
	if len(pairs) > few {
		// Many conditions may ask.
		fields, _ := m.fields.get(func() (map[string][]string, error) {
			byName := make(map[string][]string)
			for _, p := range pairs {
				byName[p.Name] = append(byName[p.Name], p.Value)
			}
			return byName, nil
		})
		return &texts{List: fields[name]}, err
	}
	var v texts
	for _, p := range pairs {
		if p.Name == name {
			v.List = append(v.List, p.Value)
		}
	}
	return &v, err
}

// schemaForm returns the body's JSON as schemas read it. The error says that it is too large for that.
func (m *Message) schemaForm(value *jsonvalue.Value) (any, error) {
	return m.plain.get(func() (any, error) {
		if err := moderate(value); err != nil {
			return nil, err
		}
		return value.Any(), nil
	})
}

// selected are the nodes that an expression selects, evaluated is what one gives.
type (
	selected struct {
		nodes []*jsonvalue.Value
		err   error
	}
	evaluated struct {
		result XPathResult
		err    error
	}
)

// Parts returns the parts of a multipart body, in their order (rules I5 to I9). The error is [ErrTooLarge] if there are
// more than 1,000.
func (m *Message) Parts() ([]*Part, error) {
	return m.parts.get(func() ([]*Part, error) {
		decoded, err := m.Decoded()
		if err != nil {
			return nil, err
		}
		parts, bare, err := parseParts(decoded, m.ContentType())
		if bare {
			m.notes = append(m.notes, "the lines of the multipart body end with LF alone, where CR LF is due")
		}
		for _, p := range parts {
			m.messages = append(m.messages, New(p.Body, partHeader(p)).Within(m.effort))
		}
		return parts, err
	})
}

// xmlText returns the body as XML text in UTF-8.
func (m *Message) xmlText() ([]byte, error) {
	decoded, err := m.Decoded()
	if err != nil {
		return nil, err
	}
	return xmlText(decoded, m.ContentType())
}

// xmlTree returns the body as an XML document for comparing.
func (m *Message) xmlTree() (*element, error) {
	return m.xml.get(func() (*element, error) {
		text, err := m.xmlText()
		if err != nil {
			return nil, err
		}
		return parseXML(text)
	})
}

// xmlDocument returns the body as an XML document for XPath.
func (m *Message) xmlDocument() (*xmlquery.Node, error) {
	return m.document.get(func() (*xmlquery.Node, error) {
		// The tree's bounds and refusals hold here too.
		if _, err := m.xmlTree(); err != nil {
			return nil, err
		}
		text, err := m.xmlText()
		if err != nil {
			return nil, err
		}
		return parseXPathDocument(plainBlanks(text))
	})
}

// IsXML tells whether the body is an XML document within its bounds (rule J7).
func (m *Message) IsXML() bool {
	_, err := m.xmlTree()
	return err == nil
}

// XPath evaluates an expression on the body (rule J8). The error says why the body is no XML, or that the expression does
// too much.
func (m *Message) XPath(x *XPath) (XPathResult, error) {
	document, err := m.xmlDocument()
	if err != nil {
		return XPathResult{}, err
	}
	if len(m.raw) < Large {
		return x.Evaluate(document)
	}
	// Many mocks may ask the same.
	known, ok := m.results[x.key]
	if !ok {
		known.result, known.err = x.Evaluate(document)
		if m.results == nil {
			m.results = make(map[string]evaluated)
		}
		m.results[x.key] = known
	}
	return known.result, known.err
}
