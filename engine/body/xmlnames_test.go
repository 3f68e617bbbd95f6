package body_test

import (
	"strings"
	"testing"
)

func TestJ7_xml_that_is_not_well_formed_is_not_read(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`<r a="1" a="1"/>`: `the attribute "a" is given twice`,
		`<r xmlns:p="u" xmlns:q="u" p:a="1" q:a="1"/>`: `the attribute "a" is given twice`,
		`<z:r/>`:                        `the prefix "z" is not declared`,
		`<r z:a="1"/>`:                  `the prefix "z" is not declared`,
		`<r><i xmlns:z="u"/><z:i/></r>`: `the prefix "z" is not declared`,
		`<r xmlns="d"><z:i/></r>`:       `the prefix "z" is not declared`,
		`<r xmlns:z="u" xml:lang="en"><z:i z:a="1"/></r>`: "",
		`<r xmlns="d" a="1"><i xmlns="e"/></r>`:           "",
	} {
		for _, match := range []string{`{"xml":"<none/>"}`, `{"xpath":{"/none":"1"}}`} {
			f := compile(t, match).Findings(message(text))[0]
			if told := strings.Contains(f.Actual, want) && want != ""; f.Holds || told != (want != "") || want == "" && strings.Contains(f.Actual, "invalid") {
				t.Errorf("%s on %s: got %q, want %q", match, text, f.Actual, want)
			}
		}
	}
}
