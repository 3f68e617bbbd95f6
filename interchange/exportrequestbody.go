package interchange

import (
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// requestBody writes the bodies that conditions ask for as examples.
func (w *openAPIWriter) requestBody(op *exportedOperation, d *doc) {
	if d.get("requestBody") != nil {
		return
	}
	content := &mediaTypes{}
	asking := 0
	for _, a := range op.answers {
		if len(a.branches) == 0 {
			continue
		}
		if w.bodyOf(a, content) {
			asking++
		}
	}
	if len(content.list) == 0 {
		return
	}
	if len(op.answers) == 1 && len(op.answers[0].branches) == 1 {
		onlyBody(op.answers[0].branches[0], content)
	}
	body := with("content", content.node())
	if asking == len(op.answers) {
		body.set("required", trueNode())
	}
	d.set("requestBody", body.node())
}

// onlyBody makes what the one answer of an operation asks for all that a body may be: fields with their values, and bodies.
func onlyBody(b branch, content *mediaTypes) {
	for _, one := range b {
		if !one.not && isEquality(one.at) && (one.place == "body/form" || one.place == "body/text") {
			onlyText(one, content)
		}
		if one.not || hasOperators(one.at.node) || len(optionsBeside(one)) > 0 {
			continue
		}
		switch one.place {
		case "body/jsonExact":
			content.find("application/json").oneOf(equalTo(unwrapped(one.at.node)))
		case "body/json":
			content.find("application/json").oneOf(partly(unwrapped(one.at.node)))
		}
	}
}

// onlyText makes a text all that a body, or a field of a form, may be.
func onlyText(one atom, content *mediaTypes) {
	text, _ := sampleOf(one.at)
	if one.place == "body/form" {
		content.find("application/x-www-form-urlencoded").only(one.name, text)
		return
	}
	content.find("text/plain").oneOf(equalTo(textNode(text)))
}

// optionsBeside are the options that make an equality of JSON take more bodies.
func optionsBeside(one atom) []entry {
	return slices.DeleteFunc(one.beside.member("jsonOptions").entries(), func(e entry) bool { return !e.isTrue() || e.key == "strict" })
}

// equalTo is a schema that one value keeps.
func equalTo(n *mockbase.Node) *mockbase.Node { return with("enum", listNode(n)).node() }

// partly is a schema that values keep which have the members of another one, beside which there may be more.
func partly(n *mockbase.Node) *mockbase.Node {
	if n.Kind != mockbase.NodeObject {
		return equalTo(n)
	}
	schema, properties := with("type", textNode("object")), &doc{}
	var required []*mockbase.Node
	for _, m := range n.Members {
		properties.set(m.Key, partly(m.Value))
		required = append(required, textNode(m.Key))
	}
	schema.list("required", required)
	schema.doc("properties", properties)
	return schema.node()
}

// unwrapped is an expected value without the marks of what is to be taken literally.
func unwrapped(n *mockbase.Node) *mockbase.Node {
	if n.Kind == mockbase.NodeObject && len(n.Members) == 1 && n.Members[0].Key == "$literal" {
		return n.Members[0].Value
	}
	kept := *n
	kept.Items, kept.Members = nil, nil
	for _, item := range n.Items {
		kept.Items = append(kept.Items, unwrapped(item))
	}
	for _, m := range n.Members {
		m.Value = unwrapped(m.Value)
		kept.Members = append(kept.Members, m)
	}
	return &kept
}

// bodyOf notes what an answer asks of the body; it tells whether each of its alternatives does.
func (w *openAPIWriter) bodyOf(a *answered, content *mediaTypes) bool {
	all := true
	shown := map[string]bool{}
	for _, b := range a.branches {
		asks := false
		for _, one := range b {
			if strings.HasPrefix(one.place, "body/") && !one.not {
				asks = true
				w.bodyCondition(one, content)
			}
		}
		if s := samplesOf(b); s.body != nil && s.body.Kind != mockbase.NodeNull {
			if text := s.bodyType + string(s.body.JSON()); !shown[text] {
				shown[text] = true
				content.find(s.bodyType).example(a.title(), s.body)
			}
			asks = true
		}
		all = all && asks
	}
	return all
}

// bodyCondition notes a condition on the body that a schema can say.
func (w *openAPIWriter) bodyCondition(one atom, content *mediaTypes) {
	switch one.place {
	case "body/schema":
		if !one.at.is(mockbase.NodeObject) || hasTuple(one.at.node) {
			w.lost(one.at, "the schema lies in a file or is of an older version than documents have: it is left out")
			return
		}
		content.find("application/json").schema = one.at.node
	case "body/form":
		text, found := sampleOf(one.at)
		if !found || !isEquality(one.at) {
			w.lost(one.at, "the condition on the field is no part of a document: an example of it is")
		}
		content.find("application/x-www-form-urlencoded").property(one.name, text)
	case "body/multipart":
		w.parts(one.at, content)
	case "body/json", "body/jsonExact", "body/xml", "body/text":
		w.bodyExample(one)
	default:
		w.lost(one.at, "the condition on the body is no part of a document: the answer is an example without it")
	}
}

// parts notes the parts that a form has to have.
func (w *openAPIWriter) parts(list value, content *mediaTypes) {
	for _, part := range list.items() {
		name, _ := sampleOf(part.member("name"))
		content.find("multipart/form-data").property(name, "")
		if len(part.entries()) > 1 || !part.member("name").scalar() {
			w.lost(part, "of a part a document says the name alone: what else it has to be is left out")
		}
	}
}

// isEquality tells whether a condition on a text is that it is one text.
func isEquality(v value) bool { return v.scalar() || v.has("equals") && len(v.entries()) == 1 }

// bodyExample tells of a condition that takes more bodies than the example of it.
func (w *openAPIWriter) bodyExample(one atom) {
	switch isText := one.place == "body/text"; {
	case isText && !isEquality(one.at):
		w.lost(one.at, "the condition on the body is no part of a document: an example of what it takes is")
	case !isText && hasOperators(one.at.node):
		w.lost(one.at, "operators are no part of a document: the body is an example of what they take")
	case one.place == "body/xml":
		w.lost(one.at, "what XML a body has to equal is no part of a document: it is an example")
	}
	for _, option := range optionsBeside(one) {
		w.lost(option.value, "the option is no part of a document: the body is an example")
	}
}

// hasOperators tells whether an expected value holds conditions beside values.
func hasOperators(n *mockbase.Node) bool {
	if n.Kind == mockbase.NodeObject && len(n.Members) == 1 && n.Members[0].Key == "$literal" {
		return false
	}
	return slices.ContainsFunc(n.Members, func(m mockbase.Member) bool { return m.Key == "$match" || hasOperators(m.Value) }) ||
		slices.ContainsFunc(n.Items, hasOperators)
}
