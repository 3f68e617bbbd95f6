package mockbase

import (
	"math"
	"slices"
	"strings"
)

// decodeBodyMatch reads a match on a body.
func decodeBodyMatch(at place) *BodyMatch {
	f := at.fields()
	b := &BodyMatch{}
	decodeJSONMatch(f, b)
	decodeXMLMatch(f, b)
	if schema, ok := f.at("schema"); ok {
		checkSchema(schema)
		b.Schema = schema.JSON()
	}
	b.Form = decodeMatches(f.entries("form"))
	b.Multipart = decodeParts(f)
	if text, ok := f.at("text"); ok {
		b.Text = decodeMatch(text)
	}
	b.HasBase64 = f.base64("base64", &b.Base64)
	b.SHA256 = f.hash("sha256")
	b.Size = decodeMember(f, "size", func(at place) *Operators { return decodeCount(at, 0) })
	b.GraphQL = decodeMember(f, "graphql", decodeGraphQL)
	b.Empty = optional(f, (*Fields).Bool, "empty")
	f.Done()
	f.needsAny("condition")
	return b
}

func decodeJSONMatch(f *Fields, b *BodyMatch) {
	if at, ok := f.at("json"); ok {
		checkMatchers(at)
		b.JSON = at.JSON()
	}
	if at, ok := f.at("jsonExact"); ok {
		checkMatchers(at)
		b.JSONExact = at.JSON()
	}
	f.atMostOne("json", "jsonExact")
	decodeJSONOptions(f, &b.JSONOptions, "json", "jsonExact")
	b.JSONPath = decodeJSONPaths(f)
}

// decodeJSONOptions reads how the documents compare that stand beside the options.
func decodeJSONOptions(f *Fields, to *JSONOptions, documents ...string) {
	options := f.Object("jsonOptions")
	if options == nil {
		return
	}
	options.Bool("ignoreOrder", &to.IgnoreOrder)
	options.Bool("ignoreExtraItems", &to.IgnoreExtraItems)
	options.Bool("numbersAsStrings", &to.NumbersAsStrings)
	options.Bool("strict", &to.Strict)
	options.Done()
	f.needs("jsonOptions", documents...)
}

// needs notes a member that means nothing without one of the others.
func (f *Fields) needs(name string, others ...string) {
	if slices.ContainsFunc(others, f.Has) {
		return
	}
	f.missing(others[0], "is missing: %s needs %s", name, alternatives(others))
}

// checkMatchers checks the operators inside an expected JSON value: an object whose only key is $match holds them for
// its place, one whose only key is $literal stands for itself (rule G16).
func checkMatchers(at place) {
	switch at.Kind {
	case NodeList:
		for i := range at.Items {
			checkMatchers(at.item(i))
		}
	case NodeObject:
		if len(at.Members) == 1 && at.Members[0].Key == "$literal" {
			return
		}
		for _, e := range at.entries() {
			if e.name == "$match" && len(at.Members) == 1 {
				checkMatcher(e.place)
				continue
			}
			checkMatchers(e.place)
		}
	default:
	}
}

func checkMatcher(at place) {
	if at.Kind != NodeObject {
		at.fault(FieldType, "must be an object with operators, found %s: write {$literal: {$match: …}} to mean the key itself", at.describe())
		return
	}
	decodeOperators(at)
}

// decodeJSONPaths reads matches on JSONPath expressions.
func decodeJSONPaths(f *Fields) []NamedMatch {
	entries := f.entries("jsonPath")
	for _, e := range entries {
		if !strings.HasPrefix(e.name, "$") {
			e.key.fault(FieldSyntax, "column 1 of %s: a JSONPath starts with $, as in $.id", quote(e.name))
		}
	}
	return decodeMatches(entries)
}

func decodeXMLMatch(f *Fields, b *BodyMatch) {
	b.XPath = decodeMatches(f.entries("xpath"))
	before := f.faults.Len()
	for _, e := range f.entries("namespaces") {
		if uri, ok := e.text(); ok {
			b.Namespaces = append(b.Namespaces, NamedText{e.name, uri})
		}
	}
	if f.faults.Len() > before {
		b.XPath = nil // no expression can be judged without its prefixes
	}
	if f.Has("namespaces") {
		f.needs("namespaces", "xpath")
	}
	b.XML = optional(f, (*Fields).Text, "xml")
	if options := f.Object("xmlOptions"); options != nil {
		options.Bool("ignoreOrder", &b.XMLOptions.IgnoreOrder)
		options.Bool("trimText", &b.XMLOptions.TrimText)
		options.Done()
		f.needs("xmlOptions", "xml")
	}
}

// checkSchema notes what cannot be a JSON Schema nor name a file with one.
func checkSchema(at place) {
	if at.Kind != NodeObject && at.Kind != NodeText && at.Kind != NodeBool {
		at.fault(FieldType, "must be a JSON Schema or the name of its file, found %s", at.describe())
	}
}

// decodeParts reads the parts that a multipart body must have.
func decodeParts(f *Fields) []PartMatch {
	list := f.list("multipart", 1, math.MaxInt)
	if list == nil {
		return nil
	}
	parts := make([]PartMatch, len(list))
	for i, at := range list {
		part := at.fields()
		match := func(name string) Match {
			at, ok := part.at(name)
			if !ok {
				return nil
			}
			return decodeMatch(at)
		}
		parts[i] = PartMatch{Name: match("name"), Filename: match("filename"), ContentType: match("contentType")}
		parts[i].Headers = decodeHeaderMatches(part)
		parts[i].Body = decodeMember(part, "body", decodeBodyMatch)
		part.Done()
		part.needsAny("condition")
	}
	return parts
}
