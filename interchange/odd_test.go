package interchange_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/interchange"
)

// oddCase is a source with requests and how their answers end, and what the import has to say.
type oddCase struct {
	source  string
	answers map[string]string
	told    []string
}

func (c *oddCase) check(t *testing.T) {
	t.Helper()
	r := importOf(t, c.source, interchange.Options{})
	d, err := r.Definition()
	if err != nil {
		t.Fatalf("%v\n%s", err, r.JSON())
	}
	said := told(t, r)
	for _, want := range c.told {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q:\n%s", want, said)
		}
	}
	h := plane(t, snapshotOf(t, d))
	for request, want := range c.answers {
		raw, body, _ := strings.Cut(request, "\n\n")
		line, fields, _ := strings.Cut(raw, "\n")
		method, target, _ := strings.Cut(line, " ")
		text := method + " /m/a" + target + " HTTP/1.1\r\nHost: x\r\n"
		if fields != "" {
			text += strings.ReplaceAll(fields, "\n", "\r\n") + "\r\n"
		}
		if body != "" {
			text += "Content-Length: " + itoa(len(body)) + "\r\n"
		}
		got := answerOf(h, text+"\r\n"+body)
		if !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// M-78: what files of other tools hold that is less common, by what is answered afterwards.
func TestM78_odd_files_of_other_tools(t *testing.T) {
	t.Parallel()
	const form = "\nContent-Type: application/x-www-form-urlencoded\n\n"
	for name, c := range map[string]oddCase{
		"MockServer: answers in turn": {
			source:  `[{"httpRequest":{"path":"/a"},"httpResponses":[{"body":"one"},{"body":"two"}]}]`,
			answers: map[string]string{"GET /a": "|one"},
		},
		"MockServer: answers that stay": {
			source: `[{"httpRequest":{"path":"/a"},"responseMode":"SWITCH","switchAfter":2,"httpResponses":[{"body":"one"},{"body":"two"}]},
				{"httpRequest":{"path":"/b"},"responseMode":"WEIGHTED","responseWeights":[0,3],"httpResponses":[{"body":"never"},{"body":"always"}]},
				{"httpRequest":{"path":"/c"},"responseMode":"SOMEHOW","httpResponses":[{"body":"c"}]}]`,
			answers: map[string]string{"GET /a": "|one", "GET /b": "|always", "GET /c": "|c"},
			told:    []string{`the mode "SOMEHOW" is not known`, "the answer has no weight"},
		},
		"MockServer: scenarios, calls and placeholders": {
			source: `[{"scenarioName":"S","scenarioState":"Started","newScenarioState":"two","httpRequest":{"path":"/s"},"httpResponse":{"body":"first"},
					"afterActions":[{"httpRequest":{"method":"POST","path":"/cb","headers":{"Host":["127.0.0.1:1"],"A":["b"]},"body":{"type":"JSON","json":{"a":1}}},"delay":{"timeUnit":"SECONDS","value":1}},{"httpClassCallback":{}}]},
				{"httpRequest":{"method":"POST","path":"/j","body":{"type":"JSON","json":{"u":"${json-unit.any-string}"}}},"httpResponse":{"body":"fits"}},
				{"httpRequest":{"path":"/u"},"httpResponse":{"body":{"type":"STRING","string":"aé","contentType":"text/plain; charset=iso-8859-1"}}},
				{"httpRequest":{"path":"/n"},"httpResponse":{"body":{"type":"STRING","string":"a","contentType":"text/plain; charset=klingon"}}}]`,
			answers: map[string]string{"GET /s": "|first", "POST /j\n\n{\"u\":\"x\"}": "|fits", "POST /j\n\n{\"u\":1}": noMatch, "GET /u": "|a\xe9"},
			told:    []string{"an action that calls no address", `the character set "klingon" is not known`},
		},
		"Smocker: forms": {
			source:  "- request: { method: POST, path: /f, headers: { Content-Type: application/x-www-form-urlencoded }, body: { a: \"1\" } }\n  response: { body: form }\n",
			answers: map[string]string{"POST /f" + form + "a=1": "|form", "POST /f" + form + "a=2": noMatch},
		},
		"WireMock: GraphQL": {
			source: `{"mappings":[{"request":{"method":"POST","urlPath":"/g","customMatcher":{"name":"graphql-body-matcher","parameters":{"expectedJson":"{\"query\":\"{ a b }\"}"}}},"response":{"body":"g"}},
				{"request":{"method":"POST","urlPath":"/h","customMatcher":{"name":"other"}},"response":{"body":"h"}}]}`,
			answers: map[string]string{"POST /g\n\n{\"query\":\"{a,b}\"}": "|g", "POST /g\n\n{\"query\":\"{a}\"}": noMatch, "POST /h": noMatch},
			told:    []string{"customMatcher runs code of an extension"},
		},
		"curl: variables and lists": {
			source:  "#!/bin/sh\n# calls\n\nTOKEN=x HOST=y curl \"https://$HOST/u/${ID}/x?q=$Q&r=1\"\ncurl https://a.test/{a,b}/[1-3]\ncurl -g 'https://a.test/[1-2]'\ncurl https://a.test\n",
			answers: map[string]string{"GET /u/7/x?q=z&r=1": "||", "GET /u/7/x?q=z&r=2": noMatch, "GET /": "||"},
			told:    []string{`the shell's variable "ID" is not known`, `"{{Q}}" of the parameter "q" is not known`, "curl takes {…} and […] for several addresses"},
		},
		"Mockoon: the last round of a loop": {
			source: `{"uuid":"1","lastMigration":33,"name":"n","routes":[{"uuid":"2","method":"post","endpoint":"l","type":"http","responses":[
				{"body":"{{#each (body 'a')}}{{this}}{{#unless @last}},{{/unless}}{{#if @first}}!{{/if}}{{/each}}","statusCode":200,"headers":[],"default":true,"rules":[]}]},
				{"uuid":"3","method":"get","endpoint":"d","type":"http","responses":[{"body":"{{#each (body 'a')}}{{@depth}}{{/each}}","statusCode":200,"headers":[],"default":true,"rules":[]}]}]}`,
			answers: map[string]string{"POST /l\n\n{\"a\":[1,2,3]}": "|1,!2,3", "POST /l\n\n{\"a\":[1]}": "|1!"},
			told:    []string{`"@depth" has no equivalent`},
		},
		"Hoverfly: lists of values, methods but one, coded bodies": {
			source: `{"data":{"pairs":[
				{"request":{"path":[{"matcher":"exact","value":"/o"}],"query":{"b":[{"matcher":"array","value":["x","y"]}]}},"response":{"status":200,"body":"in order"}},
				{"request":{"path":[{"matcher":"exact","value":"/a"}],"query":{"b":[{"matcher":"array","value":["x","y"],"config":{"ignoreOrder":true,"ignoreUnknown":true}}]}},"response":{"status":200,"body":"any"}},
				{"request":{"path":[{"matcher":"exact","value":"/r"}],"query":{"b":[{"matcher":"array","value":["x","y"],"config":{"ignoreOrder":true,"ignoreOccurrences":true}}]}},"response":{"status":200,"body":"often"}},
				{"request":{"path":[{"matcher":"exact","value":"/n"}],"method":[{"matcher":"negate","value":"GET"}]},"response":{"status":200,"body":"no get"}},
				{"request":{"path":[{"matcher":"exact","value":"/f"}]},"response":{"status":200,"body":"","bodyFile":"x.json"}}
				]},"meta":{"schemaVersion":"v5.3"}}`,
			answers: map[string]string{
				"GET /o?b=x&b=y": "|in order", "GET /o?b=y&b=x": noMatch, "GET /a?b=y&b=z&b=x": "|any", "GET /r?b=y&b=x&b=x": "|often", "GET /r?b=y&b=x&b=z": noMatch,
				"POST /n": "|no get", "GET /n": noMatch,
			},
			told: []string{`the file "x.json" is not among the files`, "any method but GET"},
		},
		"Hoverfly: files beside the simulation": {
			source: string(packed(t, map[string][]byte{
				"hf/sim.json":   []byte(`{"data":{"pairs":[{"request":{"path":[{"matcher":"exact","value":"/f"}]},"response":{"status":200,"bodyFile":"b/x.json","headers":{"Content-Type":["application/json"]}}}]},"meta":{"schemaVersion":"v5.3"}}`),
				"hf/b/x.json":   []byte(`{"from":"a file"}`),
				"hf/b/bad.json": []byte(`{`),
			})),
			answers: map[string]string{"GET /f": `{"from":"a file"}`},
		},
		"HAR: an upgrade": {
			source: `{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"entries":[{"request":{"method":"GET","url":"https://a.test/ws","headers":[]},"response":{"status":101,"headers":[],"content":{}}}]}}`,
			told:   []string{"the connection became another one"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

// Texts of another tool that cannot be shown lose that, as mocks that hold it are refused (rule M-78).
func TestM78_texts_that_cannot_be_shown_are_cleaned(t *testing.T) {
	t.Parallel()
	r := importOf(t, `{"info":{"name":"C","schema":"https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},"item":[
		{"name":"fol\u001bder\u202e","item":[{"name":"r\u0007","request":{"method":"GET","url":"http://x/a","description":"one\ntwo\u0007"},"response":[]}]}]}`, interchange.Options{})
	d, err := r.Definition()
	if err != nil {
		t.Fatal(err)
	}
	if m := d.Mocks[0]; m.Folder != "folder" || m.Description != "one\ntwo" {
		t.Errorf("%q in folder %q", m.Description, m.Folder)
	}
}
