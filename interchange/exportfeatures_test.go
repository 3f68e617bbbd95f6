package interchange_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/interchange"
)

// responses are members of answers, each with what an export to WireMock tells of it: nothing where it has an equivalent.
func responses() map[string]string {
	return map[string]string{
		`{ status: 201, text: a }`: "", `{ json: { a: 12.50 } }`: "", `{ json: null }`: "", `{ json: text }`: "", `{ base64: /w== }`: "", `{ status: 204 }`: "", `{ status: 304, headers: { A: b } }`: "",
		`{ text: a, headers: { A: [b, c], Date: null } }`: "", `{ text: a, setState: s }`: "", `{ json: { a: "{{ query.n | int }}" }, template: true }`: "",
		`{ text: abcd, stream: { chunks: 2, over: 10ms } }`: "", `{ text: abcd, stream: { bytesPerSecond: 100 } }`: "", `{ fault: reset }`: "", `{ fault: empty }`: "", `{ fault: garbage }`: "", `{ fault: malformed_chunk }`: "",
		`{ fault: { kind: reset, probability: 1 } }`: "", `{ text: a, delay: 10ms }`: "", `{ text: a, delay: { fixed: 10ms, jitter: 5ms } }`: "", `{ text: a, delay: { min: 1ms, max: 2ms } }`: "",
		`{ text: a, delay: { lognormal: { median: 10ms, sigma: 0.1, max: 1s } } }`: "", `{ proxy: { to: "http://h", stripPrefix: /a, setHeaders: { A: b }, removeHeaders: [C] }, headers: { X: y } }`: "",
		`{ text: a, webhooks: [{ url: "http://h/", method: PUT, headers: { A: b }, text: "1", after: 10ms }] }`: "", `{ text: a, webhooks: [{ url: "http://h/", after: { min: 1ms, max: 2ms } }] }`: "",
		`{ text: a, webhooks: [{ url: "http://h/", after: { lognormal: { median: 10ms, sigma: 0.1 } } }] }`: "",
		`{ text: a, webhooks: [{ url: "http://h/", headers: { A: [b, c] } }] }`:                             "#/response/webhooks/0/headers/A", `{ text: a, webhooks: [{ url: "http://h/", timeout: 1s }] }`: "#/response/webhooks/0/timeout",
		`{ text: a, webhooks: [{ url: "http://h/", retries: 2 }] }`: "#/response/webhooks/0/retries", `{ text: a, webhooks: [{ url: "http://h/", always: true }] }`: "#/response/webhooks/0/always",
		`{ text: a, webhooks: [{ url: "http://h/", sign: { header: X, secret: s } }] }`: "#/response/webhooks/0/sign", `{ text: a, webhooks: [{ url: "http://h/", after: { normal: { mean: 10ms, stddev: 1ms } } }] }`: "#/response/webhooks/0/after",
		`{ text: a, trailers: { X-T: b } }`: "#/response/trailers", `{ text: a, earlyHints: { Link: "</a>" } }`: "#/response/earlyHints", `{ text: a, encode: gzip }`: "#/response/encode", `{ text: a, etag: auto }`: "#/response/etag",
		`{ text: a, etag: auto, conditional: true }`: "#/response/conditional", `{ text: a, range: true }`: "#/response/range", `{ text: a, stream: true }`: "#/response/stream", `{ text: a, stream: { slowHeaders: 10ms } }`: "#/response/stream/slowHeaders",
		`{ text: abcd, fault: truncate }`: "#/response/fault", `{ fault: hang }`: "#/response/fault", `{ fault: tls_abort }`: "#/response/fault", `{ fault: { kind: raw, raw: YQ== } }`: "#/response/fault",
		`{ text: abcd, fault: { kind: reset, afterBytes: 2 } }`: "#/response/fault", `{ text: abcd, fault: { kind: reset, probability: 0.5 } }`: "#/response/fault", `{ text: a, delay: { normal: { mean: 10ms, stddev: 1ms } } }`: "#/response/delay",
		`{ text: a, template: true, delay: "{{ query.d }}" }`: "#/response/delay", `{ proxy: { to: "http://h", preserveHost: true } }`: "#/response/proxy/preserveHost", `{ proxy: { to: "http://h", timeout: 1s } }`: "#/response/proxy/timeout",
		`{ proxy: { to: "http://h", insecureTLS: true } }`: "#/response/proxy/insecureTLS", `{ proxy: { to: "http://h", rewriteLocation: true } }`: "#/response/proxy/rewriteLocation", `{ proxy: { to: "http://h", setHeaders: { A: [b, c] } } }`: "#/response/proxy/setHeaders/A",
		`{ proxy: { to: "http://h", record: new } }`: "#/response/proxy/record", `{ sse: { events: [{ event: e, data: d }], loop: 2 } }`: "#/response/sse", `{ webSocket: { onConnect: [{ text: a }] } }`: "#/response/webSocket",
		`{ status: "{{ query.s }}", template: true, text: a }`: "#/response/status",
	}
}

// mocksWith are members of mocks and requests, with what is told of them.
func mocksWith() map[string]string {
	const plain = "response: { text: a }"
	return map[string]string{
		`request: GET /x, ` + plain + `, rateLimit: 5/s`: "#/rateLimit", `request: GET /x, ` + plain + `, rateLimit: none`: "", `request: GET /x, ` + plain + `, expect: { calls: 1 }`: "#/expect",
		`request: GET /x, ` + plain + `, times: 2`: "", `request: GET /x, responses: [{ text: a }, { text: b }], select: weighted`: "#/select", `request: GET /x, responses: [{ text: a, times: 2 }, { text: b }], select: sequence, onEnd: loop`: "",
		`request: GET /x, responses: [{ text: a }, { text: b }], select: sequence, onEnd: unmatched`: "", `request: { path: /x, matrix: { a: b } }, ` + plain: "#/request/matrix/a", `request: { path: /x, host: "x.test" }, ` + plain: "",
		`request: { path: /x, host: "x.test:80" }, ` + plain: "", `request: { path: /x, strictQuery: true, query: { a: b } }, ` + plain: "#/request/strictQuery", `request: { path: /x, strictQuery: true }, ` + plain: "",
		`request: { path: /x, trailingSlash: ignore }, ` + plain: "", `request: { path: "/a/*/x" }, ` + plain: "", `request: { pathMatches: "/a/.*" }, ` + plain: "", `request: { rawTarget: "/a?b=c" }, ` + plain: "", `request: { path: /x, method: [GET, PUT] }, ` + plain: "",
		`request: { path: /x, auth: { basic: { username: a, password: b } } }, ` + plain: "", `request: { path: /x, auth: { basic: { username: { matches: "a.*" } } } }, ` + plain: "#/request/auth",
		`request: { path: /x, not: { auth: { bearer: a } } }, ` + plain: "#/request/not/auth", `request: { path: /x, method: POST, body: { graphql: { query: "{ a }" } } }, ` + plain: "#/request/body/graphql",
		`request: { path: /x, method: POST, body: { json: { a: 1 }, jsonOptions: { strict: true } } }, ` + plain: "#/request/body/jsonOptions", `request: { path: /x, method: POST, body: { jsonExact: { a: [1] }, jsonOptions: { ignoreOrder: true } } }, ` + plain: "",
		`request: { path: /x, method: POST, body: { jsonExact: { a: [1] }, jsonOptions: { numbersAsStrings: true } } }, ` + plain: "#/request/body/jsonOptions", `request: { path: /x, method: POST, body: { schema: { type: object } } }, ` + plain: "",
		`request: { path: /x, method: POST, body: { xml: "<a/>" } }, ` + plain: "#/request/body/xml", `request: { path: /x, method: POST, body: { xml: "<a/>", xmlOptions: { ignoreOrder: true, trimText: true } } }, ` + plain: "",
		`request: { path: /x, method: POST, body: { base64: YQ== } }, ` + plain: "", `request: { path: /x, method: POST, body: { empty: true } }, ` + plain: "", `request: { path: /x, method: POST, body: { empty: false } }, ` + plain: "",
		`request: { path: /x, method: POST, body: { xpath: { "//p:a": b }, namespaces: { p: u } } }, ` + plain: "", `request: { path: /x, method: POST, body: { multipart: [{ name: a, filename: b, contentType: text/plain, headers: { A: b }, body: { json: { a: 1 } } }] } }, ` + plain: "",
		`request: GET /x, responses: [{ when: { call: 2 }, text: b }, { text: a }]`: "#/responses/0/when/call", `request: GET /x, scenario: s, state: [a, b], ` + plain: "",
		`request: GET /x, scenario: s, responses: [{ when: { not: { state: a } }, text: b }, { text: a }]`: "#/responses/0/when/not/state", `description: d, folder: f, tags: [t], request: GET /x, ` + plain: "",
	}
}

// M-163: every member of a mock has an equivalent in WireMock, which comes back as the same stub, or its loss is told.
func TestM163_WireMock_gets_every_member_or_its_loss_is_told(t *testing.T) {
	t.Parallel()
	cases := map[string]string{}
	for response, told := range responses() {
		cases["request: GET /x, scenario: sc, response: "+response] = told
	}
	maps.Copy(cases, mocksWith())
	for members, told := range cases {
		d := decoded("version: 1\nmocks:\n  - { name: one, " + members + " }\n")
		if d == nil {
			t.Errorf("%s is no mock", members)
			continue
		}
		o := interchange.ExportOptions{Format: interchange.FormatWireMock}
		file := exported(t, snapshotOf(t, d), o)
		var pointers []string
		for _, l := range file.Losses {
			pointers = append(pointers, l.Pointer)
		}
		if said := strings.Join(pointers, " "); told == "" && said != "" || !strings.Contains(said, told) {
			t.Errorf("%s: told of %q, wanted %q", members, said, told)
		}
		back := importOf(t, string(file.Text), interchange.Options{Format: interchange.FormatWireMock})
		again, err := back.Definition()
		switch {
		case err != nil:
			t.Fatalf("%s: %v", members, err)
		case told != "":
			continue
		case len(back.Warnings) > 0:
			t.Errorf("%s: %v", members, back.Warnings)
		}
		second := exported(t, snapshotOf(t, again), o)
		if diff := cmp.Diff(stubsOf(t, file.Text), stubsOf(t, second.Text)); diff != "" {
			t.Errorf("%s: -first +second export:\n%s", members, diff)
		}
	}
}

// stubsOf are the requests and answers of a file.
func stubsOf(t *testing.T, text []byte) []string {
	t.Helper()
	var file struct {
		Mappings []struct {
			Request, Response, ServeEventListeners, RequiredScenarioState, NewScenarioState any
		} `json:"mappings"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	stubs := make([]string, 0, len(file.Mappings))
	for _, m := range file.Mappings {
		stubs = append(stubs, fmt.Sprintf("%v", m))
	}
	slices.Sort(stubs)
	return stubs
}
