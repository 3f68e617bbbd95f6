package openapi_test

import "testing"

// versions makes an operation that takes and gives types that parameters alone tell apart.
func versions() string {
	return head + `paths:
  /p:
    post:
      requestBody: { content: { application/json; version=1: { schema: { type: integer } }, application/json; version=2: { schema: { type: string } } } }
      responses: { '200': { description: d, content: { application/json; version=1: { example: one }, application/json; version=2: { example: two } } } }
  /plain:
    post:
      requestBody: { content: { application/json; charset=utf-8: { schema: { type: integer } } } }
      responses: { '200': { description: d, content: { application/json: { example: plain }, text/html; charset=utf-8: { example: page } } } }
`
}

func TestW13_parameters_tell_types_of_requests_apart(t *testing.T) {
	t.Parallel()
	run(t, compile(t, versions()), []exchange{
		{"the first", "POST /p\nContent-Type: application/json; version=1\n\n1", "200 application/json; version=1 \"one\""},
		{"the second", "POST /p\nContent-Type: application/json;version=2;charset=utf-8\n\n\"x\"", "200 application/json; version=1 \"one\""},
		{"a value of the other one", "POST /p\nContent-Type: application/json; version=2\n\n1", "422 validation-failed body type"},
		{"none of them", "POST /p\nContent-Type: application/json; version=3\n\n1", "415 unsupported-media-type header.Content-Type mediaType"},
		{"the first where nothing is said", "POST /p\nContent-Type: application/json\n\n1", "200 application/json; version=1 \"one\""},
		{"a charset tells nothing apart", "POST /plain\nContent-Type: application/json; charset=iso-8859-1\n\n1", "200 application/json \"plain\""},
	})
}

func TestW31_W33_parameters_tell_types_of_answers_apart(t *testing.T) {
	t.Parallel()
	run(t, compile(t, versions()), []exchange{
		{"the one that is asked for", "POST /p\nAccept: application/json; version=2", "200 application/json; version=2 \"two\""},
		{"the more wanted one", "POST /p\nAccept: application/json;version=1;q=0.1, application/json;version=2;q=0.9", "200 application/json; version=2 \"two\""},
		{"a parameter says more than none", "POST /p\nAccept: application/json;version=1;q=0, application/json", "200 application/json; version=2 \"two\""},
		{"the first on a tie", "POST /p\nAccept: application/json", "200 application/json; version=1 \"one\""},
		{"none of them", "POST /p\nAccept: application/json; version=3", "406 not-acceptable"},
		{"what no type has is dropped", "POST /plain\nAccept: application/json; version=3", "200 application/json \"plain\""},
		{"a charset is no condition", "POST /plain\nAccept: text/html; charset=iso-8859-1", "200 text/html; charset=utf-8 page"},
		{"commas in quotes divide nothing", "POST /plain\nAccept: application/json; profile=\"a,b\"; q=0.1, text/html; q=0.5", "200 text/html; charset=utf-8 page"},
	})
}
