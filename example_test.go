package mockbase_test

import (
	"errors"
	"fmt"

	"github.com/mockbase/mockbase"
)

// A definition is read as a whole, and a wrong one names each fault with its place.
func ExampleDecodeDefinition() {
	d, err := mockbase.DecodeDefinition([]byte(`
mocks:
  - request: GET /users/{id}
    response: { json: { id: 7, name: Ada } }
`), mockbase.FormatYAML)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Mocks[0].Name)
	fmt.Println(string(d.Mocks[0].Document))

	_, err = mockbase.DecodeDefinition([]byte(`
mocks:
  - request: GET /users?page=1
    respons: { status: 99 }
`), mockbase.FormatYAML)
	if e, ok := errors.AsType[*mockbase.Error](err); ok {
		for _, f := range e.Fields {
			fmt.Printf("%d:%d: %s: %s [%s]\n", f.Line, f.Column, f.Pointer, f.Detail, f.Code)
		}
	}
	// Output:
	// get-users-id
	// {"name":"get-users-id","request":"GET /users/{id}","response":{"json":{"id":7,"name":"Ada"}}}
	// 3:14: #/mocks/0/request: column 11 of "GET /users?page=1": a path holds no query: move the part behind ? to query [syntax]
	// 4:5: #/mocks/0/respons: unknown key, did you mean "response"? [unknown_key]
}

func ExampleParsePath() {
	pattern, err := mockbase.ParsePath("/files/{name}.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, segment := range pattern.Segments {
		fmt.Println(segment.Kind == mockbase.SegmentLiteral, segment.Parts)
	}
	// Output:
	// true [{files  }]
	// false [{ name } {.json  }]
}

func ExampleFields() {
	var in struct{ email string }
	faults := &mockbase.Faults{}
	node, err := mockbase.ParseNode([]byte(`{"e-mail": "ada@example.com"}`), mockbase.FormatJSON, mockbase.ParseLimits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	f := mockbase.NewFields(node, "#", faults)
	f.Text("email", &in.email)
	f.Required("email")
	f.Done()
	fmt.Println(faults.Err())
	// Output:
	// validation-failed: /e-mail: unknown key, did you mean "email"?
}
