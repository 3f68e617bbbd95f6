package interchange_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/interchange"
)

// M-78: where several entries match one request, that of them answers which the tool takes, although another one may be the
// more special to MockBase; and what never meets keeps its priority.
func TestM78_the_order_of_the_tool_decides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, request, want, priorities string }{
		{
			"WireMock: a later expression", `{"mappings":[
				{"request":{"method":"GET","url":"/o/7"},"response":{"body":"first"}},
				{"request":{"method":"GET","urlPathPattern":"/o/.*"},"response":{"body":"later"}},
				{"request":{"method":"POST","urlPathPattern":"/o/.*"},"response":{"body":"other method"}},
				{"request":{"method":"GET","urlPathPattern":"/p/.*"},"response":{"body":"other path"}}]}`, "/o/7", "later", "0 1 0 0",
		},
		{
			"WireMock: a later one with less conditions", `{"mappings":[
				{"request":{"method":"GET","urlPath":"/o","queryParameters":{"a":{"equalTo":"1"}}},"response":{"body":"special"}},
				{"request":{"method":"GET","urlPath":"/o"},"response":{"body":"general"}}]}`, "/o?a=1", "general", "0 1",
		},
		{
			"WireMock: a later one of any method, and any before", `{"mappings":[
				{"request":{"method":"GET","urlPath":"/o"},"response":{"body":"get"}},
				{"request":{"method":"ANY","urlPath":"/o"},"response":{"body":"any"}},
				{"request":{"method":"DELETE","urlPath":"/o"},"response":{"body":"delete"}}]}`, "/o", "any", "0 1 1",
		},
		{
			"WireMock: a chain", `{"mappings":[
				{"request":{"method":"GET","urlPath":"/a/b"},"response":{"body":"1"}},
				{"request":{"method":"GET","urlPathTemplate":"/a/{x}"},"response":{"body":"2"}},
				{"request":{"method":"GET"},"response":{"body":"3"}}]}`, "/a/b", "3", "0 1 2",
		},
		{
			"WireMock: priorities count first", `{"mappings":[
				{"priority":5,"request":{"method":"GET","urlPath":"/a/b"},"response":{"body":"literal"}},
				{"priority":9,"request":{"method":"GET","urlPathPattern":"/a/.*"},"response":{"body":"low"}},
				{"priority":1,"request":{"method":"GET","urlPathPattern":"/a/c"},"response":{"body":"apart"}}]}`, "/a/b", "literal", "0 -4 4",
		},
		{
			"WireMock: states and hosts apart", `{"mappings":[
				{"scenarioName":"s","requiredScenarioState":"Started","request":{"method":"GET","urlPath":"/a/b"},"response":{"body":"state"}},
				{"scenarioName":"s","requiredScenarioState":"done","request":{"method":"GET","urlPathPattern":"/a/.*"},"response":{"body":"other state"}},
				{"request":{"method":"GET","urlPath":"/h/b","host":{"equalTo":"a.test"}},"response":{"body":"a"}},
				{"request":{"method":"GET","urlPathPattern":"/h/.*","host":{"equalTo":"b.test"}},"response":{"body":"b"}}]}`, "/a/b", "state", "0 0 0 0",
		},
		{
			"WireMock: targets apart", `{"mappings":[
				{"request":{"method":"GET","url":"/a?x=1"},"response":{"body":"one"}},
				{"request":{"method":"GET","url":"/a?x=2"},"response":{"body":"two"}},
				{"request":{"method":"GET","urlPath":"/a"},"response":{"body":"any"}}]}`, "/a?x=1", "any", "0 0 1",
		},
		{
			"MockServer: an earlier expression", `[
				{"httpRequest":{"path":"/ms/.*"},"httpResponse":{"body":"first"}},
				{"httpRequest":{"path":"/ms/1"},"httpResponse":{"body":"literal"}}]`, "/ms/1", "first", "0 1",
		},
		{
			"Smocker: the last declared", "- request: {method: GET, path: /a/1}\n  response: {body: literal}\n" +
				"- request: {method: GET, path: {matcher: ShouldMatch, value: /a/.*}}\n  response: {body: last}\n", "/a/1", "last", "0 1",
		},
		{
			"Hoverfly: the strongest, whatever its place", `{"data":{"pairs":[
				{"request":{"method":[{"matcher":"exact","value":"GET"}],"path":[{"matcher":"glob","value":"/a/*"}],"headers":{"X-A":[{"matcher":"exact","value":"1"}]}},"response":{"status":200,"body":"strong"}},
				{"request":{"path":[{"matcher":"exact","value":"/a/1"}]},"response":{"status":200,"body":"weak"}}]},"meta":{"schemaVersion":"v5"}}`, "/a/1", "strong", "1 0",
		},
		{
			"Hoverfly: the later of equal strength", `{"data":{"pairs":[
				{"request":{"path":[{"matcher":"exact","value":"/a/1"}]},"response":{"status":200,"body":"first"}},
				{"request":{"method":[{"matcher":"glob","value":"G*"}],"path":[{"matcher":"glob","value":"/a/*"}]},"response":{"status":200,"body":"later"}}]},"meta":{"schemaVersion":"v5"}}`, "/a/1", "later", "0 1",
		},
		{
			"Mockoon: the first route", `{"uuid":"e","lastMigration":33,"routes":[
				{"uuid":"1","type":"http","method":"get","endpoint":"a/:id","responses":[{"statusCode":200,"default":true,"body":"first"}]},
				{"uuid":"2","type":"http","method":"get","endpoint":"a/b","responses":[{"statusCode":200,"default":true,"body":"literal"}]},
				{"uuid":"3","type":"http","method":"get","endpoint":"c/:id","responses":[{"statusCode":200,"default":true,"body":"apart"}]}]}`, "/a/b", "first", "0 0 1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := importOf(t, c.source, interchange.Options{})
			d, err := r.Definition()
			if err != nil {
				t.Fatal(err)
			}
			var priorities []string
			for _, m := range d.Mocks {
				priorities = append(priorities, strconv.Itoa(m.Priority))
			}
			if got := strings.Join(priorities, " "); got != c.priorities {
				t.Errorf("priorities %s, want %s", got, c.priorities)
			}
			got := answerOf(plane(t, snapshotOf(t, d)), "GET /m/a"+c.request+" HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n\r\n")
			if !strings.HasSuffix(got, "|"+c.want) {
				t.Errorf("%s answers, want %s", got, c.want)
			}
		})
	}
}

// M-78: a CRUD route that stands before a route for one of its resources answers there, as a mock does.
func TestM78_the_order_of_Mockoon_holds_for_collections(t *testing.T) {
	t.Parallel()
	route := `{"uuid":"2","type":"http","method":"get","endpoint":"people/1","responses":[{"statusCode":200,"default":true,"body":"route"}]}`
	crud := `{"uuid":"1","type":"crud","endpoint":"people","responses":[{"statusCode":200,"default":true,"databucketID":"b","crudKey":"id"}]}`
	for order, want := range map[string]string{route + "," + crud: "|route", crud + "," + route: "Ada"} {
		r := importOf(t, `{"uuid":"e","lastMigration":33,"data":[{"uuid":"u","id":"b","value":"[{\"id\":\"1\",\"name\":\"Ada\"}]"}],"routes":[`+order+`]}`, interchange.Options{})
		d, err := r.Definition()
		if err != nil {
			t.Fatal(err)
		}
		if got := answerOf(plane(t, snapshotOf(t, d)), "GET /m/a/people/1 HTTP/1.1\r\nHost: x\r\n\r\n"); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
