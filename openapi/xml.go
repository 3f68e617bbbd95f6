package openapi

import (
	"bytes"
	"encoding/xml"
	"strings"
	"unicode"

	"github.com/mockbase/mockbase"
)

// xmlWriter writes values as XML by the hints of their schemas.
type xmlWriter struct {
	schemas *schemas
	out     bytes.Buffer
}

// xml writes a value as an XML document. The root is named by its schema, else "xml".
func (t *mediaType) xml(n *mockbase.Node) []byte {
	w := &xmlWriter{}
	at := place{}
	if t.schema != nil {
		w.schemas, at = t.schema.owner, t.schema.place
	}
	w.out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	name := w.rootName(at)
	if n.Kind == mockbase.NodeList {
		item := w.item(at)
		w.wrapped(name, w.name(item, name), item, n)
	} else {
		w.element(name, at, n, 0)
	}
	return w.out.Bytes()
}

// follow returns what a schema means.
func (w *xmlWriter) follow(p place) place {
	if w.schemas == nil || p.node == nil {
		return place{}
	}
	at, _ := w.schemas.source.follow(p)
	return at
}

func (w *xmlWriter) rootName(p place) string {
	name := w.name(p, "")
	if ref := p.reference(); name == "" && ref != "" {
		name = ref[strings.LastIndexByte(ref, '/')+1:]
	}
	if name == "" {
		return "xml"
	}
	return name
}

// name is the name that a schema gives its element.
func (w *xmlWriter) name(p place, otherwise string) string {
	hints := w.follow(p).find("xml")
	name := hints.text("name")
	if name == "" {
		name = otherwise
	}
	if prefix := hints.text("prefix"); prefix != "" && name != "" {
		name = prefix + ":" + name
	}
	return name
}

func (w *xmlWriter) item(p place) place {
	if w.schemas == nil || p.node == nil {
		return place{}
	}
	return w.schemas.item(p, 0)
}

// wrapped writes a list within an element of its own.
func (w *xmlWriter) wrapped(name, each string, item place, n *mockbase.Node) {
	w.open(name, nil, place{})
	for _, own := range n.Items {
		w.element(each, item, own, 0)
	}
	w.end(name)
}

// element writes one value as an element.
func (w *xmlWriter) element(name string, p place, n *mockbase.Node, depth int) {
	switch n.Kind {
	case mockbase.NodeObject:
		w.object(name, p, n, depth)
	case mockbase.NodeList:
		item := w.item(p)
		if w.follow(p).find("xml").holds("wrapped") {
			w.wrapped(name, w.name(item, name), item, n)
			return
		}
		for _, own := range n.Items {
			w.element(name, item, own, depth+1)
		}
	default:
		w.open(name, nil, p)
		if n.Kind != mockbase.NodeNull {
			w.text(scalarText(n))
		}
		w.end(name)
	}
}

func (w *xmlWriter) object(name string, p place, n *mockbase.Node, depth int) {
	declared := map[string]place{}
	if w.schemas != nil && p.node != nil {
		declared = w.schemas.properties(p)
	}
	var attributes, children []mockbase.Member
	for _, m := range n.Members {
		if w.follow(declared[m.Key]).find("xml").holds("attribute") {
			m.Key = w.name(declared[m.Key], m.Key)
			attributes = append(attributes, m)
		} else {
			children = append(children, m)
		}
	}
	w.open(name, attributes, p)
	for _, m := range children {
		own := declared[m.Key]
		each := w.name(own, m.Key)
		if m.Value.Kind == mockbase.NodeList && !w.follow(own).find("xml").holds("wrapped") {
			each = w.name(w.item(own), each)
		}
		w.element(each, own, m.Value, depth+1)
	}
	w.end(name)
}

func (w *xmlWriter) open(name string, attributes []mockbase.Member, p place) {
	w.out.WriteString("<" + elementName(name))
	if hints := w.follow(p).find("xml"); hints.text("namespace") != "" {
		key := "xmlns"
		if prefix := hints.text("prefix"); prefix != "" {
			key += ":" + elementName(prefix)
		}
		w.attribute(key, hints.text("namespace"))
	}
	for _, m := range attributes {
		w.attribute(elementName(m.Key), scalarText(m.Value))
	}
	w.out.WriteByte('>')
}

func (w *xmlWriter) attribute(name, value string) {
	w.out.WriteString(" " + name + `="`)
	w.text(value)
	w.out.WriteByte('"')
}

func (w *xmlWriter) end(name string) { w.out.WriteString("</" + elementName(name) + ">") }

func (w *xmlWriter) text(value string) {
	// Writing to a buffer does not fail.
	_ = xml.EscapeText(&w.out, []byte(value))
}

// elementName replaces what no name of an element can hold.
func elementName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(":_-.", r) || unicode.IsLetter(r) || unicode.IsDigit(r):
			return r
		default:
			return '_'
		}
	}, name)
	if name == "" || strings.ContainsRune("0123456789-.", rune(name[0])) {
		return "_" + name
	}
	return name
}
