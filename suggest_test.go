package mockbase_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

func TestSuggest(t *testing.T) {
	t.Parallel()
	response := []string{"name", "status", "headers", "json", "text", "base64", "file", "delay", "setState"}
	request := []string{"method", "path", "pathMatches", "rawTarget", "query", "headers", "body"}
	cases := []struct {
		name, word string
		known      []string
		want       string
	}{
		{"a letter too few", "statu", response, "status"},
		{"a letter too many", "statuss", response, "status"},
		{"a wrong letter", "stetus", response, "status"},
		{"two letters swapped", "sttaus", response, "status"},
		{"two edits", "haeder", response, "headers"},
		{"another letter case", "SETSTATE", response, "setState"},
		{"three edits are too many", "xyztus", response, ""},
		{"nothing near", "zzz", response, ""},
		{"a short word is not any other", "url", []string{"to"}, ""},
		{"WireMock's urlPath", "urlPath", request, "path"},
		{"WireMock's urlPathPattern", "urlPathPattern", request, "pathMatches"},
		{"an underscore between", "status_code", response, "status"},
		{"body in a response", "body", response, "json"},
		{"bodyPatterns in a request", "bodyPatterns", request, "body"},
		{"a foreign name has no meaning everywhere", "urlPath", response, ""},
		{"the nearest wins", "text2", response, "text"},
		{"the first of two as near", "tex", []string{"next", "text"}, "text"},
		{"nothing is known", "a", nil, ""},
		{"an endless name costs nothing", strings.Repeat("status", 100_000), response, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := mockbase.Suggest(c.word, c.known); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
