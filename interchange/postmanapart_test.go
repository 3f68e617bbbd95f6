package interchange_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/interchange"
)

// collectionOf is a collection with one request, which has saved answers.
func collectionOf(request string, answers ...string) string {
	return postmanHead + `{"name":"one","request":` + request + `,"response":[` + strings.Join(answers, ",") + `]}]}`
}

// answerTo is an answer that was saved for a request.
func answerTo(original, body string) string {
	return `{"name":"` + body + `","originalRequest":` + original + `,"code":200,"body":"` + body + `"}`
}

// M-78: the request that an answer was saved for says when the answer comes: by variables of the path, by headers, by the
// query and by the body. The first answer is that of every other request.
func TestM78_saved_answers_of_Postman_come_to_the_requests_that_they_were_saved_for(t *testing.T) {
	t.Parallel()
	user := func(id string) string {
		return `{"method":"GET","header":[],"url":{"raw":"http://a/users/:id","path":["users",":id"],"variable":[{"key":"id","value":"` + id + `"}]}}`
	}
	headed := func(header string) string {
		return `{"method":"GET","header":[` + header + `],"url":{"raw":"http://a/h"}}`
	}
	posted := func(body string) string {
		return `{"method":"POST","header":[],"url":{"raw":"http://a/p"},"body":` + body + `}`
	}
	raw := func(text string) string {
		return posted(`{"mode":"raw","raw":` + strconv.Quote(text) + `,"options":{"raw":{"language":"json"}}}`)
	}
	graph := func(variables string) string {
		return posted(`{"mode":"graphql","graphql":{"query":"{ a }","variables":"` + strings.ReplaceAll(variables, `"`, `\"`) + `"}}`)
	}
	const jsonBody = "\nContent-Type: application/json\n\n"
	for name, c := range map[string]oddCase{
		"a variable of the path": {
			source:  collectionOf(user("1"), answerTo(user("1"), "one"), answerTo(user("999"), "none"), answerTo(user("a b"), "blank")),
			answers: map[string]string{"GET /users/1": "one", "GET /users/2": "one", "GET /users/999": "none", "GET /users/a%20b": "blank"},
		},
		"a variable of the collection": {
			source: `{"variable":[{"key":"missing","value":"404"}],` + strings.TrimPrefix(
				collectionOf(user("1"), answerTo(user("1"), "one"), answerTo(user("{{missing}}"), "none"), answerTo(user("{{other}}"), "other")), "{"),
			answers: map[string]string{"GET /users/404": "none", "GET /users/5": "one"},
			told:    []string{`the value "{{other}}" of the variable "id" is not known`},
		},
		"a header": {
			source: collectionOf(headed(""), answerTo(headed(`{"key":"Accept","value":"application/json"},{"key":"User-Agent","value":"x"}`), "json"),
				answerTo(headed(`{"key":"accept","value":"application/xml"}`), "xml"), answerTo(headed(`"X-Mode: off"`), "off")),
			answers: map[string]string{
				"GET /h\nAccept: application/json": "json", "GET /h\nAccept: text/html": "json", "GET /h\nAccept: application/xml, */*;q=0.1": "xml", "GET /h\nX-Mode: off": "off",
			},
		},
		"credentials": {
			source:  collectionOf(headed(""), answerTo(headed(`{"key":"Authorization","value":"Bearer {{token}}"}`), "welcome"), answerTo(headed(""), "who")),
			answers: map[string]string{"GET /h\nAuthorization: Bearer 1": "welcome", "GET /h": "who"},
		},
		"credentials of two": {
			source:  collectionOf(headed(""), answerTo(headed(`{"key":"Authorization","value":"Bearer a"}`), "welcome"), answerTo(headed(`{"key":"Authorization","value":"Bearer b"}`), "no")),
			answers: map[string]string{"GET /h\nAuthorization: Bearer 1": "welcome"},
			told:    []string{`the header "Authorization" is a secret`},
		},
		"a body": {
			source: collectionOf(raw(`{"name":"Ann"}`), answerTo(raw(`{"name":"Ann"}`), "made"), answerTo(raw(`{ }`), "bad"), answerTo(raw(`{"name":"{{other}}","x":1}`), "x")),
			answers: map[string]string{
				"POST /p" + jsonBody + `{"name":"Bob"}`: "made", "POST /p" + jsonBody + `{}`: "bad", "POST /p" + jsonBody + `{"x":1,"name":"Eve"}`: "x", "POST /p": "made",
			},
		},
		"variables of GraphQL": {
			source: collectionOf(graph(`{"id":1}`), answerTo(graph(`{"id":1}`), "one"), answerTo(graph(`{"id":2}`), "two"), answerTo(graph(``), "all")),
			answers: map[string]string{
				"POST /p" + jsonBody + `{"query":"{ a }","variables":{"id":2}}`: "two", "POST /p" + jsonBody + `{"query":"{ a }","variables":{"id":3}}`: "one",
				"POST /p" + jsonBody + `{"query":"{ a }"}`: "all", "POST /p" + jsonBody + `{"query":"{ b }"}`: "404",
			},
		},
		"variables of a folder": {
			source: postmanHead + `{"name":"f","variable":[{"key":"v","value":"v2"}],"item":[{"name":"r","request":"http://a/{{v}}/x","response":[{"code":200,"body":"{{v}}"}]}]},` +
				`{"name":"s","request":"http://a/{{v}}/x","response":[{"code":200,"body":"open"}]}]}`,
			answers: map[string]string{"GET /v2/x": "v2", "GET /v3/x": "open"},
		},
		"bodies of two requests with variables": {
			source: postmanHead + strings.Join([]string{
				`{"name":"a","request":` + raw(`{"kind":"a","at":"{{$timestamp}}"}`) + `,"response":[{"code":200,"body":"a"}]}`,
				`{"name":"b","request":` + raw(`{"kind":"b","n":{{n}}}`) + `,"response":[{"code":200,"body":"b"}]}`,
			}, ",") + `]}`,
			answers: map[string]string{"POST /p" + jsonBody + `{"at":"now","kind":"a"}`: "a", "POST /p" + jsonBody + `{"kind":"b","n":7}`: "b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for request, want := range c.answers {
				if want == "404" {
					c.answers[request] = noMatch
				} else {
					c.answers[request] = "|" + want
				}
			}
			c.check(t)
		})
	}
}

// M-78: what the schema of collections 2.1 knows is translated, is told of, or stands in the documentation as saying nothing.
func TestM78_every_member_of_a_collection_is_translated_or_told(t *testing.T) {
	t.Parallel()
	_, told := importTold(t, `{
		"info":{"_postman_id":"i","name":"c","description":"d","version":{"major":1},"schema":"https://schema.getpostman.com/json/collection/v2.1.0/collection.json","novel":1},
		"variable":[{"key":"v","value":{"a":1}},{"key":"w","value":"1","novel":2}, 3],
		"protocolProfileBehavior":{"followRedirects":false},
		"item":[{"name":"r","protocolProfileBehavior":{},"request":{"method":"GET","novel":3,
			"url":{"raw":"http://a/x","protocol":"http","host":["a"],"port":"80","path":["x"],"hash":"h","novel":4,"query":[{"key":null,"value":"v"},7,{"key":"q","value":"1","novel":5}],"variable":[{"key":"x","value":"1","novel":6}]},
			"header":[{"key":"A","value":"b","novel":7},"no header"],"proxy":{"host":"p"},"certificate":{"name":"c"},
			"body":{"mode":"urlencoded","novel":8,"urlencoded":[{"key":"k","value":["v"]},9]}},
			"response":[8,{"id":"i","responseTime":12,"timings":{},"header":[{"key":"B","value":"c","novel":9},"C: d","{{name}}: x",{"key":"D","value":"{{unknown}}"}],
				"cookie":[{"domain":"a","path":"/"}],"body":"b","status":"OK","code":200,"novel":10}]}]}`)
	for _, want := range []string{
		`#/info/novel "novel" has no`, `#/variable/0/value must be a text`, `#/variable/1/novel`, `#/variable/2 must be an object`, `#/item/0/request/novel`, `#/item/0/request/url/novel`,
		`#/item/0/request/url/query/0 the parameter has no name`, `#/item/0/request/url/query/1 must be an object`, `#/item/0/request/url/query/2/novel`, `#/item/0/request/url/variable/0/novel`,
		`#/item/0/request/header/0/novel`, `#/item/0/request/header/1 the line "no header"`, `#/item/0/request/body/novel`, `#/item/0/request/body/urlencoded/0/value must be a text`,
		`#/item/0/request/body/urlencoded/1 must be an object`, `#/item/0/response/0 must be an object`, `#/item/0/response/1/header/0/novel`, `#/item/0/response/1/header/2 nothing says what stands for "{{name}}"`,
		`#/item/0/response/1/header/3 "{{unknown}}" is left as it is`, `#/item/0/response/1/cookie the cookies belong to one client`, `#/item/0/response/1/novel`,
	} {
		if !strings.Contains(told, want) {
			t.Errorf("nothing tells %s:\n%s", want, told)
		}
	}
	made, _ := importTold(t, collectionOf(`"http://a/x"`, `{"code":200,"header":["C: {{$guid}}"],"body":"b"}`))
	if !strings.Contains(made, `"C":"{{ uuid }}"`) || !strings.Contains(made, `"template":true`) {
		t.Error(made)
	}
}

// M-163, M-78: responses with conditions come back from a collection with them.
func TestM163_conditions_of_responses_come_back_from_a_collection(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, decoded(`version: 1
mocks:
  - name: one
    request: { path: "/users/{id}" }
    responses:
      - { name: found, status: 200, json: { ok: true } }
      - { name: none, when: { path: { id: "9" } }, status: 404, json: { ok: false } }
      - { name: german, when: { headers: { Accept-Language: de } }, status: 200, json: { ok: "ja" } }
`))
	back := importOf(t, string(exported(t, s, interchange.ExportOptions{Format: interchange.FormatPostman}).Text), interchange.Options{})
	d, err := back.Definition()
	if err != nil {
		t.Fatal(err)
	}
	first, second := plane(t, s), plane(t, snapshotOf(t, d))
	for _, request := range []string{"/users/1", "/users/9", "/users/2 HTTP/1.1\r\nAccept-Language: de"} {
		if !strings.Contains(request, "HTTP") {
			request += " HTTP/1.1"
		}
		raw := "GET /m/a" + request + "\r\nHost: x\r\n\r\n"
		if want, got := answerOf(first, raw), answerOf(second, raw); want != got || want == noMatch {
			t.Errorf("%s answers %s, wanted %s\n%s", request, got, want, back.JSON())
		}
	}
}
