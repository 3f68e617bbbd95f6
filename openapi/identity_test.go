package openapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/openapi"
)

// named is a document whose operation takes and gives a schema.
func named(schema, components string) string {
	return head31 + `paths:
  /a:
    post:
      requestBody: { content: { application/json: { schema: ` + schema + ` } } }
      responses: { '200': { description: d, content: { application/json: { schema: ` + schema + ` } } } }
components:
  schemas:
` + components
}

// Rule W22: the $id of a schema is the base of the references within it (JSON Schema 2020-12, section 8.2), for what is checked and
// for what is made alike.
func TestW22_references_have_the_id_around_them_as_base(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, components string }{
		"a pointer": {"{ $ref: '#/components/schemas/Pet' }", `
    Pet: { $id: 'https://e.test/pet', properties: { a: { $ref: '#/$defs/n' } }, required: [a], $defs: { n: { type: integer, minimum: 7 } } }`},
		"a pointer that the root has too": {"{ $ref: '#/components/schemas/Pet' }", `
    Pet: { $id: 'https://e.test/pet', properties: { a: { $ref: '#/components/n' } }, required: [a], components: { n: { type: integer, minimum: 7 } } }
  n: { type: string }`},
		"an anchor that the root has too": {"{ $ref: '#/components/schemas/Pet' }", `
    Other: { $anchor: n, type: string }
    Pet: { $id: 'https://e.test/pet', properties: { a: { $ref: '#n' } }, required: [a], $defs: { n: { $anchor: n, type: integer, minimum: 7 } } }`},
		"a dynamic anchor": {"{ $ref: '#/components/schemas/Pet' }", `
    Pet: { $id: 'https://e.test/pet', properties: { a: { $dynamicRef: '#n' } }, required: [a], $defs: { n: { $dynamicAnchor: n, type: integer, minimum: 7 } } }`},
		"itself": {"{ $ref: '#/components/schemas/Pet' }", `
    Pet: { $id: 'https://e.test/pet', properties: { a: { type: integer, minimum: 7 }, next: { $ref: '#' } }, required: [a] }`},
		"a relative name": {"{ $ref: 'https://e.test/schemas/pet' }", `
    Pet: { $id: 'https://e.test/schemas/pet', properties: { a: { $ref: 'number' } }, required: [a] }
    Number: { $id: 'https://e.test/schemas/number', type: integer, minimum: 7 }`},
		"a part of another": {"{ $ref: 'https://e.test/schemas/pet#/$defs/whole' }", `
    Pet: { $id: 'https://e.test/schemas/pet', $defs: { whole: { properties: { a: { $ref: '../n#count' } }, required: [a] } } }
    Number: { $id: 'https://e.test/n', $defs: { count: { $anchor: count, type: integer, minimum: 7 } } }`},
		"a base within a base": {"{ $ref: '#/components/schemas/Pet' }", `
    Pet: { $id: 'https://e.test/x/pet', properties: { a: { $ref: 'in/number' } }, required: [a], $defs: { n: { $id: in/number, $ref: '#/$defs/own', $defs: { own: { type: integer, minimum: 7 } } } } }`},
		"names without an address": {"{ $ref: pet.json }", `
    Pet: { $id: pet.json, properties: { a: { $ref: 'number.json#/$defs/n' } }, required: [a] }
    Number: { $id: number.json, $defs: { n: { type: integer, minimum: 7 } } }`},
		"a name that is no address": {"{ $ref: '#/components/schemas/Pet' }", `
    Pet: { $id: 'urn:example:pet', properties: { a: { $ref: '#/$defs/n' } }, required: [a], $defs: { n: { $ref: 'urn:example:number' } } }
    Number: { $id: 'urn:example:number', type: integer, minimum: 7 }`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := compile(t, named(c.schema, c.components))
			if list := warnings(d); list != "" {
				t.Errorf("warnings: %s", list)
			}
			if got := told(ask(t, d, "POST /a\nContent-Type: application/json\n\n{\"a\":9}")); !strings.Contains(got, `{"a":7`) {
				t.Errorf("a value that is valid: %s", got)
			}
			if got := told(ask(t, d, "POST /a\nContent-Type: application/json\n\n{\"a\":6}")); got != "422 validation-failed body.a minimum" {
				t.Errorf("a value that is not: %s", got)
			}
		})
	}
}

// Rule W22: authors who know nothing of a base mean the document itself. They are told.
func TestW22_a_reference_that_its_base_does_not_have_is_read_from_the_root_with_a_warning(t *testing.T) {
	t.Parallel()
	d := compile(t, named("{ $ref: '#/components/schemas/Pet' }", `
    Pet: { $id: Pet, properties: { a: { $ref: '#/components/schemas/Number' }, b: { $ref: '#/components/schemas/None' } }, required: [a] }
    Number: { type: integer, minimum: 7 }`))
	want := `reference #/components/schemas/Pet/properties/a: the reference "#/components/schemas/Number" leads nowhere by the $id that is its base: ` +
		"#/components/schemas/Number is taken, which has that name elsewhere in the document\n" +
		`reference #/components/schemas/Pet/properties/b: the reference "#/components/schemas/None" leads nowhere within the document` + "\n"
	if diff := cmp.Diff(want, warnings(d)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got := told(ask(t, d, "POST /a\nContent-Type: application/json\n\n{\"a\":6}")); got != "422 validation-failed body.a minimum" {
		t.Errorf("a value that is not valid: %s", got)
	}
}

// Rule W22: what only looks like an $id is none.
func TestW22_values_and_older_versions_have_no_base(t *testing.T) {
	t.Parallel()
	pet := `
    Pet: { default: { $id: 'https://e.test/x' }, example: { $id: 'https://e.test/x', a: 7 }, properties: { $id: { type: string }, a: { $ref: '#/components/schemas/Number' } }, required: [a] }
    Number: { type: integer, minimum: 7 }`
	for name, text := range map[string]string{
		"a value":       named("{ $ref: '#/components/schemas/Pet' }", pet),
		"version 3.0":   strings.Replace(named("{ $ref: '#/components/schemas/Pet' }", strings.Replace(pet, "Pet: {", "Pet: { $id: 'https://e.test/pet',", 1)), head31, head, 1),
		"no URI at all": named("{ $ref: '#/components/schemas/Pet' }", strings.Replace(pet, "Pet: {", "Pet: { $id: ':%zz',", 1)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := compile(t, text)
			if got := told(ask(t, d, "POST /a\nContent-Type: application/json\n\n{\"a\":6}")); got != "422 validation-failed body.a minimum" {
				t.Errorf("a value that is not valid: %s", got)
			}
		})
	}
}

// identified are files of schemas whose $id is as the case says; %s is the place of the schema that answers.
func identified(pet, number string) openapi.Files {
	return openapi.Files{
		"spec/api.yaml": []byte(head31 + `paths:
  /a:
    post:
      requestBody: { content: { application/json: { schema: { $ref: '../models/pet.json' } } } }
      responses: { '200': { description: d, content: { application/json: { schema: { $ref: '../models/pet.json' } } } } }
components: { schemas: { Least: { type: integer, minimum: 7 } } }
`),
		"models/pet.json":    []byte(pet),
		"models/number.json": []byte(number),
	}
}

// Rule W22: files of an upload are known by their names, and by the $id of their schemas.
func TestW22_ids_are_bases_across_files(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ pet, number, warning string }{
		"names of files": {`{"properties":{"a":{"$ref":"number.json"}},"required":["a"]}`, `{"type":"integer","minimum":7}`, ""},
		"addresses of the same folder": {
			`{"$id":"https://e.test/s/pet.json","properties":{"a":{"$ref":"number.json"}},"required":["a"]}`,
			`{"$id":"https://e.test/s/number.json","type":"integer","minimum":7}`, "",
		},
		"an address that is no file's": {
			`{"$id":"https://e.test/s/pet.json","properties":{"a":{"$ref":"https://e.test/other#n"}},"required":["a"]}`,
			`{"$id":"https://e.test/other","$defs":{"x":{"$anchor":"n","type":"integer","minimum":7}}}`, "",
		},
		"relative to the file": {
			`{"$id":"sub/pet.json","properties":{"a":{"$ref":"../number.json"}},"required":["a"]}`,
			`{"$id":"number.json","$ref":"#/$defs/n","$defs":{"n":{"type":"integer","minimum":7}}}`, "",
		},
		"a pointer within": {
			`{"$id":"https://e.test/s/pet.json","properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"],"$defs":{"n":{"$ref":"number.json"}}}`,
			`{"$id":"https://e.test/s/number.json","$ref":"#/$defs/n","$defs":{"n":{"type":"integer","minimum":7}}}`, "",
		},
		"anchors of the same name": {
			`{"properties":{"a":{"$ref":"#n"}},"required":["a"],"$defs":{"n":{"$anchor":"n","$ref":"number.json#n"}}}`,
			`{"$defs":{"n":{"$anchor":"n","type":"integer","minimum":7}}}`, "",
		},
		"the first file, by a relative $id": {
			`{"$id":"pet.json","properties":{"a":{"$ref":"../spec/api.yaml#/components/schemas/Least"}},"required":["a"]}`, `{}`, "",
		},
		"a file that no $id names": {
			`{"$id":"https://e.test/s/pet.json","properties":{"a":{"$ref":"number.json"}},"required":["a"]}`, `{"type":"integer","minimum":7}`,
			`#/x-files/models~1pet.json/properties/a: the file "models/number.json" is taken for what the reference "number.json" means: by the $id around it that is "https://e.test/s/number.json", which is not there`,
		},
		"a pointer from the root of its file": {
			`{"properties":{"a":{"$id":"https://e.test/in","$ref":"#/$defs/n"}},"required":["a"],"$defs":{"n":{"$ref":"number.json"}}}`, `{"type":"integer","minimum":7}`,
			`#/x-files/models~1pet.json/properties/a: the file "models/pet.json" is taken for what the reference "#/$defs/n" means: by the $id around it that is "https://e.test/in#/$defs/n", which is not there`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, err := identified(c.pet, c.number).Bundle("")
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, w := range source.Warnings() {
				said = append(said, w.Pointer+": "+w.Detail)
			}
			if diff := cmp.Diff(c.warning, strings.Join(said, "\n")); diff != "" {
				t.Errorf("warnings of the files (-want +got):\n%s", diff)
			}
			d := compile(t, string(source.JSON()))
			if list := warnings(d); list != "" {
				t.Errorf("warnings of the document: %s\n%s", list, source.JSON())
			}
			if got := told(ask(t, d, "POST /a\nContent-Type: application/json\n\n{\"a\":9}")); got != `200 application/json {"a":7}` {
				t.Errorf("a value that is valid: %s", got)
			}
			if got := told(ask(t, d, "POST /a\nContent-Type: application/json\n\n{\"a\":6}")); got != "422 validation-failed body.a minimum" {
				t.Errorf("a value that is not: %s", got)
			}
		})
	}
}

// Rule W22: a $dynamicRef means what the outermost schema says that led to it (JSON Schema 2020-12, section 8.2.3.2), for what is
// checked and for what is made alike: a list of anything is filled in by whoever names it.
func TestW22_dynamic_references_mean_what_the_outermost_schema_says(t *testing.T) {
	t.Parallel()
	answers := func(schema string) string {
		return "{ post: { requestBody: { content: { application/json: { schema: { $ref: '" + schema + "' } } } }, " +
			"responses: { '200': { description: d, content: { application/json: { schema: { $ref: '" + schema + "' } } } } } } }\n"
	}
	d := compile(t, head31+`paths:
  /numbers: `+answers("https://e.test/numbers")+`  /words: `+answers("#/components/schemas/Words")+`  /outer: `+answers("#/components/schemas/Outer")+`  /any: `+answers("https://e.test/page")+`components:
  schemas:
    Page: { $id: 'https://e.test/page', required: [list], properties: { list: { type: array, minItems: 1, items: { $dynamicRef: '#item' } } }, $defs: { item: { $dynamicAnchor: item, type: boolean } } }
    Numbers: { $id: 'https://e.test/numbers', $ref: page, $defs: { item: { $dynamicAnchor: item, type: integer, minimum: 7 } } }
    Words: { $id: 'https://e.test/words', allOf: [{ $ref: page }], $defs: { item: { $dynamicAnchor: item, type: string, enum: [w] } } }
    Outer: { $id: 'https://e.test/outer', $ref: numbers, $defs: { item: { $dynamicAnchor: item, type: boolean } } }
`)
	if list := warnings(d); list != "" {
		t.Errorf("warnings: %s", list)
	}
	const body = "\nContent-Type: application/json\n\n"
	run(t, d, []exchange{
		{"a number", "POST /numbers" + body + `{"list":[8]}`, `200 application/json {"list":[7]}`},
		{"no number", "POST /numbers" + body + `{"list":["w"]}`, "422 validation-failed body.list.0 type"},
		{"a word", "POST /words" + body + `{"list":["w"]}`, `200 application/json {"list":["w"]}`},
		{"no word", "POST /words" + body + `{"list":[8]}`, "422 validation-failed body.list.0 type"},
		{"by itself", "POST /any" + body + `{"list":[true]}`, `200 application/json {"list":[true]}`},
		{"by itself, not", "POST /any" + body + `{"list":[8]}`, "422 validation-failed body.list.0 type"},
		{"the outermost counts", "POST /outer" + body + `{"list":[true]}`, `200 application/json {"list":[true]}`},
		{"and no other one", "POST /outer" + body + `{"list":[8]}`, "422 validation-failed body.list.0 type"},
	})
}

// Rule W22: an $id that names no schema is told.
func TestW22_ids_that_name_no_schema_are_told(t *testing.T) {
	t.Parallel()
	want := `pattern #/components/schemas/A/$id: the $id ":%zz" is no URI reference: the references within the schema have the base around it
pattern #/components/schemas/B/$id: the fragment of the $id "https://e.test/b#part" is left out: a part of a schema is named by $anchor
unique #/components/schemas/D/$id: the $id "https://e.test/c" is that of #/components/schemas/C too, which references to it lead to
`
	d := compile(t, head31+`paths: {}
components:
  schemas:
    A: { $id: ':%zz' }
    B: { $id: 'https://e.test/b#part' }
    C: { $id: 'https://e.test/c' }
    D: { $id: 'https://e.test/c' }
    E: { $id: 'https://e.test/e#' }
`)
	if diff := cmp.Diff(want, warnings(d)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// Rule W21: a discriminator names schemas by their $id as well as by their places.
func TestW21_discriminators_know_schemas_by_their_id(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ mapping, made string }{
		"by name":        {"", "Cat"},
		"by address":     {", mapping: { c: 'https://e.test/cat', d: dog }", "c"},
		"by the place":   {", mapping: { c: '#/components/schemas/Cat', d: '#/components/schemas/Dog' }", "c"},
		"by a component": {", mapping: { c: Cat, d: Dog }", "c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := compile(t, named("{ $ref: '#/components/schemas/Any' }", `
    Any: { oneOf: [{ $ref: 'https://e.test/cat' }, { $ref: 'https://e.test/dog' }], discriminator: { propertyName: kind`+c.mapping+` } }
    Cat: { $id: 'https://e.test/cat', type: object, required: [kind, lives], properties: { kind: { type: string }, lives: { type: integer, minimum: 7 } } }
    Dog: { $id: 'https://e.test/dog', type: object, required: [kind, tail], properties: { kind: { type: string }, tail: { type: boolean } } }`))
			begins := "POST /a\nContent-Type: application/json\n\n" + sent(`{"kind":"`+c.made+`","lives":`)
			run(t, d, []exchange{
				{"a value", begins + "9}", `200 application/json {"kind":"` + c.made + `","lives":7}`},
				{"a wrong value", begins + "6}", "422 validation-failed body.lives minimum"},
			})
		})
	}
}

// Rule M-9: however many ways there are to fill schemas in, what is compiled is bounded.
func TestM9_the_ways_to_fill_in_schemas_are_bounded(t *testing.T) {
	t.Parallel()
	const count = 40
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "    S%d: { $id: 'https://e.test/%d', type: object, $defs: { a: { $dynamicAnchor: a%d, type: integer } }, properties: { x: { $dynamicRef: '#a%d' }", i, i, i, i)
		for j := range count {
			fmt.Fprintf(&b, ", p%d: { $ref: '%d' }", j, j)
		}
		b.WriteString(" } }\n")
	}
	d := compile(t, named("{ $ref: '#/components/schemas/S0' }", "\n"+b.String()))
	if got := told(ask(t, d, "POST /a\nContent-Type: application/json\n\n{\"p1\":{\"x\":\"no\"}}")); got != "422 validation-failed body.p1.x type" {
		t.Errorf("a value: %s", got)
	}
	if texts, _ := d.Texts(); texts > 300*count {
		t.Errorf("%d texts are compiled for %d schemas", texts, count)
	}
}
