package engine

import (
	"fmt"

	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/template"
)

// Body implements template.Request.
func (a asked) Body() (*jsonvalue.Value, bool) {
	v, err := a.c.bodyMessage().JSON()
	return v, err == nil
}

// BodyText implements template.Request. Text that cannot be decoded is shown as the bytes that were sent.
func (a asked) BodyText() string {
	message := a.c.bodyMessage()
	text, err := message.Text()
	if err == nil {
		return text
	}
	decoded, err := message.Decoded()
	if err != nil {
		decoded = message.Raw()
	}
	return string(decoded)
}

// formPairs are the fields of a form, none if the body is no form.
func (a asked) formPairs() []body.Pair {
	pairs, err := a.c.bodyMessage().Form()
	if err != nil {
		return nil
	}
	return pairs
}

// Form implements template.Request.
func (a asked) Form(name string) []string {
	var values []string
	for _, p := range a.formPairs() {
		if p.Name == name {
			values = append(values, p.Value)
		}
	}
	return values
}

// FormNames implements template.Request.
func (a asked) FormNames() []string {
	var pairs []pair
	for _, p := range a.formPairs() {
		pairs = append(pairs, pair{name: p.Name})
	}
	return names(pairs)
}

// Part implements template.Request.
func (a asked) Part(name string) (*template.Part, bool) {
	parts, err := a.c.bodyMessage().Parts()
	if err != nil {
		return nil, false
	}
	for _, p := range parts {
		if p.Name == name {
			return &template.Part{
				Name: p.Name, Filename: p.Filename, ContentType: p.ContentType, Text: p.Text(), Size: int64(len(p.Body)),
			}, true
		}
	}
	return nil, false
}

// XPath implements template.Request.
func (a asked) XPath(expression string) ([]string, error) {
	compiled, err := body.CompileXPath(expression, nil)
	if err != nil {
		return nil, fmt.Errorf("compile xpath: %w", err)
	}
	if !a.c.bodyMessage().IsXML() {
		// What is no XML holds no node.
		return nil, nil
	}
	result, err := a.c.bodyMessage().XPath(compiled)
	if err != nil {
		return nil, fmt.Errorf("evaluate xpath: %w", err)
	}
	return result.Values, nil
}
