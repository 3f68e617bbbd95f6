package files_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
)

// severalFiles are a definition that names an OpenAPI document, which names other files.
const severalFiles = `
-- apis/mocks.yaml --
project: shop
documents:
  - name: first
    inline: { openapi: 3.0.0, info: { title: t, version: '1' }, paths: {} }
  - { name: pets, file: sub/pets.yaml }
mocks:
  - { request: GET /x, response: {} }
-- apis/sub/pets.yaml --
openapi: 3.0.0
info: { title: t, version: '1' }
info: { title: twice, version: '1' }
paths:
  /pets/{id}:
    get:
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses:
        '200':
          description: d
          content:
            application/json:
              schema: { $ref: 'model/pet.yaml#/Pet' }
              examples: { one: { externalValue: example.json } }
-- apis/sub/model/pet.yaml --
Pet:
  type: object
  properties:
    name: { $ref: gone.yaml }
    tags: { type: text }
-- apis/sub/example.json --
{ "name": "no definition" }
`

// Rules C-22 and W22: a fault of a document that is a file is told at its place in that file, also in one that the document names.
func TestC22_faults_of_documents_are_told_in_their_own_files(t *testing.T) {
	t.Parallel()
	set, _, faults := load(t, tree(t, severalFiles), files.Options{})
	if len(faults) > 0 || set.Files != 1 {
		t.Fatalf("%d files: %v", set.Files, faults)
	}
	project := set.Projects[0]
	if list := project.Definition.Config.Documents; len(list) != 2 || !strings.Contains(string(list[1].Inline), `"no definition"`) {
		t.Fatalf("%d documents", len(list))
	}
	if source := string(project.Definition.Config.Source["documents"]); !strings.Contains(source, `"first"`) || !strings.Contains(source, `"no definition"`) {
		t.Errorf("the section is %s", source)
	}
	ending := func(found files.Finding, want string) {
		t.Helper()
		if got := found.String() + " " + found.Pointer; !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if len(set.Warnings) != 2 {
		t.Fatalf("warnings %v", set.Warnings)
	}
	ending(set.Warnings[0], "/apis/sub/pets.yaml:3:1: info: ")
	ending(set.Warnings[1], "/apis/sub/model/pet.yaml:4:11: Pet.properties.name: the file ")
	at := "#/documents/1/inline"
	found := project.FindingsOf(pointed(
		at+"/x-files/apis~1sub~1model~1pet.yaml/Pet/properties/tags/type", "#/mocks/0/request", at+"/paths/~1pets~1%7Bid%7D/get/responses/200",
		"#/documents/0/inline/info", at, "#/documents/1/name", at+"/x-files/apis~1sub~1model~1pet.yaml/Pet/properties/name",
	))
	for i, want := range []string{
		"/apis/sub/model/pet.yaml:5:19: Pet.properties.tags.type: odd [reference] #/Pet/properties/tags/type",
		"/apis/mocks.yaml:7:16: ",
		"/apis/sub/pets.yaml:10:11: paths./pets/{id}.get.responses[200]: odd [reference] #/paths/~1pets~1%7Bid%7D/get/responses/200",
		"/apis/mocks.yaml:4:37: documents[0].inline.info",
		"/apis/sub/pets.yaml:1:1: odd",
		"/apis/mocks.yaml:5:13: documents[1].name",
		"/apis/sub/model/pet.yaml:4:11: ",
	} {
		ending(found[i], want)
	}
	if list := files.Further(set.Warnings, found[6:]); len(list) > 0 {
		t.Errorf("a reference is told twice: %v", list)
	}
	if list := project.Repairs(); len(list) != 2 {
		t.Errorf("repairs %v", list)
	}
}

// Rule C-22: a file that is named as an OpenAPI document and is none is told at its own place, once.
func TestC22_what_is_no_document_is_told_in_its_own_file(t *testing.T) {
	t.Parallel()
	set, _, faults := load(t, tree(t, `
-- mocks.yaml --
documents: [ { name: a, file: sub/broken.yaml }, { name: b, file: sub/none.json } ]
-- sub/broken.yaml --
openapi: 3.0.0
info: [
-- sub/none.json --
{ "swagger": "9" }
`), files.Options{})
	text := strings.Join(faults, "\n")
	if len(faults) != 2 || !strings.Contains(text, "sub/broken.yaml:") || !strings.Contains(text, `sub/none.json:1:1: the version "9" is not known`) {
		t.Errorf("%d files: %s", set.Files, text)
	}
}

// pointed are faults at places of a definition.
func pointed(pointers ...string) []mockbase.FieldError {
	list := make([]mockbase.FieldError, len(pointers))
	for i, pointer := range pointers {
		list[i] = mockbase.FieldError{Pointer: pointer, Code: mockbase.FieldReference, Detail: "odd"}
	}
	return list
}
