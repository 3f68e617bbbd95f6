package management_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/mockbase/mockbase/internal/testkit"
)

// M-21: v1 changes by addition only. The golden file lists what clients of v1 rely on: each operation with its parameters and
// statuses, and each member of a named shape with its type. A line that is added is fine, and the file is written anew for it;
// one that would leave or change breaks somebody: keep it, and announce by Deprecation and Sunset that it will go.
func TestM21_what_v1_promised_stays(t *testing.T) {
	t.Parallel()
	doc := document(t)
	lines := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			at := method + " " + path
			lines[at+" "+operation.OperationID] = true
			for _, p := range append(slices.Clone(item.Parameters), operation.Parameters...) {
				lines[fmt.Sprintf("%s %s %s", at, p.Value.In, p.Value.Name)] = true
			}
			for status := range operation.Responses.Map() {
				if status < "400" {
					lines[at+" "+status] = true
				}
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		promise(lines, name, schema)
	}
	text := strings.Join(slices.Sorted(maps.Keys(lines)), "\n") + "\n"
	testkit.Golden(t, "testdata/v1.txt", []byte(text))
}

// promise lists the members of a shape, also of those within it that have no name of their own.
func promise(lines map[string]bool, at string, schema *openapi3.SchemaRef) {
	if schema == nil || schema.Value == nil {
		return
	}
	for name, member := range schema.Value.Properties {
		place := at + "." + name
		switch {
		case member.Ref != "":
			lines[place+" "+member.Ref[strings.LastIndexByte(member.Ref, '/')+1:]] = true
		case member.Value.Type != nil:
			lines[place+" "+strings.Join(member.Value.Type.Slice(), "|")] = true
		default:
			lines[place] = true
		}
		if member.Ref == "" {
			promise(lines, place, member)
		}
	}
	if items := schema.Value.Items; items != nil && items.Ref == "" {
		promise(lines, at+"[]", items)
	}
	for _, part := range schema.Value.AllOf {
		if part.Ref == "" {
			promise(lines, at, part)
		}
	}
}
