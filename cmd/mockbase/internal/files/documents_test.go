package files_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
)

// Rules W22 and C-22: a document in a folder takes what it refers to from other files of the folder, and those are no
// definitions of their own.
func TestW22_documents_in_a_folder_refer_to_their_siblings(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- apis/pets.yaml --
openapi: 3.0.3
info: { title: Pets, version: '1' }
paths:
  /pets: { get: { responses: { '200': { description: d, content: { application/json: { schema: { $ref: '../shared/pet.yaml#/Pet' } } } } } } }
  /bad: { get: { responses: { '200': { description: d, content: { application/json: { schema: { $ref: '../../secret.yaml#/Pet' } } } } } } }
-- apis/named.yaml --
documents: [ { name: named, file: more/named.yaml } ]
-- apis/more/named.yaml --
openapi: 3.0.3
info: { title: Named, version: '1' }
paths:
  /n: { get: { responses: { '200': { description: d, content: { application/json: { schema: { $ref: '../../shared/pet.yaml#/Pet' } } } } } } }
-- shared/pet.yaml --
Pet: { type: object, properties: { name: { type: string } } }
`)
	set, _, faults := load(t, dir, files.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if set.Files != 2 {
		t.Errorf("%d definitions", set.Files)
	}
	list := set.Projects[0].Definition.Config.Documents
	if len(list) != 2 {
		t.Fatalf("%d documents", len(list))
	}
	for _, d := range list {
		if !bytes.Contains(d.Inline, []byte(`"x-files":{"shared/pet.yaml":{"Pet":`)) {
			t.Errorf("%s is %s", d.Name, d.Inline)
		}
	}
	if len(set.Warnings) != 1 || !strings.Contains(set.Warnings[0].Message, "lies outside the folder") {
		t.Errorf("warnings %v", set.Warnings)
	}
}

// YAML may begin with a brace, whether it is a definition, an OpenAPI document or what one names.
func TestC22_yaml_may_begin_with_a_brace(t *testing.T) {
	t.Parallel()
	set, _, faults := load(t, tree(t, `
-- api.yaml --
{
  openapi: 3.0.3, info: { title: t, version: '1' },
  paths: { /a: { get: { responses: { '200': { description: d, content: { application/json: { schema: { $ref: m/m.yaml } } } } } } } } }
-- m/m.yaml --
{ type: integer }
-- mocks.yaml --
{ mocks: [{ request: GET /x, response: {} }] }
`), files.Options{})
	if len(faults) > 0 || set.Files != 2 || len(set.Projects[0].Definition.Config.Documents) != 1 {
		t.Errorf("%d files: %v", set.Files, faults)
	}
	input, err := files.Load(files.Options{Paths: []string{"-"}, Input: strings.NewReader("{ mocks: [{ request: GET /x, response: {} }] }\n")})
	if err != nil || len(input.Faults) > 0 {
		t.Errorf("%v: %v", err, input.Faults)
	}
}
