package mockbase_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

// matcherMaps are the places of maps whose keys are names that a request is asked for.
var matcherMaps = []string{
	`{"path":"/a","query":{%q:"a"}}`, `{"path":"/a","headers":{%q:"a"}}`, `{"path":"/a","cookies":{%q:"a"}}`,
	`{"path":"/a","matrix":{%q:"a"}}`, `{"path":"/a","body":{"form":{%q:"a"}}}`, `{"path":"/a","body":{"xpath":{%q:"a"}}}`,
	`{"path":"/a","not":{"path":{%q:"a"}}}`, `{"path":"/a","anyOf":[{"headers":{%q:"a"}}]}`,
	`{"path":"/a","body":{"multipart":[{"headers":{%q:"a"}}]}}`,
}

func TestM9_a_matcher_name_has_a_bound(t *testing.T) {
	t.Parallel()
	decode := func(request string, length int) []mockbase.FieldError {
		src := fmt.Sprintf(`{"request":`+request+`,"response":{}}`, strings.Repeat("x", length))
		_, err := mockbase.DecodeMock([]byte(src), mockbase.FormatJSON)
		if err == nil {
			return nil
		}
		return fieldsOf(t, err)
	}
	for _, request := range matcherMaps {
		if fields := decode(request, 8192); len(fields) > 0 {
			t.Errorf("%s: a name of 8,192 bytes: %s", request, fields[0].Detail)
		}
		for _, length := range []int{8193, 70_000} {
			fields := decode(request, length)
			want := fmt.Sprintf("the name has %d bytes, at most 8192 are allowed: shorten it", length)
			if len(fields) != 1 || fields[0].Code != mockbase.FieldLimit || fields[0].Detail != want ||
				!strings.HasSuffix(fields[0].Pointer, "/"+strings.Repeat("x", length)) {
				t.Errorf("%s: a name of %d bytes has %d faults", request, length, len(fields))
			}
		}
	}
}

func TestE4_a_cookie_name_is_whatever_a_request_can_hold(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "a", "a b", "a,b", `"a"`, "é", "$Version", "a\tb", "(a)", "__Host-x"} {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		src := fmt.Sprintf(`{"request":{"path":"/a","cookies":{%s:"a"}},"response":{}}`, quoted)
		if _, err := mockbase.DecodeMock([]byte(src), mockbase.FormatJSON); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestM5_a_long_wrong_name_is_shortened_and_escaped(t *testing.T) {
	t.Parallel()
	src := fmt.Sprintf(`{"request":{"path":"/a","headers":{%q:"a"}},"response":{}}`, "X\r\n"+strings.Repeat("y", 5000))
	_, err := mockbase.DecodeMock([]byte(src), mockbase.FormatJSON)
	want := `"X\r\n` + strings.Repeat("y", 56) + "…\" is no header name: use letters, digits and !#$%&'*+-.^_`|~"
	if fields := fieldsOf(t, err); len(fields) != 1 || fields[0].Detail != want || fields[0].Code != mockbase.FieldPattern {
		t.Errorf("got %+v", fields)
	}
}
