package openapi

import (
	"strings"

	"github.com/mockbase/mockbase"
)

// typesOf reads the keyword type alone.
func typesOf(p place) kinds {
	var list kinds
	for _, own := range typeTexts(p.find("type")) {
		if kind := typeNamed(own.node.Text); kind != "" && !list.has(kind) {
			list = append(list, kind)
		}
	}
	return list
}

// typeTexts are the texts of a type: one, or those of a list.
func typeTexts(p place) []place {
	if p.is(mockbase.NodeText) {
		return []place{p}
	}
	var list []place
	for _, item := range p.items() {
		if item.is(mockbase.NodeText) {
			list = append(list, item)
		}
	}
	return list
}

// typeNamed is the type of JSON that a name means, "" for none. Documents have the names of programming languages, too, and
// letters of either case.
func typeNamed(name string) string {
	switch lower := strings.ToLower(name); lower {
	case "string", "number", "integer", "boolean", "array", "object", "null":
		return lower
	case "int", "int32", "int64", "long", "short":
		return "integer"
	case "float", "double", "decimal":
		return "number"
	case "bool":
		return "boolean"
	case "str", "text", "date", "date-time", "datetime", "uuid":
		return "string"
	case "list":
		return "array"
	case "map", "dict":
		return "object"
	default:
		return ""
	}
}

// tellTypes warns of names that are none of JSON.
func (t *translator) tellTypes(m member) {
	for _, own := range typeTexts(m.place) {
		switch kind := typeNamed(own.node.Text); {
		case kind == own.node.Text, own.node.Text == typeFile:
		case kind != "":
			t.note(own, mockbase.FieldEnum, "the type "+quoted(own.node.Text)+" is none of JSON; it is read as "+kind)
		default:
			t.note(own, mockbase.FieldEnum, "the type "+quoted(own.node.Text)+" is none of JSON, which has string, number, integer, boolean, array, object and null; it is left out")
		}
	}
}
