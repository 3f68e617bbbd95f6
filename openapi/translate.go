package openapi

import (
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
)

// maxCount bounds lengths and counts of schemas: what is larger is never met and never needed.
const maxCount = 1 << 31

// translator writes schemas of OpenAPI as JSON Schema 2020-12. What a schema says wrongly is left out with a warning, so
// that the rest of it counts. The schemas are locked meanwhile.
type translator struct {
	schemas   *schemas
	direction direction
	// joined are the schemas whose allOf holds the one that is translated: a property may be declared there.
	joined []place
	// made counts the schemas of the text, leads are those that it refers to.
	made  int
	leads []*schema
}

func (t *translator) note(p place, code mockbase.Code, detail string) {
	t.schemas.source.notes.add(p, code, detail)
}

// schema translates one schema.
func (t *translator) schema(p place, depth int) any {
	switch {
	case p.node == nil || depth > maxDepth:
		return true
	case p.is(mockbase.NodeBool):
		return p.node.Text == "true"
	case !p.is(mockbase.NodeObject):
		t.note(p, mockbase.FieldType, "the schema is "+p.node.Kind.String()+" and no object; it allows everything")
		return true
	}
	out := map[string]any{}
	if t.made++; t.made > mostTogether && depth > 0 && len(t.joined) == 0 {
		return map[string]any{"$ref": t.lead(p)}
	}
	if p.reference() != "" {
		at, ok := t.schemas.source.follow(p)
		if !ok {
			return true
		}
		out["$ref"] = t.lead(at)
		if t.schemas.source.dialect != dialect31 {
			return out
		}
	}
	for _, m := range p.members() {
		t.keyword(out, p, m, depth)
	}
	exclude(out, p)
	return withNull(out, p)
}

// lead refers to another schema.
func (t *translator) lead(p place) string {
	own := t.schemas.number(p)
	if !slices.Contains(t.leads, own) {
		t.leads = append(t.leads, own)
	}
	return own.standIn()
}

// keyword translates one keyword. Unknown ones say nothing about a value.
func (t *translator) keyword(out map[string]any, p place, m member, depth int) {
	outer := t.joined
	defer func() { t.joined = outer }()
	t.joined = t.beside(p, m.name)
	switch m.name {
	case "type":
		t.types(out, p, m)
	case "properties":
		out[m.name] = t.properties(m.place, depth)
	case "patternProperties", "dependentSchemas":
		out[m.name] = t.named(m, depth)
	case "items":
		if m.is(mockbase.NodeList) {
			out["prefixItems"] = t.list(m, depth)
		} else {
			out[m.name] = t.schema(m.place, depth+1)
		}
	case "allOf", "anyOf", "oneOf", "prefixItems":
		if list := t.list(m, depth); len(list) > 0 {
			out[m.name] = list
		}
	case "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contains", "not", "if", "then", "else", "propertyNames":
		if m.node.Kind != mockbase.NodeNull {
			out[m.name] = t.schema(m.place, depth+1)
		}
	case "required":
		t.required(out, p, m)
	default:
		t.assertion(out, p, m)
	}
}

// beside are the schemas that speak of the same value as those of a keyword.
func (t *translator) beside(p place, keyword string) []place {
	switch keyword {
	case "allOf":
		return append(slices.Clone(t.joined), p)
	case "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "required":
		return t.joined
	default:
		return nil
	}
}

// assertion translates the keywords that hold a plain value.
func (t *translator) assertion(out map[string]any, p place, m member) {
	switch m.name {
	case "enum", "const":
		t.values(out, p, m)
	case "minimum", "maximum", "multipleOf":
		t.number(out, m)
	case "exclusiveMinimum", "exclusiveMaximum":
		if m.is(mockbase.NodeNumber) {
			out[m.name] = plain(m.node)
		}
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		t.count(out, m)
	case "pattern":
		t.pattern(out, m)
	default:
		t.plainly(out, m)
	}
}

// plainly translates the keywords that are taken over as they are.
func (t *translator) plainly(out map[string]any, m member) {
	switch m.name {
	case "format":
		if t.wanted(m, mockbase.NodeText) {
			out[m.name] = m.node.Text
		}
	case "uniqueItems":
		if t.wanted(m, mockbase.NodeBool) {
			out[m.name] = m.node.Text == "true"
		}
	case "dependentRequired":
		if t.wanted(m, mockbase.NodeObject) {
			out[m.name] = t.dependencies(m)
		}
	}
}

// dependencies are the names that a message must have beside another; what is no name is left out.
func (t *translator) dependencies(m member) map[string]any {
	out := map[string]any{}
	for _, own := range m.members() {
		if t.wanted(own, mockbase.NodeList) {
			out[own.name] = t.texts(own)
		}
	}
	return out
}

// texts are the texts of a list, each once; anything else in it is left out.
func (t *translator) texts(m member) []any {
	list, met := []any{}, map[string]bool{}
	for i, item := range m.items() {
		if t.wanted(member{name: m.name + "[" + strconv.Itoa(i) + "]", place: item}, mockbase.NodeText) && !met[item.node.Text] {
			met[item.node.Text] = true
			list = append(list, item.node.Text)
		}
	}
	return list
}

// wanted tells whether a keyword has a value of the kind that it needs; what it has else is told, and left out.
func (t *translator) wanted(m member, kind mockbase.NodeKind) bool {
	if m.is(kind) {
		return true
	}
	t.note(m.place, mockbase.FieldType, m.name+" is "+m.node.Kind.String()+" and not "+kind.String()+"; it is left out")
	return false
}

func (t *translator) types(out map[string]any, p place, m member) {
	list := typesOf(p)
	t.tellTypes(m)
	switch {
	case len(list) == 0:
		if len(typeTexts(m.place)) == 0 {
			t.note(m.place, mockbase.FieldEnum, "the type is none of JSON; it is left out")
		}
		return
	case nullable(p) && !list.has("null"):
		list = append(list, "null")
	}
	values := make([]any, len(list))
	for i, kind := range list {
		values[i] = kind
	}
	out["type"] = values
}

// withNull lets null through where a schema without a type is nullable (rule W19).
func withNull(out map[string]any, p place) any {
	if !nullable(p) || out["type"] != nil || out["enum"] != nil || len(out) == 0 {
		return out
	}
	return map[string]any{"anyOf": []any{out, map[string]any{"type": "null"}}}
}

// properties translates properties; those that a message of this direction must not hold allow nothing.
func (t *translator) properties(p place, depth int) map[string]any {
	out := map[string]any{}
	for _, m := range p.members() {
		if t.hidden(m.place) && t.direction != toServer {
			out[m.name] = false
			continue
		}
		out[m.name] = t.schema(m.place, depth+1)
	}
	return out
}

// hidden tells whether a property has no place in messages of this direction (rules W17 and W18).
func (t *translator) hidden(p place) bool {
	keyword := "readOnly"
	if t.direction == toClient {
		keyword = "writeOnly"
	}
	if p.holds(keyword) {
		return true
	}
	if p.reference() == "" {
		return false
	}
	at, ok := t.schemas.source.follow(p)
	return ok && at.holds(keyword)
}

func (t *translator) named(m member, depth int) map[string]any {
	out := map[string]any{}
	for _, own := range m.members() {
		if _, err := t.schemas.source.pattern(own.name); m.name == "patternProperties" && err != nil {
			t.note(own.place, mockbase.FieldSyntax, "the pattern "+quoted(own.name)+" is left out: "+err.Error())
			continue
		}
		out[own.name] = t.schema(own.place, depth+1)
	}
	return out
}

func (t *translator) list(m member, depth int) []any {
	var out []any
	for _, item := range m.items() {
		out = append(out, t.schema(item, depth+1))
	}
	return out
}

// required leaves out the properties that a message of this direction need not hold. They may be declared beside the list
// or in a schema that is joined with it.
func (t *translator) required(out map[string]any, p place, m member) {
	if !m.is(mockbase.NodeList) {
		// A parameter of OpenAPI 2.0 is a schema itself.
		if !m.is(mockbase.NodeBool) || p.find("in").node == nil {
			t.note(m.place, mockbase.FieldType, "required is "+m.node.Kind.String()+" and no list; it is left out")
		}
		return
	}
	declared := t.schemas.properties(p)
	names, met := []any{}, map[string]bool{}
	for _, item := range m.items() {
		if item.is(mockbase.NodeText) && !met[item.node.Text] && !t.hidden(declared[item.node.Text]) && !t.hiddenAbove(item.node.Text) {
			met[item.node.Text] = true
			names = append(names, item.node.Text)
		}
	}
	out["required"] = names
}

// hiddenAbove tells whether a schema that joins this one hides a property.
func (t *translator) hiddenAbove(name string) bool {
	for _, p := range t.joined {
		if t.hidden(t.schemas.properties(p)[name]) {
			return true
		}
	}
	return false
}

func (t *translator) values(out map[string]any, p place, m member) {
	texts := textsAlone(p)
	switch {
	case m.name == "const":
		out["const"] = plain(t.schemas.source.asText(texts, m.place).node)
	case m.is(mockbase.NodeList) && len(m.node.Items) > 0:
		list := make([]any, len(m.node.Items))
		for i, item := range m.items() {
			list[i] = plain(t.schemas.source.asText(texts, item).node)
		}
		out["enum"] = list
	default:
		t.note(m.place, mockbase.FieldType, "the enum is no list of values; it is left out")
	}
}

func (t *translator) number(out map[string]any, m member) {
	if !m.is(mockbase.NodeNumber) {
		t.note(m.place, mockbase.FieldType, m.name+" is "+m.node.Kind.String()+" and no number; it is left out")
		return
	}
	if value := rational(m.node.Text); m.name == "multipleOf" && value.Sign() <= 0 {
		t.note(m.place, mockbase.FieldRange, "multipleOf is not above 0; it is left out")
		return
	}
	out[m.name] = plain(m.node)
}

func (t *translator) count(out map[string]any, m member) {
	n, ok := countOf(m.place)
	if !ok {
		t.note(m.place, mockbase.FieldType, m.name+" is no count; it is left out")
		return
	}
	out[m.name] = plain(&mockbase.Node{Kind: mockbase.NodeNumber, Text: strconv.Itoa(n)})
}

// countOf reads a count; one beyond [maxCount] is that.
func countOf(p place) (int, bool) {
	if !p.is(mockbase.NodeNumber) {
		return 0, false
	}
	value := rational(p.node.Text)
	if !value.IsInt() || value.Sign() < 0 {
		return 0, false
	}
	if !value.Num().IsInt64() || value.Num().Int64() > maxCount {
		return maxCount, true
	}
	return int(value.Num().Int64()), true
}

func (t *translator) pattern(out map[string]any, m member) {
	if !m.is(mockbase.NodeText) {
		return
	}
	if _, err := t.schemas.source.pattern(m.node.Text); err != nil {
		t.note(m.place, mockbase.FieldSyntax, "the pattern "+quoted(m.node.Text)+" is left out: "+err.Error())
		return
	}
	out["pattern"] = m.node.Text
}

// exclude writes the exclusive bounds of 2.0 and 3.0, which are flags there.
func exclude(out map[string]any, p place) {
	for _, name := range []struct{ flag, bound string }{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		if bound, ok := out[name.bound]; ok && p.holds(name.flag) {
			out[name.flag] = bound
			delete(out, name.bound)
		}
	}
}
