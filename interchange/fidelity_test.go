package interchange_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
)

// exchanged is a request to imported mocks, and how the answer to it ends.
type exchanged struct{ request, want string }

// checkExchanges imports a source and sends requests.
func checkExchanges(t *testing.T, source string, list ...exchanged) *interchange.Result {
	t.Helper()
	r := importOf(t, source, interchange.Options{})
	d, err := r.Definition()
	if err != nil {
		t.Fatal(err)
	}
	h := plane(t, snapshotOf(t, d))
	for _, x := range list {
		line, headers, _ := strings.Cut(x.request, "\n")
		if got := answerOf(h, line+" HTTP/1.1\r\nHost: x\r\n"+strings.ReplaceAll(headers, "\n", "\r\n")+"\r\n\r\n"); !strings.HasSuffix(got, x.want) {
			t.Errorf("%s: %s, want %s", x.request, got, x.want)
		}
	}
	return r
}

// warned are the texts of all warnings.
func warned(r *interchange.Result) string {
	var b strings.Builder
	for _, w := range r.Warnings {
		b.WriteString(w.Detail + "\n")
	}
	return b.String()
}

// M-78: of a CRUD route of Mockoon the other answers are chosen by their rules, and what a collection cannot send is told of.
func TestM78_CRUD_routes_of_Mockoon_keep_their_other_answers(t *testing.T) {
	t.Parallel()
	r := checkExchanges(t, `{"uuid":"e","lastMigration":33,"headers":[{"key":"X-Env","value":"1"},{"key":"Content-Type","value":"application/json"}],
		"data":[{"uuid":"u","id":"b","value":"[{\"id\":\"1\",\"name\":\"Ada\"}]"}],"callbacks":[{"uuid":"c","uri":"https://a.test"}],
		"routes":[{"uuid":"1","type":"crud","endpoint":"people","responses":[
			{"statusCode":200,"default":true,"databucketID":"b","crudKey":"id","headers":[{"key":"X-R","value":"2"}],"callbacks":[{"uuid":"c"}]},
			{"statusCode":500,"body":"broken","rules":[{"target":"query","modifier":"fail","operator":"equals","value":"1"}]},
			{"statusCode":410,"body":"gone","rules":[{"target":"params","modifier":"id","operator":"equals","value":"7"}]}]}]}`,
		exchanged{"GET /m/a/people?fail=1", "|broken"}, exchanged{"DELETE /m/a/people/1?fail=1", "|broken"}, exchanged{"GET /m/a/people/7", "|gone"},
		exchanged{"GET /m/a/people/1", `map[string]interface {}{"id":"1", "name":"Ada"}`})
	told := warned(r)
	for _, want := range []string{"X-Env", "X-R", "makes no calls"} {
		if !strings.Contains(told, want) {
			t.Errorf("%s is not told of:\n%s", want, told)
		}
	}
	if strings.Contains(told, "Content-Type") {
		t.Error(told)
	}
}

// M-78: an answer of Mockoon that no rule can choose is kept, and comes to who asks for it by name.
func TestM78_answers_of_Mockoon_whose_rules_are_lost_can_be_asked_for(t *testing.T) {
	t.Parallel()
	for _, operator := range []string{"OR", "AND"} {
		checkExchanges(t, `{"uuid":"e","lastMigration":33,"routes":[{"uuid":"1","type":"http","method":"get","endpoint":"a","responses":[
			{"statusCode":200,"default":true,"body":"usual"},
			{"statusCode":200,"body":"odd","rules":[],"label":""},
			{"statusCode":500,"label":"Closed","body":"closed","rulesOperator":"`+operator+`","rules":[{"target":"global_var","modifier":"x","operator":"equals","value":"1"}]}]}]}`,
			exchanged{"GET /m/a/a", "|usual"}, exchanged{"GET /m/a/a\nMockbase-Prefer: example=closed", "|closed"}, exchanged{"GET /m/a/a\nMockbase-Prefer: example=answer", "|odd"})
	}
}

// M-78: a slash that is data in a segment stays so, whatever else the address holds.
func TestM78_encoded_slashes_of_addresses_stay(t *testing.T) {
	t.Parallel()
	checkExchanges(t, "curl \"https://g.test/d/group%2Frepo/$ID\"\ncurl -g 'https://g.test/e/a%2Fb/{x}|ü?q=1'\n",
		exchanged{"GET /m/a/d/group%2Frepo/5", "200|||"}, exchanged{"GET /m/a/d/group/repo/5", noMatch},
		exchanged{"GET /m/a/e/a%2Fb/%7Bx%7D%7C%C3%BC?q=1", "200|||"}, exchanged{"GET /m/a/e/a/b/%7Bx%7D%7C%C3%BC?q=1", noMatch})
	checkExchanges(t, `{"log":{"version":"1.2","entries":[{"request":{"method":"GET","url":"https://g.test/h/a%2Fb/ü|x?a=/#f","headers":[]},"response":{"status":200,"headers":[],"content":{"text":"har"}}}]}}`,
		exchanged{"GET /m/a/h/a%2Fb/%C3%BC%7Cx?a=/", "|har"}, exchanged{"GET /m/a/h/a/b/%C3%BC%7Cx?a=/", noMatch})
	checkExchanges(t, `{"mappings":[{"request":{"method":"GET","url":"https://g.test/w/a%2Fb|x?a=1#f"},"response":{"body":"wm"}}]}`,
		exchanged{"GET /m/a/w/a%2Fb|x?a=1", "|wm"})
	checkExchanges(t, `{"info":{"schema":"https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},"item":[
		{"name":"a","request":{"method":"GET","url":{"raw":"{{baseUrl}}/p/a%2Fb-{{id}}"}},"response":[{"code":200,"body":"pm"}]}]}`,
		exchanged{"GET /m/a/p/a%2Fb-7", "|pm"}, exchanged{"GET /m/a/p/a/b-7", noMatch})
}

// M-78: a body that was kept as text is sent in the character set that its type names.
func TestM78_saved_bodies_are_sent_in_their_character_set(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		`{"log":{"version":"1.2","entries":[{"request":{"method":"GET","url":"https://a.test/c","headers":[]},"response":{"status":200,"headers":[{"name":"Content-Type","value":"text/html; charset=%s"}],"content":{"text":"%s"}}}]}}`:                                               "HAR",
		`{"info":{"schema":"https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},"item":[{"name":"a","request":{"method":"GET","url":"https://a.test/c"},"response":[{"code":200,"header":[{"key":"Content-Type","value":"text/html; charset=%s"}],"body":"%s"}]}]}`: "Postman",
	}
	for source, name := range answers {
		with := func(charset, text string) string {
			return strings.Replace(strings.Replace(source, "%s", charset, 1), "%s", text, 1)
		}
		checkExchanges(t, with("iso-8859-1", "<p>é"), exchanged{"GET /m/a/c", "|<p>\xe9"})
		checkExchanges(t, with("utf-8", "<p>é"), exchanged{"GET /m/a/c", "|<p>é"})
		if told := warned(checkExchanges(t, with("iso-8859-1", "€"), exchanged{"GET /m/a/c", "|€"})); !strings.Contains(told, "iso-8859-1") {
			t.Errorf("%s: %s", name, told)
		}
	}
}

// M-78: a path that selects null, an empty list or an empty object selects nothing in WireMock, unless it may select several.
func TestM78_what_a_JSONPath_of_WireMock_selects(t *testing.T) {
	t.Parallel()
	r := importOf(t, `{"mappings":[{"request":{"method":"POST","url":"/one","bodyPatterns":[{"matchesJsonPath":"$.a"}]},"response":{"body":"yes"}},
		{"request":{"method":"POST","url":"/all","bodyPatterns":[{"matchesJsonPath":"$..a"}]},"response":{"body":"yes"}}]}`, interchange.Options{})
	d, err := r.Definition()
	if err != nil {
		t.Fatal(err)
	}
	again := importOf(t, string(exported(t, snapshotOf(t, d), interchange.ExportOptions{Format: interchange.FormatWireMock}).Text), interchange.Options{})
	if d, err = again.Definition(); err != nil {
		t.Fatal(err)
	}
	h := plane(t, snapshotOf(t, d))
	for body, want := range map[string]bool{`null`: false, `[]`: false, `{}`: false, `""`: true, `0`: true, `false`: true, `[0]`: true, `{"b":1}`: true} {
		request := " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)+6) + "\r\n\r\n{\"a\":" + body + "}"
		if got := answerOf(h, "POST /m/a/one"+request); strings.HasSuffix(got, "|yes") != want {
			t.Errorf("%s: %s", body, got)
		}
		if got := answerOf(h, "POST /m/a/all"+request); !strings.HasSuffix(got, "|yes") {
			t.Errorf("%s among several: %s", body, got)
		}
	}
}

// M-78: parts of lists and whole buckets in three braces are put in.
func TestM78_data_of_Mockoon_is_put_in(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{{data 'Users' '0.name'}}": "A", "{{data 'Users' '[0].name'}}": "A", "{{data 'Users' '$[0].name'}}": "A", "{{data 'Users' '$.0.name'}}": "A",
		"{{data 'Obj' '$.a.b'}}": "5", "{{data 'Obj' \\\"a['b']\\\"}}": "5", "x{{{data 'Obj' 'a.b'}}}": "x5", "x{{{ dataRaw 'Users' }}}": `x[{"name":"A"}]`,
	} {
		r := checkExchanges(t, `{"uuid":"e","lastMigration":33,"data":[{"uuid":"d1","id":"abcd","name":"Users","value":"[{\"name\":\"A\"}]"},{"uuid":"d2","id":"o","name":"Obj","value":"{\"a\":{\"b\":5}}"}],
			"routes":[{"uuid":"1","type":"http","method":"get","endpoint":"a","responses":[{"statusCode":200,"default":true,"body":"-`+text+`"}]}]}`,
			exchanged{"GET /m/a/a", "-" + want})
		if told := warned(r); told != "" {
			t.Errorf("%s: %s", text, told)
		}
	}
}

// M-163: patterns of a document are of ECMAScript; what RE2 alone knows is told of.
func TestM163_patterns_of_documents_are_of_ECMAScript(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		`(?s)a.*[.]`: `^(?:a[\s\S]*[.])$`, `(?P<n>a)\z`: `^(?:(?<n>a)$)$`, `a\.b`: `^(?:a\.b)$`, `(?:x|[^]a])`: "", `(?i)a`: "", `[[:alpha:]]+`: "", `\pL`: "", `\Qa\E`: "", `a(?s:.)`: "",
	} {
		quoted, err := json.Marshal(expression)
		if err != nil {
			t.Fatal(err)
		}
		d, err := mockbase.DecodeDefinition([]byte(`{"version":1,"mocks":[{"request":{"method":"GET","path":"/a","query":{"q":{"matches":`+string(quoted)+`}}},"response":{"status":204}}]}`), mockbase.FormatJSON)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		e := exported(t, snapshotOf(t, d), interchange.ExportOptions{Format: interchange.FormatOpenAPI, As: mockbase.FormatJSON})
		if has := strings.Contains(string(e.Text), `"pattern"`); has != (want != "") || has && !strings.Contains(string(e.Text), strconv.Quote(want)) {
			t.Errorf("%s: %s", expression, e.Text)
		}
		if want == "" && len(e.Losses) == 0 {
			t.Errorf("%s: no warning", expression)
		}
	}
}
