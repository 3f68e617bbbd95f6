package interchange_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/interchange"
)

// importTold imports a text, and lists what was told of it.
func importTold(t *testing.T, text string) (made, told string) {
	t.Helper()
	r := importOf(t, text, interchange.Options{})
	var lines []string
	for _, w := range r.Warnings {
		lines = append(lines, w.Pointer+" "+w.Detail)
	}
	return string(r.JSON()), strings.Join(lines, "\n")
}

// M-78: what a shell does with the output of a command is no address.
func TestM78_redirections_of_commands_are_no_addresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"curl http://a/b > out.json", "curl http://a/b >out.json", "curl http://a/b>out.json", "curl http://a/b 2>/dev/null", "curl http://a/b >> out 2>&1",
		"curl http://a/b &> out", "curl < in http://a/b", "curl http://a/b >| out", "2>/dev/null curl http://a/b",
	} {
		r := importOf(t, text, interchange.Options{Format: interchange.FormatCURL})
		if made := string(r.JSON()); r.Found != 1 || r.Mocks() != 1 || !strings.Contains(made, `"path":"/b"`) || len(r.Warnings) != 1 {
			t.Errorf("%s: %d found, %+v, %s", text, r.Found, r.Warnings, made)
		}
	}
}

const postmanHead = `{"info":{"name":"c","schema":"https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},"item":[`

// M-78: forms tell requests apart, a file is told of, and an answer that cannot be leaves the others.
func TestM78_forms_files_and_odd_answers_of_postman(t *testing.T) {
	t.Parallel()
	form := func(value string) string {
		return `{"name":"f","request":{"method":"POST","url":"http://a/form","body":{"mode":"formdata","formdata":[{"key":"t","value":"` + value + `"}]}},"response":[{"code":200,"body":"` + value + `"}]}`
	}
	made, told := importTold(t, postmanHead+form("1")+","+form("2")+"]}")
	if strings.Contains(made, "sequence") || !strings.Contains(made, `"form":{"t":"1"}`) || !strings.Contains(made, `"form":{"t":"2"}`) || told != "" {
		t.Errorf("%s\n%s", made, told)
	}
	made, told = importTold(t, postmanHead+`{"name":"f","request":{"method":"POST","url":"http://a/f","body":{"mode":"file","file":{"src":"a"}}},"response":[{"code":0},{"code":9999},{"code":201}]}]}`)
	if !strings.Contains(made, `"status":201`) || strings.Count(told, "no status") != 2 || !strings.Contains(told, "/item/0/request/body the file is not in the collection") {
		t.Errorf("%s\n%s", made, told)
	}
}

// M-78: values that an archive should not have are told of.
func TestM78_odd_values_of_archives_are_told(t *testing.T) {
	t.Parallel()
	_, told := importTold(t, `{"log":{"version":"9.9","entries":[{"request":{"method":"GET","url":"http://a/b?x=1","queryString":[{"name":"x","value":"2"}]},
		"response":{"status":200,"content":{"text":"abc","encoding":"rot13"}}},{"request":{"method":"GET","url":"http://a/c"},
		"response":{"status":200,"content":{"text":"abc","_truncated":true,"comment":"the first 3 of 10 bytes were recorded"}}}]}}`)
	for _, part := range []string{`/content the body of the answer is cut: the first 3 of 10 bytes`, `/log/version archives of the version "9.9"`, "/queryString it says something else", `/encoding the encoding "rot13"`} {
		if !strings.Contains(told, part) {
			t.Errorf("%q is not told: %s", part, told)
		}
	}
}

// M-163: what only one of several alternatives asks for is optional in a document.
func TestM163_alternatives_are_optional_in_documents(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, decoded(`{"mocks": [{"name": "any", "request": {"path": "/any", "query": {"both": "1"}, "anyOf": [{"query": {"a": "1"}}, {"headers": {"X-A": "2"}}, {"body": {"text": "b"}}]}, "response": {"text": "a"}}]}`))
	made := exported(t, s, interchange.ExportOptions{Format: interchange.FormatOpenAPI})
	text := string(made.Text)
	if strings.Count(text, "required: true") != 1 || !strings.Contains(text, "name: both\n          in: query\n          required: true") {
		t.Errorf("%s", text)
	}
	told := 0
	for _, l := range made.Losses {
		if strings.Contains(l.Detail, "one of several conditions") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%+v", made.Losses)
	}
}

// M-78: values that no tool writes, and members that contradict each other, are told of at their places.
func TestM78_odd_values_are_told_at_their_places(t *testing.T) {
	t.Parallel()
	stub := func(request, response string) string {
		return `{"mappings":[{"request":{"method":"GET",` + request + `},"response":{` + response + `}}]}`
	}
	route := func(route, answer string) string {
		return `{"uuid":"u","lastMigration":30,"name":"e","routes":[{"uuid":"r","method":"get","endpoint":"a",` + route + `"responses":[{"uuid":"x","statusCode":200,"body":"a",` + answer + `"default":true,"rules":[{"target":"query","modifier":"a","value":"1","operator":"equals"}]}]}]}`
	}
	for name, c := range map[string]struct{ text, want string }{
		"delay":         {stub(`"url":"/a"`, `"status":200,"fixedDelayMilliseconds":"abc"`), "/fixedDelayMilliseconds must be a number"},
		"bodies":        {stub(`"url":"/a"`, `"status":200,"body":"a","jsonBody":{},"base64Body":"YQ=="`), "/base64Body it is left out, as jsonBody"},
		"text body":     {stub(`"url":"/a"`, `"status":200,"body":"a","jsonBody":{}`), "/body it is left out, as jsonBody"},
		"addresses":     {stub(`"url":"/a","urlPath":"/b"`, `"status":200`), "/urlPath it is left out, as url says"},
		"header":        {stub(`"url":"/a"`, `"status":200,"headers":{"X-A":{"a":1}}`), "/headers/X-A must be a text"},
		"fault":         {stub(`"url":"/a"`, `"fault":"EMPTY_RESPONSE","status":201,"body":"a"`), "/body it is left out, as fault"},
		"chunks":        {stub(`"url":"/a"`, `"status":200,"body":"a","chunkedDribbleDelay":{"numberOfChunks":0,"totalDuration":10}`), "cannot be sent in 0 chunks"},
		"unit":          {`[{"httpRequest":{"path":"/a"},"httpResponse":{"statusCode":200,"delay":{"timeUnit":"FORTNIGHTS","value":3}}}]`, `/timeUnit the unit "FORTNIGHTS" is not known`},
		"hoverfly":      {`{"data":{"pairs":[{"request":{"path":[{"matcher":"exact","value":"/a"}]},"response":{"status":200,"fixedDelay":"x"}}]},"meta":{"schemaVersion":"v5"}}`, "/fixedDelay must be a number"},
		"latency":       {route("", `"latency":"slow",`), "/latency must be a whole number"},
		"rulesOperator": {route("", `"rulesOperator":"XOR",`), `/rulesOperator the operator "XOR" is not known`},
		"responseMode":  {route(`"responseMode":"FROB",`, ""), `/responseMode the mode "FROB" is not known`},
	} {
		if _, told := importTold(t, c.text); !strings.Contains(told, c.want) {
			t.Errorf("%s: %q is not told: %s", name, c.want, told)
		}
	}
}
