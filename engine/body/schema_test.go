package body_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// manyWays leads back to itself twice, so that the ways through a list double with each level.
const manyWays = `{"$defs":{"n":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/n"}},{"type":"array","items":{"$ref":"#/$defs/n"}},` +
	`{"type":"string"}]}},"$ref":"#/$defs/n"}`

// deep is the number 1 within lists.
func deep(levels int) string { return strings.Repeat("[", levels) + "1" + strings.Repeat("]", levels) }

func TestH13_schemas(t *testing.T) {
	t.Parallel()
	matches{
		{"H13 multiples are exact", `{"schema":{"multipleOf":0.01}}`, `19.99`, true},
		{"H13 and others are none", `{"schema":{"multipleOf":0.01}}`, `19.999`, false},
		{"H13 large numbers are exact", `{"schema":{"maximum":9007199254740992}}`, `9007199254740993`, false},
		{"H13 2020-12 is the default", `{"schema":{"prefixItems":[{"type":"string"}]}}`, `[1]`, false},
		{"H13 draft-07 by name", `{"schema":{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}]}}`, `[1]`, false},
		{"H13 draft-07 knows no prefixItems", `{"schema":{"$schema":"http://json-schema.org/draft-07/schema#","prefixItems":[{"type":"string"}]}}`, `[1]`, true},
		{"H13 2019-09 by name", `{"schema":{"$schema":"https://json-schema.org/draft/2019-09/schema","dependentRequired":{"a":["b"]}}}`, `{"a":1}`, false},
		{"H13 format does not assert", `{"schema":{"format":"email"}}`, `"x"`, true},
		{"H13 format does not assert in draft-07", `{"schema":{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"format":{"format":"ipv4"},"r":{"format":"regex"}}}}`, `{"format":"x","r":"("}`, true},
		{"H13 a property named format", `{"schema":{"properties":{"format":{"type":"string"}},"const":{"format":"x"}}}`, `{"format":"x"}`, true},
		{"H13 refs within", `{"schema":{"$ref":"#/$defs/n","$defs":{"n":{"type":"integer"}}}}`, `1.5`, false},
		{"H13 2.0 is an integer", `{"schema":{"type":"integer"}}`, `2.0`, true},
		{"H13 true", `{"schema":true}`, `1`, true},
		{"H13 false", `{"schema":false}`, `1`, false},
		{"H13 no JSON is valid", `{"schema":true}`, `x`, false},
		{"H13 a number that takes too long", `{"schema":{"minimum":0}}`, `1e1000000000`, false},
		{"H13 a number that takes too long in a list", `{"schema":{}}`, `{"a":[1e-900000]}`, false},
		{"H13 too many ways through a document", `{"schema":` + manyWays + `}`, deep(25), false},
		{"H13 few ways through a document", `{"schema":` + manyWays + `}`, strings.Replace(deep(5), "1", `"x"`, 1), true},
		{"H13 a long number", `{"schema":{}}`, strings.Repeat("9", 1_001), false},
	}.run(t)
}

func TestH13_a_schema_that_does_not_compile_is_refused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		match string
		want  []string
	}{
		{`{"schema":{"properties":{"a":{"type":"strin"}}}}`, []string{"#/request/body/schema/properties/a/type syntax: the schema is invalid: "}},
		{`{"schema":{"pattern":"(?=a)"}}`, []string{"#/request/body/schema/pattern syntax: the schema is invalid: "}},
		{`{"schema":{"$ref":"http://127.0.0.1:1/x.json"}}`, []string{"#/request/body/schema syntax: the schema does not compile: "}},
		{`{"schema":{"$ref":"file:///etc/passwd"}}`, []string{"#/request/body/schema syntax: the schema does not compile: "}},
		{`{"schema":{"$ref":"other.json"}}`, []string{"#/request/body/schema syntax: the schema does not compile: "}},
		{`{"schema":{"$schema":"http://127.0.0.1:1/meta.json"}}`, []string{"#/request/body/schema syntax: the schema does not compile: "}},
		{`{"schema":{"maximum":1e1000000}}`, []string{"#/request/body/schema syntax: too large: a number has more than 1,000 digits"}},
		{`{"schema":{"$ref":"#"}}`, []string{"#/request/body/schema syntax: the schema refers to itself without end"}},
		{
			`{"schema":{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}}`,
			[]string{"#/request/body/schema syntax: the schema refers to itself without end"},
		},
		{`{"schema":{"type":"object","allOf":[{"$ref":"#"}]}}`, []string{"#/request/body/schema syntax: the schema refers to itself without end"}},
		{`{"schema":"order.json"}`, []string{"#/request/body/schema reference: the schema is the name of a file"}},
	} {
		got := refused(t, c.match)
		for i := range min(len(got), len(c.want)) {
			got[i] = got[i][:min(len(got[i]), len(c.want[i]))]
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.match, diff)
		}
	}
}
