package openapi

import (
	"regexp"
	"strings"

	"github.com/mockbase/mockbase"
)

// lookTogether checks what is right for itself and does not go with the rest of the document.
func (g *grammarian) lookTogether(p place, f form) {
	switch f {
	case formPath, formPaths, formParameter, formBody, formResponse, formExample, formLink, formScheme:
		g.lookReference(p)
	case formSchema, formItems:
		g.lookReference(p)
		g.lookTypes(p)
		g.lookIdentity(p)
	case formServer:
		g.lookVariables(p)
	case formParameters:
		g.lookTwice(p)
	default:
	}
	if f == formMedia || f == formParameter {
		g.lookExamples(p)
	}
}

// lookReference follows a reference, also where nothing uses it: one that leads nowhere, or round, is noted (rule W22).
func (g *grammarian) lookReference(p place) {
	if p.reference() != "" && !g.told[p.at] {
		g.source.follow(p)
	}
}

// lookTypes warns of lists of types in a version that has none.
func (g *grammarian) lookTypes(p place) {
	if at := p.find("type"); at.is(mockbase.NodeList) && g.source.dialect == dialect30 {
		g.source.notes.add(at, mockbase.FieldType, "lists of types are known since OpenAPI 3.1, and the document is of version "+g.source.version+": it is read like one of 3.1")
	}
}

// lookIdentity warns of an $id that names no schema, or not this one.
func (g *grammarian) lookIdentity(p place) {
	at := p.find("$id")
	if !at.is(mockbase.NodeText) || strings.HasPrefix(at.node.Text, "#") || g.source.dialect != dialect31 {
		return
	}
	_, fragment, _ := strings.Cut(at.node.Text, "#")
	switch own, first := g.source.identified(p); {
	case own == nil:
		g.source.notes.add(at, mockbase.FieldPattern, "the $id "+quoted(at.node.Text)+" is no URI reference: the references within the schema have the base around it")
	case fragment != "":
		g.source.notes.add(at, mockbase.FieldPattern, "the fragment of the $id "+quoted(at.node.Text)+" is left out: a part of a schema is named by $anchor")
	case own.root.node != first.root.node:
		g.source.notes.add(at, mockbase.FieldUnique, "the $id "+quoted(at.node.Text)+" is that of "+first.root.at+" too, which references to it lead to")
	}
}

// lookVariables warns of variables of a server's address that it does not describe.
func (g *grammarian) lookVariables(p place) {
	for _, found := range regexp.MustCompile(`\{([^{}]*)\}`).FindAllStringSubmatch(p.text("url"), -1) {
		if p.find("variables").find(found[1]).node == nil {
			g.source.notes.add(p, mockbase.FieldReference, "the variable "+quoted(found[1])+" of the server's url is not declared: it takes any text")
		}
	}
}

// lookTwice warns of parameters that one list has twice.
func (g *grammarian) lookTwice(p place) {
	met := map[[2]string]bool{}
	for _, item := range p.items() {
		at, ok := g.source.follow(item)
		key := [2]string{at.text("in"), at.text("name")}
		if !ok || key[0] == "" || key[1] == "" {
			continue
		}
		if met[key] {
			g.source.notes.add(item, mockbase.FieldUnique, "the parameter "+quoted(key[1])+" in "+key[0]+" is listed twice; the last one counts")
		}
		met[key] = true
	}
}

// lookExamples warns of an example beside examples.
func (g *grammarian) lookExamples(p place) {
	if at := p.find("example"); at.node != nil && p.find("examples").node != nil && g.source.dialect != dialect20 {
		g.source.notes.add(at, mockbase.FieldConflict, "\"example\" and \"examples\" exclude one another")
	}
}
