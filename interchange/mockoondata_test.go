package interchange_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/interchange"
)

// crud is an environment with one CRUD route over a bucket.
func crud(bucket string) string {
	return `{"uuid":"1","lastMigration":33,"name":"n","endpointPrefix":"v1","data":[{"id":"b","name":"B","value":` + bucket + `}],"routes":[
		{"uuid":"2","method":"","endpoint":"things","type":"crud","responses":[{"body":"","databucketID":"b","bodyType":"DATABUCKET","crudKey":"id","statusCode":200,"headers":[],"default":true,"rules":[]}]}]}`
}

// M-78: what a bucket is made of by a template is made once, as Mockoon does when it starts, and the same each time.
func TestM78_buckets_that_are_templates_seed_collections(t *testing.T) {
	t.Parallel()
	const bucket = `"[{{#repeat 3}}{\"id\": {{@index}}, \"name\": \"{{faker 'person.firstName'}}\", \"at\": \"{{now 'yyyy'}}\"}{{/repeat}}]"`
	r := importOf(t, crud(bucket), interchange.Options{})
	d, err := r.Definition()
	if err != nil || len(d.Config.Collections) != 1 {
		t.Fatalf("%v\n%s", err, r.JSON())
	}
	if again := importOf(t, crud(bucket), interchange.Options{}); string(again.JSON()) != string(r.JSON()) {
		t.Errorf("not the same again: %s", again.JSON())
	}
	if told := told(t, r); !strings.Contains(told, "is made once, at the import") {
		t.Error(told)
	}
	h := plane(t, snapshotOf(t, d))
	if got := answerOf(h, "GET /m/a/v1/things/2 HTTP/1.1\r\nHost: x\r\n\r\n"); !strings.Contains(got, `"id":2`) || !strings.Contains(got, `"at":"2026"`) || strings.Contains(got, `"name":""`) {
		t.Error(got)
	}
}

// M-78: a bucket that cannot be made without a request begins empty, and one that is no list is sent as it is.
func TestM78_other_buckets_of_CRUD_routes(t *testing.T) {
	t.Parallel()
	r := importOf(t, crud(`"[{\"id\": \"{{queryParam 'q'}}\"}]"`), interchange.Options{})
	if told := told(t, r); !strings.Contains(told, "begins empty") {
		t.Error(told)
	}
	r = importOf(t, crud(`"true"`), interchange.Options{})
	d, err := r.Definition()
	if err != nil || len(d.Mocks) != 4 || len(d.Config.Collections) != 0 {
		t.Fatalf("%v\n%s", err, r.JSON())
	}
	if told := told(t, r); !strings.Contains(told, "what clients write is sent back and not kept") {
		t.Error(told)
	}
	h := plane(t, snapshotOf(t, d))
	for request, want := range map[string]string{
		"GET /m/a/v1/things": "200|true", "GET /m/a/v1/things/7": "200|true", "DELETE /m/a/v1/things/7": "200|{}", "POST /m/a/v1/things": "201|{}", "PATCH /m/a/v1/things/1": "200|{}",
	} {
		got := answerOf(h, request+" HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
		status, body, _ := strings.Cut(want, "|")
		if !strings.HasPrefix(got, status) || !strings.HasSuffix(got, body) {
			t.Errorf("%s: %s", request, got)
		}
	}
}

// M-78: variables of Hoverfly stand for calls, and a destination that is all that is said, and the only one, tells nothing apart.
func TestM78_variables_and_destinations_of_Hoverfly(t *testing.T) {
	t.Parallel()
	r := importOf(t, `{"data":{"pairs":[
		{"request":{"path":[{"matcher":"exact","value":"/city"}]},"response":{"status":200,"templated":true,"body":"{{ Vars.city }} {{#each Vars.parts}}{{@index}}={{this}};{{/each}}"}},
		{"request":{"destination":[{"matcher":"exact","value":"x.test"}]},"response":{"status":200,"body":"any"}}
	],"variables":[{"name":"city","function":"requestBody","arguments":["jsonpath","$.city"]},{"name":"parts","function":"split","arguments":["Request.Header.X-List",","]}]},"meta":{"schemaVersion":"v5.2"}}`, interchange.Options{})
	d, err := r.Definition()
	if err != nil {
		t.Fatal(err)
	}
	h := plane(t, snapshotOf(t, d))
	if got := answerOf(h, "POST /m/a/city HTTP/1.1\r\nHost: x\r\nX-List: a,b\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"city\":\"Bonn\"}"); !strings.HasSuffix(got, "|Bonn 0=a;1=b;") {
		t.Error(got)
	}
	if got := answerOf(h, "DELETE /m/a/else HTTP/1.1\r\nHost: y\r\n\r\n"); !strings.HasSuffix(got, "|any") {
		t.Error(got)
	}
}
