package interchange

import (
	"encoding/base64"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// graphqlVariables is the kind of a body of which only the variables of GraphQL are known.
const graphqlVariables = "graphql variables"

// bodyCondition is the condition that a body is like this one. Of what stands in double braces any value fits.
func bodyCondition(b savedBody) *doc {
	kind, _, err := mime.ParseMediaType(b.kind)
	if err != nil {
		kind = b.kind
	}
	switch {
	case kind == graphqlVariables:
		return variablesCondition(b)
	case b.text == "":
		return with("empty", trueNode())
	}
	if d := b.structured(kind); d != nil {
		return d
	}
	switch {
	case b.open(b.text):
		return with("text", with("matches", textNode("(?s)"+openExpression(b.text))).node())
	case strings.HasSuffix(kind, "xml"):
		return with("xml", textNode(b.text))
	case !utf8.ValidString(b.text):
		return with("base64", textNode(base64.StdEncoding.EncodeToString([]byte(b.text))))
	}
	return with("text", with("equals", textNode(b.text)).node())
}

// structured is the condition on a form or on a JSON value, nil for a body that is none.
func (b *savedBody) structured(kind string) *doc {
	switch {
	case kind == "application/x-www-form-urlencoded", kind == "multipart/form-data":
		if d := b.formCondition(); !d.empty() {
			return with("form", d.node())
		}
	case kind == "" || strings.HasSuffix(kind, "json"):
		n, err := mockbase.ParseNode([]byte(b.text), mockbase.FormatJSON, mockbase.ParseLimits{Depth: maxDepth})
		if err == nil && (n.Kind == mockbase.NodeObject || n.Kind == mockbase.NodeList) {
			return with("jsonExact", b.match(n))
		}
	}
	return nil
}

// formCondition makes a condition of each field of a form.
func (b *savedBody) formCondition() *doc {
	d := &doc{}
	values, err := url.ParseQuery(b.text)
	if err != nil {
		return d
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case mockbase.IsSecretName(name), slices.ContainsFunc(values[name], b.open):
			d.set(name, with("exists", trueNode()).node())
		case len(values[name]) == 1:
			d.set(name, textNode(values[name][0]))
		default:
			var list []*mockbase.Node
			for _, one := range values[name] {
				list = append(list, textNode(one))
			}
			d.set(name, with("exactly", listNode(list...)).node())
		}
	}
	return d
}

// variablesCondition is the condition that a request of GraphQL has these variables, or none.
func variablesCondition(b savedBody) *doc {
	n, err := mockbase.ParseNode([]byte(b.text), mockbase.FormatJSON, mockbase.ParseLimits{Depth: maxDepth})
	if err != nil {
		return with("jsonPath", with("$.variables.*", with("exists", boolNode(b.text != "")).node()).node())
	}
	return with("json", with("variables", b.match(n)).node())
}

// open tells whether something in a text is known only when a request is sent.
func (b *savedBody) open(text string) bool { return b.templated && strings.Contains(text, "{{") }

// match makes a condition of a JSON value, in which a text that is open may be anything.
func (b *savedBody) match(n *mockbase.Node) *mockbase.Node {
	return expectedNode(n, func(leaf *mockbase.Node) *mockbase.Node {
		if leaf.Kind == mockbase.NodeText && b.open(leaf.Text) {
			return with("$match", with("exists", trueNode()).node()).node()
		}
		return leaf
	})
}

// openExpression is an expression for a text in which anything may stand for what is in double braces.
func openExpression(text string) string {
	var expression strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		expression.WriteString(regexp.QuoteMeta(before))
		_, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			return expression.String()
		}
		expression.WriteString(".*")
		text = after
	}
}
