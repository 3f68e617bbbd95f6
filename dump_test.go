package mockbase_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

// dump writes every member of v that is not zero in a line of its own, with its path.
func dump(b *bytes.Buffer, path string, v reflect.Value) {
	switch value := v.Interface().(type) {
	case time.Duration:
		fmt.Fprintf(b, "%s = %s\n", path, value)
		return
	case json.RawMessage:
		fmt.Fprintf(b, "%s = %s\n", path, value)
		return
	case []byte:
		fmt.Fprintf(b, "%s = %q\n", path, value)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		dump(b, path, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && !v.Field(i).IsZero() {
				dump(b, path+"."+field.Name, v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			dump(b, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Map:
	case reflect.String:
		fmt.Fprintf(b, "%s = %q\n", path, v.String())
	default:
		fmt.Fprintf(b, "%s = %v\n", path, v.Interface())
	}
}

func TestEveryFieldOfTheFormatHasItsPlaceInTheVocabulary(t *testing.T) {
	t.Parallel()
	for _, file := range definitionFiles(t, "valid") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			d, err := mockbase.DecodeDefinition(readFile(t, file), formatOf(file))
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			dump(&b, "", reflect.ValueOf(*d))
			testkit.Golden(t, filepath.Join("testdata/definitions/decoded", filepath.Base(file)+".golden"), b.Bytes())
		})
	}
}
