package engine

import (
	"strings"

	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/template"
)

// Body implements template.Request.
func (a asked) Body() (*jsonvalue.Value, bool) {
	v, err := jsonvalue.Parse(a.c.outcome.received, jsonvalue.Limits{})
	return v, err == nil
}

// BodyText implements template.Request.
func (a asked) BodyText() string { return string(a.c.outcome.received) }

func (a asked) formPairs() []pair {
	if !strings.HasPrefix(a.c.header.Get(headerContentType), "application/x-www-form-urlencoded") {
		return nil
	}
	return parseQuery(string(a.c.outcome.received))
}

// Form implements template.Request.
func (a asked) Form(name string) []string { return valuesOf(a.formPairs(), name).List }

// FormNames implements template.Request.
func (a asked) FormNames() []string { return names(a.formPairs()) }

// Part implements template.Request.
func (asked) Part(string) (*template.Part, bool) { return nil, false }

// XPath implements template.Request.
func (asked) XPath(string) ([]string, error) { return nil, nil }
