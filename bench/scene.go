package bench

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Scene is what the mocks of a server do.
type Scene string

// The scenes. All of them answer the requests of [Spec.Requests].
const (
	// SceneStatic has a mock for each path, SceneParameters one with a parameter in each path.
	SceneStatic     Scene = ""
	SceneParameters Scene = "parameters"
	// SceneTemplated lets one mock answer every path, with a part of the path in its body.
	SceneTemplated Scene = "templated"
	// SceneLarge answers with a body of 2 KB.
	SceneLarge Scene = "large"
	// SceneBody has two mocks that compare a JSON body of 2 KB; the one that is asked first fits all but its last number.
	SceneBody Scene = "body"
	// SceneSlow answers after a second, SceneEvents with a stream of events that goes on for hours.
	SceneSlow   Scene = "slow"
	SceneEvents Scene = "events"
	// SceneProxy passes requests on to the upstream.
	SceneProxy Scene = "proxy"
	// SceneDocument has no mocks but an OpenAPI document.
	SceneDocument Scene = "document"
)

const (
	// bodySize is the length of most answers' bodies: a small JSON document. largeSize is that of the others.
	bodySize  = 128
	largeSize = 2048
	// digits are those of a number in a path. All paths are of one length, so that answers and requests are too.
	digits = 5
)

// mockPath is the path of the i-th mock.
func mockPath(i int) string { return fmt.Sprintf("/v1/things-%0*d/details", digits, i) }

// mocks are the documents of a scene's mocks.
func (s Spec) mocks() [][]byte {
	type members = map[string]any
	small := members{"json": json.RawMessage(filled(`{"text":"`, bodySize))}
	switch s.Scene {
	case SceneDocument:
		return nil
	case SceneTemplated:
		body := json.RawMessage(filled(`{"thing":"{{ path.thing }}","text":"`, bodySize))
		return [][]byte{encoded("templated", members{"method": "GET", "path": "/v1/{thing}/details"}, members{"json": body, "template": true})}
	case SceneBody:
		return [][]byte{
			encoded("fits", members{"method": "POST", "path": mockPath(0), "body": members{"json": order(0)}}, small),
			encoded("differs", members{"method": "POST", "path": mockPath(0), "body": members{"json": order(1)}}, small),
		}
	default:
	}
	get, answer := members{"method": "GET"}, small
	switch s.Scene {
	case SceneLarge:
		answer = members{"json": json.RawMessage(filled(`{"text":"`, largeSize))}
	case SceneSlow:
		answer = members{"json": small["json"], "delay": "1s"}
	case SceneEvents:
		answer = members{"sse": members{"events": []members{{"json": small["json"]}, {"after": "10h", "json": small["json"]}}}}
	case SceneProxy:
		answer = members{"proxy": members{"to": "http://" + s.Upstream}}
	default:
	}
	all := make([][]byte, s.Mocks)
	for i := range all {
		get["path"] = mockPath(i)
		if s.Scene == SceneParameters {
			get["path"] = strings.TrimSuffix(mockPath(i), "details") + "{part}"
		}
		all[i] = encoded(fmt.Sprintf("thing-%0*d", digits, i), get, answer)
	}
	return all
}

func encoded(name string, request, response map[string]any) []byte {
	document, err := json.Marshal(map[string]any{"name": name, "request": request, "response": response})
	if err != nil {
		panic(err) // Maps of text cannot fail to encode.
	}
	return document
}

// filled is a JSON document of a size that begins as given, inside its last text.
func filled(begin string, size int) []byte {
	body := append(make([]byte, 0, size), begin...)
	for len(body) < size-2 {
		body = append(body, 'x')
	}
	return append(body, `"}`...)
}

// order is a JSON document of about 2 KB like those that people send: rows of texts, numbers and lists.
func order(last int) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"customer":{"id":"c-1024","name":"Ada Byron","mail":"ada@example.test","since":1815},"rows":[`)
	for i := range 16 {
		fmt.Fprintf(&b, `{"sku":"thing-%04d","quantity":%d,"price":{"amount":%d.95,"currency":"EUR"},"gift":%t,"tags":["new","blue"],"note":null},`,
			i, i%7+1, i*3+1, i%2 == 0)
	}
	fmt.Fprintf(&b, `{"sku":"last"}],"total":%d}`, 1000+last)
	return json.RawMessage(b.String())
}

// config is the scene's configuration beside its mocks.
func (s Spec) config() map[string]json.RawMessage {
	if s.Scene != SceneDocument {
		return nil
	}
	return map[string]json.RawMessage{"documents": json.RawMessage(`[{"name":"things","inline":` + openAPIDocument(s.Operations, s.Size) + `}]`)}
}

// openAPIDocument is an OpenAPI document of so many operations and about so many bytes: like real ones, it consists of
// descriptions and schemas for the most part.
func openAPIDocument(operations, size int) string {
	const schema = `{"type":"object","required":["text"],"properties":{"text":{"type":"string","maxLength":4096},"count":{"type":"integer","minimum":0},` +
		`"tags":{"type":"array","items":{"type":"string"}},"owner":{"$ref":"#/components/schemas/Owner"},"related":{"$ref":"#/components/schemas/M0"}}}`
	example := string(filled(`{"text":"`, bodySize))
	var b strings.Builder
	b.WriteString(`{"openapi":"3.0.3","info":{"title":"Things","version":"1"},"components":{"schemas":{"Owner":{"type":"object",` +
		`"properties":{"name":{"type":"string"},"mail":{"type":"string","format":"email"}}}`)
	// Schemas of real documents lead to one another: each of these leads to all others.
	schemas := 3 * operations
	for i := range schemas {
		fmt.Fprintf(&b, `,"M%d":{"type":"object","required":["name"],"properties":{"name":{"type":"string","pattern":"^[a-z]{1,40}$"}`, i)
		for j := 1; j <= 4; j++ {
			fmt.Fprintf(&b, `,"r%d":{"$ref":"#/components/schemas/M%d"}`, j, (i*7+j*131)%schemas)
		}
		b.WriteString("}}")
	}
	b.WriteString(`}},"paths":{`)
	for i := range operations {
		if i > 0 {
			b.WriteByte(',')
		}
		begin := b.Len()
		fmt.Fprintf(&b, `%q:{"get":{"operationId":"thing%d","parameters":[{"name":"limit","in":"query","schema":{"type":"integer","maximum":100}}],`+
			`"responses":{"200":{"description":"A thing.","content":{"application/json":{"schema":%s,"example":%s}}}},"description":"`, mockPath(i), i, schema, example)
		for b.Len()-begin < size/max(operations, 1)-len(`words"}}`) {
			b.WriteString("words ")
		}
		b.WriteString(`"}}`)
	}
	b.WriteString(`}}`)
	return b.String()
}

// Requests are the bytes that a client sends to the scene's server, with the headers of a plain client, and the place of
// the number in their path.
func (s Spec) Requests() ([][]byte, Numbers) {
	before := "GET /m/" + projectSlug
	plain := " HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: bench/1\r\nAccept: */*\r\n"
	request := before + mockPath(0) + plain + "\r\n"
	if s.Scene == SceneBody {
		body := string(order(0))
		before = "POST /m/" + projectSlug
		request = before + mockPath(0) + plain + "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	}
	return [][]byte{[]byte(request)}, Numbers{At: len(before) + strings.IndexByte(mockPath(0), '-') + 1, Digits: digits, Count: max(s.Mocks, 1)}
}

// Load is what calls the scene's server, with so many clients.
func (s Spec) Load(addr string, clients int) Load {
	requests, numbers := s.Requests()
	return Load{Addr: addr, Requests: requests, Numbered: numbers, Clients: clients}
}
