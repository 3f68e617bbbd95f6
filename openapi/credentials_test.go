package openapi_test

import "testing"

// Whoever is not let in is told where credentials are looked for.
func TestW46_a_violation_names_the_credentials_that_are_wanted(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`security: [{ key: [], token: [] }, { basic: [] }, { query: [] }, { cookie: [] }]
paths: { /p: { get: { responses: { '204': { description: d } } } } }
components: { securitySchemes: {
  key: { type: apiKey, in: header, name: X-Key }, query: { type: apiKey, in: query, name: key }, cookie: { type: apiKey, in: cookie, name: sid },
  token: { type: http, scheme: bearer }, basic: { type: http, scheme: basic } } }
`)
	a := ask(t, d, "GET /p")
	const want = `the credentials are missing or wrong: wanted is the header "X-Key" with Authorization: Bearer, or Authorization: Basic, or the query parameter "key", or the cookie "sid"`
	if len(a.Violations) != 1 || a.Violations[0].Message != want {
		t.Errorf("violations %+v", a.Violations)
	}
}
