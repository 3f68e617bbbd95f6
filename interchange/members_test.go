package interchange_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/interchange"
)

// M-78: members of parts that are read by name are told of, too, where nobody knows them, and none that says when or how an
// answer comes is lost without a word.
func TestM78_members_of_every_part_are_read_or_told(t *testing.T) {
	t.Parallel()
	const novel = `"novel":1`
	for name, c := range map[string]struct {
		source string
		told   []string
		made   []string
	}{
		"Mockoon": {
			source: `{"uuid":"e","lastMigration":33,"name":"n","data":[{"uuid":"d","id":"d","value":"[]",` + novel + `}],"callbacks":[{"uuid":"c","uri":"http://a/",` + novel + `}],
				"folders":[{"uuid":"f","name":"Outer","children":[{"type":"folder","uuid":"g"}],` + novel + `},{"uuid":"g","name":"Inner","children":[{"type":"route","uuid":"r"}]}],"rootChildren":[{"type":"folder","uuid":"f"}],
				"routes":[{"uuid":"r","type":"http","method":"get","endpoint":"a","responses":[{"uuid":"x","statusCode":200,"body":"a","rulesOperator":"OR","rules":[{"target":"query","modifier":"q","value":"1","operator":"equals",` + novel + `}],
					"callbacks":[{"uuid":"c","latency":5,` + novel + `}]},{"uuid":"y","default":true,"body":"b"}]}]}`,
			told: []string{"#/data/0/novel", "#/callbacks/0/novel", "#/folders/0/novel", "#/routes/0/responses/0/rules/0/novel", "#/routes/0/responses/0/callbacks/0/novel"},
			made: []string{`"folder":"Outer/Inner"`},
		},
		"MockServer": {
			source: `[{"httpRequest":{"path":"/a"},"times":{"remainingTimes":2,` + novel + `},"httpResponse":{"body":{"type":"STRING","string":"a",` + novel + `}}},
				{"httpRequest":{"path":"/x","body":{"type":"XPATH","xpath":"//p:a","namespacePrefixes":{"p":"urn:p"}}},"httpResponse":{}},
				{"httpRequest":{"path":"/p","body":{"type":"PARAMETERS","parameters":{"a":["b"]},"parameterStyles":{"a":"FORM"}}},"httpResponse":{}},
				{"httpRequest":{"path":"/o"},"httpOverrideForwardedRequest":{"requestOverride":{"socketAddress":{"host":"h",` + novel + `}},"delay":{"timeUnit":"MILLISECONDS","value":7},` + novel + `}}]`,
			told: []string{"#/0/times/novel", "#/0/httpResponse/body/novel", "#/2/httpRequest/body/parameterStyles", "#/3/httpOverrideForwardedRequest/novel", "/socketAddress/novel"},
			made: []string{`"namespaces":{"p":"urn:p"}`, `"delay":"7ms"`},
		},
		"Hoverfly": {
			source: `{"data":{"pairs":[{"request":{"path":[{"matcher":"exact","value":"/a"}]},"response":{"status":200,"body":"a","logNormalDelay":{"min":5,"max":10,"mean":7,"median":6}}}],
				"globalActions":{"delays":[{"urlPattern":".","delay":1,` + novel + `}]}},"meta":{"schemaVersion":"v5.3"}}`,
			told: []string{"#/data/pairs/0/response/logNormalDelay/min", "#/data/globalActions/delays/0/novel"},
		},
		"WireMock": {
			source: `{"mappings":[{"request":{"urlPath":"/a","headers":{"A":{"anything":"(always)"}},"bodyPatterns":[{"equalToXml":"<a/>","namespaceAwareness":"NONE"}]},"response":{"status":200},
				"serveEventListeners":[{"name":"webhook","requestPhases":["BEFORE_MATCH"],"parameters":{"url":"http://a/","delay":{"type":"uniform","lower":1,"upper":2}}}]}]}`,
			told: []string{"/bodyPatterns/0/namespaceAwareness", "/requestPhases the call goes out after the answer"},
			made: []string{`"after":{"min":"1ms","max":"2ms"}`},
		},
		"Smocker": {
			source: "- request: { path: /a }\n  response: { body: a, delay: { min: 1ms, max: 2ms, novel: 1 } }\n",
			told:   []string{"#/0/response/delay/novel"},
		},
		"curl": {
			source: "curl -F kind=a -F 'f=@x;type=text/plain' http://h/f\ncurl --form-string kind=b http://h/f\ncurl -F odd http://h/g\n",
			told:   []string{`the file "x;type=text/plain" is not here: the field "f"`, `the field "odd" of the form has no value`},
			made:   []string{`"form":{"kind":"a"}`, `"form":{"kind":"b"}`},
		},
	} {
		made, told := importTold(t, c.source)
		for _, want := range c.told {
			if !strings.Contains(told, want) {
				t.Errorf("%s: nothing tells %s:\n%s", name, want, told)
			}
		}
		for _, want := range c.made {
			if !strings.Contains(made, want) {
				t.Errorf("%s: %s is not made: %s", name, want, made)
			}
		}
	}
}

// M-78: files that Mockoon sends keep their bytes and their type, and are stored by browsers where it says so.
func TestM78_files_of_Mockoon_are_sent_as_they_are(t *testing.T) {
	t.Parallel()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for name, text := range map[string]string{
		"env.json": `{"uuid":"e","lastMigration":33,"name":"n","routes":[{"uuid":"r","type":"http","method":"get","endpoint":"a","responses":[{"uuid":"x","default":true,"bodyType":"FILE","filePath":"pics/a.png","sendFileAsBody":false}]},
			{"uuid":"s","type":"http","method":"get","endpoint":"b","responses":[{"uuid":"y","default":true,"bodyType":"FILE","filePath":"pics/b.json","sendFileAsBody":true}]}]}`,
		"pics/a.png": "\x89PNG\xff", "pics/b.json": `{"b":"{{queryParam 'q'}}"}`,
	} {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := importOf(t, archive.String(), interchange.Options{})
	made := string(r.JSON())
	for _, want := range []string{`"base64":"iVBOR/8="`, `"Content-Type":"image/png"`, `"Content-Disposition":"attachment; filename=\"a.png\""`, `"Content-Type":"application/json"`, `index query \"q\"`} {
		if !strings.Contains(made, want) {
			t.Errorf("%s is not made: %s", want, made)
		}
	}
}
