package schemawork_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mockbase/mockbase/internal/schemawork"
)

func compile(t *testing.T, text string, anchors ...string) *schemawork.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("test:///schema", document); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	compiled, err := compiler.Compile("test:///schema")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var anchored []*jsonschema.Schema
	for _, anchor := range anchors {
		schema, err := compiler.Compile("test:///schema#" + anchor)
		if err != nil {
			t.Fatalf("%s: %v", anchor, err)
		}
		anchored = append(anchored, schema)
	}
	return schemawork.Of(compiled, anchored...)
}

func lists(levels int) string {
	return strings.Repeat("[", levels) + "1" + strings.Repeat("]", levels)
}

func objects() string { return strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40) }

// doubled is a schema without recursion whose ways double with each of its references.
func doubled(levels int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a","$defs":{`)
	for i := range levels {
		next := `{"$ref":"#/$defs/a` + strings.Repeat("a", i+1) + `"}`
		b.WriteString(`"a` + strings.Repeat("a", i) + `":{"allOf":[` + next + "," + next + "]},")
	}
	b.WriteString(`"a` + strings.Repeat("a", levels) + `":{"type":"string"}}}`)
	return b.String()
}

func TestH13_validation_takes_a_bounded_number_of_steps(t *testing.T) {
	t.Parallel()
	const back = `{"$ref":"#"}`
	for name, c := range map[string]struct{ schema, document string }{
		"items under anyOf":         {`{"anyOf":[{"items":` + back + `},{"items":` + back + `},{"type":"string"}]}`, lists(40)},
		"items under oneOf":         {`{"oneOf":[{"items":` + back + `},{"items":` + back + `}]}`, lists(40)},
		"items under allOf":         {`{"type":"array","allOf":[{"items":` + back + `},{"items":` + back + `}]}`, lists(40)},
		"not and if":                {`{"type":"array","not":{"items":` + back + `},"if":{"items":` + back + `}}`, lists(40)},
		"then and else":             {`{"if":{"items":` + back + `},"then":{"items":` + back + `},"else":{"items":` + back + `}}`, lists(40)},
		"contains beside items":     {`{"type":"array","contains":` + back + `,"items":` + back + `}`, lists(40)},
		"prefix beside unevaluated": {`{"type":"array","contains":` + back + `,"prefixItems":[` + back + `]}`, lists(40)},
		"properties":                {`{"properties":{"a":` + back + `},"patternProperties":{"^a":` + back + `},"required":["b"]}`, objects()},
		"additional under anyOf":    {`{"anyOf":[{"additionalProperties":` + back + `},{"additionalProperties":` + back + `}],"type":"object"}`, objects()},
		"unevaluated":               {`{"properties":{"b":true},"unevaluatedProperties":` + back + `,"propertyNames":true,"dependentSchemas":{"a":{"properties":{"a":` + back + `}}}}`, objects()},
		"draft-07": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","anyOf":[{"items":[` + back + `]},{"items":` + back + `},{"items":[true],"additionalItems":` + back + `}],"type":"array"}`, lists(40),
		},
		"dependencies of draft-07": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","required":["b"],"properties":{"a":` + back + `},"dependencies":{"a":{"properties":{"a":` + back + `}}}}`, objects(),
		},
		"recursive references of 2019-09": {
			`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"type":"array","anyOf":[{"items":{"$recursiveRef":"#"}},{"items":{"$recursiveRef":"#"}}]}`, lists(40),
		},
		"dynamic references": {
			`{"$dynamicAnchor":"n","type":"array","anyOf":[{"items":{"$dynamicRef":"#n"}},{"items":{"$dynamicRef":"#n"}}]}`, lists(40),
		},
		"references that double":   {doubled(40), `"x"`},
		"schemas that mean others": {meaning(14), `1`},
		"a document too deep":      {`{"items":` + back + `}`, lists(9_000)},
	} {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(c.document))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := compile(t, c.schema).Validate(document); !errors.Is(err, schemawork.ErrTooLarge) {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// meaning is a schema of some parts that each mean every part.
func meaning(parts int) string {
	var all, defs []string
	for i := range parts {
		all = append(all, `{"$ref":"#/$defs/p`+strings.Repeat("x", i)+`"}`)
	}
	for i := range parts {
		defs = append(defs, `"p`+strings.Repeat("x", i)+`":{"anyOf":[`+strings.Join(all, ",")+`]}`)
	}
	return `{"$ref":"#/$defs/p","$defs":{` + strings.Join(defs, ",") + `}}`
}

func TestH13_bounds_do_not_change_what_is_valid(t *testing.T) {
	t.Parallel()
	const back = `{"$ref":"#"}`
	wide := "[" + strings.Repeat(`{"a":[1,2,{"a":3}]},`, 2_000) + "1]"
	for name, c := range map[string]struct {
		schema, document string
		valid            bool
	}{
		"a tree":                     {`{"type":["array","object","integer"],"items":` + back + `,"additionalProperties":` + back + `}`, wide, true},
		"a tree that is wrong":       {`{"type":["array","object","string"],"items":` + back + `,"additionalProperties":` + back + `}`, `[[1]]`, false},
		"branches without return":    {`{"items":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"object"}]}}`, wide, true},
		"branches of another type":   {`{"anyOf":[{"type":"array","items":` + back + `},{"type":"object","additionalProperties":` + back + `},{"type":"number"}]}`, wide, true},
		"a list of depth":            {`{"items":` + back + `}`, lists(2_000), true},
		"a schema that means itself": {`{"anyOf":[` + back + `,{"type":"number"}]}`, `1`, true},
		"doubled a little":           {doubled(8), `"x"`, true},
		"then or else":               {`{"if":true,"then":{"items":` + back + `},"else":{"items":` + back + `}}`, lists(100), true},
		"null":                       {`{"anyOf":[{"type":"null"},{"items":` + back + `},{"type":"boolean"}]}`, `[null,true]`, true},
	} {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(c.document))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = compile(t, c.schema).Validate(document)
		if _, invalid := errors.AsType[*jsonschema.ValidationError](err); (err == nil) != c.valid || !c.valid && !invalid {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

func TestH13_dynamic_references_may_mean_what_nothing_else_leads_to(t *testing.T) {
	t.Parallel()
	const schema = `{"$ref":"list","$defs":{
		"mine":{"$dynamicAnchor":"n","type":"array","anyOf":[{"items":{"$dynamicRef":"list#n"}},{"items":{"$dynamicRef":"list#n"}}]},
		"list":{"$id":"list","items":{"$dynamicRef":"#n"},"$defs":{"n":{"$dynamicAnchor":"n"}}}}}`
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(lists(40)))
	if err != nil {
		t.Fatal(err)
	}
	if err := compile(t, schema, "/$defs/mine").Validate(document); !errors.Is(err, schemawork.ErrTooLarge) {
		t.Errorf("%.200v", err)
	}
}

// H13: schemas that share others are held to the same bounds as alone, and what they share is looked at once.
func TestH13_a_family_is_bounded_like_each_of_its_schemas(t *testing.T) {
	t.Parallel()
	const text = `{"$defs":{
		"deep":{"anyOf":[{"items":{"$ref":"#/$defs/deep"}},{"items":{"$ref":"#/$defs/deep"}},{"type":"string"}]},
		"flat":{"type":"array","items":{"type":"integer"}},
		"both":{"properties":{"a":{"$ref":"#/$defs/flat"},"b":{"$ref":"#/$defs/deep"}}},
		"moving":{"$dynamicRef":"#/$defs/flat"}}}`
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("test:///schema", document); err != nil {
		t.Fatal(err)
	}
	var family schemawork.Family
	for _, c := range []struct {
		name, document string
		work           int
		tooLarge, fine bool
	}{
		{"flat", `[1,2]`, 2, false, true},
		{"flat", `[1,"b"]`, 0, false, false},
		{"deep", lists(40), 6, true, false},
		{"both", `{"a":[1],"b":[]}`, 3, false, true},
		{"both", `{"a":["b"]}`, 0, false, false},
		{"both", `{"b":` + lists(40) + `}`, 0, true, false},
		{"moving", `[1]`, 3, false, true},
		{"flat", `[1]`, 2, false, true}, // Once a reference moves, each schema is looked at apart.
	} {
		compiled, err := compiler.Compile("test:///schema#/$defs/" + c.name)
		if err != nil {
			t.Fatal(err)
		}
		schema, work := family.Of(compiled)
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(c.document))
		if err != nil {
			t.Fatal(err)
		}
		err = schema.Validate(value)
		if got := errors.Is(err, schemawork.ErrTooLarge); work != c.work || got != c.tooLarge || (err == nil) != c.fine {
			t.Errorf("%s of %.40s: %v after %d schemas, want %d", c.name, c.document, err, work, c.work)
		}
	}
}
