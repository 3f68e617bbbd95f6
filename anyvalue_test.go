package mockbase_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

// oddValues are what nobody means to write.
func oddValues() []*mockbase.Node {
	var values []*mockbase.Node
	for _, text := range []string{
		`null`, `true`, `false`, `-1`, `0`, `1.5`, `1e400`, `99999999999999999999`, `""`, `"a b"`, `"\u0000\n"`, `"{{"`, `"GET /{"`, `"5/10s"`,
		`[]`, `[[]]`, `["a","a"]`, `[null]`, `{}`, `{"a":{}}`, `{"$match":{}}`, `{"use":"x","limit":1}`,
	} {
		n, err := mockbase.ParseNode([]byte(text), mockbase.FormatJSON, mockbase.ParseLimits{})
		if err != nil {
			panic(err)
		}
		values = append(values, n)
	}
	return values
}

// eachValue visits the place of every value.
func eachValue(n *mockbase.Node, pointer string, visit func(place **mockbase.Node, pointer string)) {
	for i := range n.Members {
		child := fmt.Sprintf("%s/%s", pointer, n.Members[i].Key)
		visit(&n.Members[i].Value, child)
		eachValue(n.Members[i].Value, child, visit)
	}
	for i := range n.Items {
		child := fmt.Sprintf("%s/%d", pointer, i)
		visit(&n.Items[i], child)
		eachValue(n.Items[i], child, visit)
	}
}

func TestAnyValueInAnyPlaceIsReadOrRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, file := range definitionFiles(t, "valid") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			root, err := mockbase.ParseNode(readFile(t, file), formatOf(file), mockbase.ParseLimits{})
			if err != nil {
				t.Fatal(err)
			}
			refused, turn := 0, 0
			odd := oddValues()
			eachValue(root, "#", func(place **mockbase.Node, pointer string) {
				own := *place
				defer func() { *place = own }()
				// Every place gets one of the values, every value comes to many places.
				*place = odd[turn%len(odd)]
				turn++
				src := root.JSON()
				d, err := mockbase.DecodeDefinition(src, mockbase.FormatJSON)
				if err != nil {
					refused++
					checkFaults(t, src, err)
					return
				}
				again, err := mockbase.DecodeDefinition(encode(t, d, mockbase.FormatYAML), mockbase.FormatYAML)
				if err != nil {
					t.Fatalf("%s at %s: what was read is refused: %v", (*place).JSON(), pointer, err)
				}
				if want, got := encode(t, d, mockbase.FormatJSON), encode(t, again, mockbase.FormatJSON); !bytes.Equal(want, got) {
					t.Fatalf("%s at %s: comes back as %s", (*place).JSON(), pointer, got)
				}
			})
			if refused == 0 {
				t.Error("nothing was refused")
			}
		})
	}
}

func TestAMemberLeftOutIsReadOrMissed(t *testing.T) {
	t.Parallel()
	missed := map[string]bool{}
	for _, file := range definitionFiles(t, "valid") {
		root, err := mockbase.ParseNode(readFile(t, file), formatOf(file), mockbase.ParseLimits{})
		if err != nil {
			t.Fatal(err)
		}
		eachObject(root, "#", func(n *mockbase.Node, pointer string) {
			own := n.Members
			for i, m := range own {
				n.Members = slices.Delete(slices.Clone(own), i, i+1)
				_, err := mockbase.DecodeDefinition(root.JSON(), mockbase.FormatJSON)
				if err == nil {
					continue
				}
				for _, f := range fieldsOf(t, err) {
					if f.Code == mockbase.FieldRequired && strings.HasPrefix(f.Pointer, pointer) {
						missed[m.Key] = true
					}
				}
			}
			n.Members = own
		})
	}
	for _, key := range []string{
		"request", "response", "responses", "pathMatches", "rawTarget", "scenario", "limit", "window", "to", "events", "url", "header",
		"secret", "proxy", "name", "scheme", "value", "kind", "raw", "fixed", "min", "mean", "stddev", "median", "sigma", "after", "within", "for",
		"json", "xml", "xpath", "chunks", "over", "close", "basic", "reply", "mocks", "file", "inline",
	} {
		if !missed[key] {
			t.Errorf("nothing misses %s", key)
		}
	}
}
