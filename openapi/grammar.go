package openapi

import (
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// form is what may stand at a place of a description. It is free where everything may.
type form uint8

const (
	formFree form = iota
	formWord
	formBool
	formNumber
	// formFlag is a boolean in some versions and a number in others, formType a text or a list of texts, formNeeded a list of texts
	// or, where a parameter is a schema itself, a boolean.
	formFlag
	formType
	formNeeded
	formTexts
	formList
	formDocument
	formComponents
	formPath
	formOperation
	formParameter
	formBody
	formMedia
	formEncoding
	formResponse
	formSchema
	// formItems is a schema, or a list of them as in older versions.
	formItems
	formDiscriminator
	formScheme
	formRequirement
	formServer
	formVariable
	formExample
	formLink
	// What follows are objects of names, and lists, of others.
	formPaths
	formParameters
	formParametersByName
	formBodies
	formContent
	formEncodings
	formResponses
	formSchemas
	formSchemaList
	formSchemes
	formRequirements
	formServers
	formVariables
	formExamples
	formLinks
	formCallbacks
	formNames
)

// kindsOfForm are the kinds of values that a form may have.
func kindsOfForm(f form) []mockbase.NodeKind {
	switch f {
	case formWord:
		return []mockbase.NodeKind{mockbase.NodeText, mockbase.NodeNumber} // numbers that nobody put in quotes are read as texts
	case formBool:
		return []mockbase.NodeKind{mockbase.NodeBool}
	case formNumber:
		return []mockbase.NodeKind{mockbase.NodeNumber}
	case formFlag:
		return []mockbase.NodeKind{mockbase.NodeBool, mockbase.NodeNumber}
	case formType:
		return []mockbase.NodeKind{mockbase.NodeText, mockbase.NodeList}
	case formNeeded:
		return []mockbase.NodeKind{mockbase.NodeList, mockbase.NodeBool}
	case formTexts, formList, formParameters, formSchemaList, formRequirements, formServers:
		return []mockbase.NodeKind{mockbase.NodeList}
	case formSchema:
		return []mockbase.NodeKind{mockbase.NodeObject, mockbase.NodeBool}
	case formItems:
		return []mockbase.NodeKind{mockbase.NodeObject, mockbase.NodeBool, mockbase.NodeList}
	case formDiscriminator:
		return []mockbase.NodeKind{mockbase.NodeObject, mockbase.NodeText} // the latter in OpenAPI 2.0
	default:
		return []mockbase.NodeKind{mockbase.NodeObject}
	}
}

// partsOfForms are the forms of all items, or of all members that are named by the author; they are free for other forms.
func partsOfForms() map[form]form {
	return map[form]form{
		formTexts: formWord, formType: formWord, formNeeded: formWord, formPaths: formPath, formParameters: formParameter,
		formParametersByName: formParameter, formBodies: formBody, formContent: formMedia, formEncodings: formEncoding, formResponses: formResponse,
		formSchemas: formSchema, formSchemaList: formSchema, formItems: formSchema, formSchemes: formScheme, formRequirements: formRequirement,
		formRequirement: formTexts, formServers: formServer, formVariables: formVariable, formExamples: formExample, formLinks: formLink,
		formCallbacks: formPaths, formNames: formWord,
	}
}

// membersOfForm are the forms of members that the format names.
func membersOfForm(f form) map[string]form {
	switch f {
	case formDocument:
		return map[string]form{
			"servers": formServers, "paths": formPaths, "webhooks": formPaths, "components": formComponents, "security": formRequirements,
			"host": formWord, "basePath": formWord, "schemes": formTexts, "consumes": formTexts, "produces": formTexts, "definitions": formSchemas,
			"parameters": formParametersByName, "responses": formResponses, "securityDefinitions": formSchemes, "tags": formList,
		}
	case formComponents:
		return map[string]form{
			"schemas": formSchemas, "responses": formResponses, "parameters": formParametersByName, "examples": formExamples, "requestBodies": formBodies,
			"headers": formParametersByName, "securitySchemes": formSchemes, "links": formLinks, "callbacks": formCallbacks, "pathItems": formPaths,
		}
	case formPath:
		own := map[string]form{"$ref": formWord, "parameters": formParameters, "servers": formServers}
		for _, m := range methodsOf() {
			own[m.key] = formOperation
		}
		return own
	case formOperation:
		return map[string]form{
			"tags": formTexts, "operationId": formWord, "parameters": formParameters, "requestBody": formBody, "responses": formResponses,
			"callbacks": formCallbacks, "deprecated": formBool, "security": formRequirements, "servers": formServers, "consumes": formTexts,
			"produces": formTexts, "schemes": formTexts,
		}
	case formSchema, formItems:
		return schemaForms()
	case formParameter:
		return parameterForms()
	default:
		return smallForms(f)
	}
}

// smallForms are those of objects with few members.
func smallForms(f form) map[string]form {
	return map[form]map[string]form{
		formBody:     {"$ref": formWord, "content": formContent, "required": formBool},
		formMedia:    {"schema": formSchema, "examples": formExamples, "encoding": formEncodings},
		formEncoding: {"contentType": formWord, "headers": formParametersByName, "style": formWord, "explode": formBool, "allowReserved": formBool},
		formResponse: {
			"$ref": formWord, "headers": formParametersByName, "content": formContent, "links": formLinks, "schema": formSchema,
		},
		formPaths:         {"$ref": formWord},
		formDiscriminator: {"propertyName": formWord, "mapping": formNames},
		formScheme:        {"$ref": formWord, "type": formWord, "in": formWord, "name": formWord, "scheme": formWord, "flow": formWord},
		formServer:        {"url": formWord, "variables": formVariables},
		formVariable:      {"default": formWord, "enum": formTexts},
		formExample:       {"$ref": formWord, "externalValue": formWord},
		formLink:          {"$ref": formWord, "operationId": formWord, "operationRef": formWord},
	}[f]
}

func schemaForms() map[string]form {
	own := map[string]form{
		"$ref": formWord, "$dynamicRef": formWord, "$id": formWord, "$anchor": formWord, "$dynamicAnchor": formWord, "type": formType, "format": formWord,
		"pattern": formWord, "required": formNeeded, "enum": formList, "discriminator": formDiscriminator, "items": formItems,
		"exclusiveMinimum": formFlag, "exclusiveMaximum": formFlag, "dependentRequired": formRequirement, "contentSchema": formSchema,
		"contentMediaType": formWord, "contentEncoding": formWord, "$schema": formWord,
	}
	for f, names := range map[form]string{
		formNumber:     "minimum maximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
		formBool:       "uniqueItems nullable x-nullable readOnly writeOnly deprecated",
		formSchemas:    "properties patternProperties definitions $defs dependentSchemas",
		formSchemaList: "allOf anyOf oneOf prefixItems",
		formSchema:     "additionalProperties unevaluatedProperties unevaluatedItems contains not if then else propertyNames",
	} {
		for name := range strings.FieldsSeq(names) {
			own[name] = f
		}
	}
	return own
}

// parameterForms are those of parameters and headers, which are schemas themselves in OpenAPI 2.0.
func parameterForms() map[string]form {
	own := schemaForms()
	own["required"], own["schema"], own["content"] = formBool, formSchema, formContent
	for _, name := range []string{"name", "in", "style", "collectionFormat"} {
		own[name] = formWord
	}
	for _, name := range []string{"explode", "allowReserved", "allowEmptyValue", "deprecated"} {
		own[name] = formBool
	}
	return own
}

// grammarian looks for values of kinds that have no meaning where they stand: they are left out, and nobody else would tell.
type grammarian struct {
	source  *source
	members map[form]map[string]form
	words   map[form]map[string][]string
	parts   map[form]form
	// told are the places that something is said of already.
	told map[string]bool
	seen map[*mockbase.Node]bool
}

// checkForms warns of all values that are of a wrong kind, but for those that were told before.
func (s *source) checkForms() {
	g := &grammarian{source: s, words: wordsOf(), parts: partsOfForms(), members: map[form]map[string]form{}, told: map[string]bool{}, seen: map[*mockbase.Node]bool{}}
	for _, w := range s.notes.all() {
		g.told[w.Pointer] = true
	}
	g.look(s.top(), "", formDocument)
}

// look checks a value and what is in it. name is how messages call it.
func (g *grammarian) look(p place, name string, f form) {
	if f == formFree || p.node.Kind == mockbase.NodeNull {
		return
	}
	if !g.fits(p, f) {
		if !g.told[p.at] {
			g.source.notes.add(p, mockbase.FieldType, quoted(name)+" is "+p.node.Kind.String()+" and not "+g.kinds(f)+"; it is left out")
		}
		return
	}
	if g.seen[p.node] {
		return
	}
	if len(p.node.Items)+len(p.node.Members) > 0 {
		g.seen[p.node] = true
	}
	if f == formExample {
		g.source.tellOfElsewhere(p)
	}
	parts := g.parts[f]
	if f == formItems && p.node.Kind == mockbase.NodeObject {
		parts = formFree
	}
	if parts != formFree {
		for _, item := range p.items() {
			g.look(item, name, parts)
		}
	}
	g.lookInside(p, f, parts)
	g.lookTogether(p, f)
}

// kinds names what a form may be in the document's version.
func (g *grammarian) kinds(f form) string {
	if f == formDiscriminator && g.source.dialect != dialect20 {
		return mockbase.NodeObject.String()
	}
	return namesOfKinds(f)
}

// tellOfElsewhere warns of an example whose value is elsewhere: what could be read took its place when the document was loaded.
func (s *source) tellOfElsewhere(p place) {
	at := p.find("externalValue")
	if !at.is(mockbase.NodeText) || presentMember(p, "value").node != nil || presentMember(p, "dataValue").node != nil {
		return
	}
	s.notes.add(at, mockbase.FieldReference, "the example is "+quoted(at.node.Text)+", which was not read: it is left out. Send that file together with the document, or write its text as value")
}

// fits tells whether a value has a kind that the form may have. A discriminator is a text in OpenAPI 2.0 alone.
func (g *grammarian) fits(p place, f form) bool {
	newer := f == formDiscriminator && g.source.dialect != dialect20
	return hasKind(f, p.node.Kind) && (!newer || p.node.Kind == mockbase.NodeObject)
}

func (g *grammarian) lookInside(p place, f, parts form) {
	known, asked := g.members[f]
	if !asked {
		known = membersOfForm(f)
		g.members[f] = known
	}
	for i := range p.node.Members {
		m := &p.node.Members[i]
		own, ok := known[m.Key]
		if !ok {
			own = parts
		}
		if own == formFree || !ok && strings.HasPrefix(m.Key, "x-") {
			continue
		}
		at := p.below(mockbase.PointerToken(m.Key), m.Value)
		g.look(at, m.Key, own)
		if list := g.words[f][m.Key]; list != nil && hasKind(own, m.Value.Kind) && hasKind(formWord, m.Value.Kind) && !slices.Contains(list, m.Value.Text) && !g.told[at.at] {
			g.source.notes.add(at, mockbase.FieldEnum, quoted(m.Key)+" is "+quoted(m.Value.Text)+" and none of "+strings.Join(list, ", "))
		}
	}
}

// wordsOf are the words that members may have; others may have any.
func wordsOf() map[form]map[string][]string {
	styles := []string{styleSimple, styleLabel, styleMatrix, styleForm, styleSpace, stylePipe, styleDeep}
	types := []string{"string", "number", "integer", "boolean", "array", "object", "null", "file"}
	return map[form]map[string][]string{
		formParameter: {"style": styles, "type": types, "collectionFormat": {"csv", "ssv", "tsv", "pipes", "multi"}},
		formEncoding:  {"style": styles},
		formSchema:    {"type": types},
		formItems:     {"type": types},
		formScheme: {
			"type": {"apiKey", "http", "oauth2", "openIdConnect", "mutualTLS", "basic"},
			"in":   {inQuery, inHeader, inCookie},
		},
	}
}

func hasKind(f form, kind mockbase.NodeKind) bool { return slices.Contains(kindsOfForm(f), kind) }

// namesOfKinds tells what a form may be.
func namesOfKinds(f form) string {
	var names []string
	for _, own := range kindsOfForm(f) {
		if f != formWord || own == mockbase.NodeText {
			names = append(names, own.String())
		}
	}
	return strings.Join(names, " or ")
}
