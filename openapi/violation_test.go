package openapi_test

import (
	"strings"
	"testing"
)

func TestW30_what_is_not_evaluated_is_told_as_that(t *testing.T) {
	t.Parallel()
	d := compile(t, head31+`paths:
  /a:
    post:
      requestBody:
        content:
          application/json:
            schema:
              allOf: [{ properties: { id: { type: integer }, name: { type: string } } }]
              properties: { made: { readOnly: true } }
              unevaluatedProperties: false
      responses: { '200': { description: d } }
`)
	for body, want := range map[string]string{
		`{"id":1,"other":2}`:             "422 validation-failed body.other unevaluatedProperties",
		`{"id":"x","name":"y"}`:          "422 validation-failed body.id type",
		`{"id":"x","name":"y","z":true}`: "422 validation-failed body.id type, body.z unevaluatedProperties",
	} {
		a := ask(t, d, sent("POST /a\nContent-Type: application/json\n\n"+body))
		if got := told(a); got != want {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
		if strings.Contains(string(a.Body), "direction") {
			t.Errorf("%s: %s", body, a.Body)
		}
	}
}
