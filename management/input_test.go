package management_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

// bodied is a route that reads a body, with a body that it takes.
type bodied struct {
	method, path, as string
	kinds            []string
	good             string
	// limit is the largest body in MiB.
	limit int
}

// bodies lists every route that reads a body.
func bodies() []bodied {
	json, either, patches := []string{"application/json"}, []string{"application/json", "application/yaml"}, []string{"application/merge-patch+json"}
	documents := []string{
		"application/json", "application/yaml", "application/zip", "application/x-zip-compressed", "multipart/form-data", "application/octet-stream",
		"application/openapi+json", "application/openapi+yaml", "application/vnd.oai.openapi", "application/vnd.oai.openapi+json", "application/vnd.oai.openapi+yaml",
	}
	return []bodied{
		{http.MethodPost, "/api/v1/auth/setup", guest, json, `{"code":"x","email":"a@example.com","password":"x"}`, 1},
		{http.MethodPost, "/api/v1/auth/login", guest, json, `{"email":"a@example.com","password":"x"}`, 1},
		{http.MethodPost, "/api/v1/auth/reauthenticate", owner, json, `{"password":"` + password + `"}`, 1},
		{http.MethodPatch, "/api/v1/auth/me", owner, patches, `{"name":"New"}`, 1},
		{http.MethodPut, "/api/v1/auth/password", owner, json, `{"currentPassword":"` + password + `","newPassword":"y"}`, 1},
		{http.MethodPost, "/api/v1/auth/password-reset", guest, json, `{"token":"x","newPassword":"y"}`, 1},
		{http.MethodPost, "/api/v1/auth/invitations/inspect", guest, json, `{"token":"x"}`, 1},
		{http.MethodPost, "/api/v1/auth/invitations/accept", guest, json, `{"token":"x","name":"Ada","password":"y"}`, 1},
		{http.MethodPost, "/api/v1/tokens", owner, json, `{"name":"ci","scopes":["mocks:read"],"projects":["*"]}`, 1},
		{http.MethodPost, "/api/v1/users", admin, json, `{"email":"new@example.com","name":"New","role":"member","password":"x"}`, 1},
		{http.MethodPatch, "/api/v1/users/viewer@example.com", admin, patches, `{"name":"New"}`, 1},
		{http.MethodPost, "/api/v1/invitations", admin, json, `{"email":"new@example.com","role":"member"}`, 1},
		{http.MethodPut, "/api/v1/projects/shop/members/viewer@example.com", owner, json, `{"role":"viewer"}`, 1},
		{http.MethodPost, "/api/v1/admin/keys/rotate", admin, json, `{"revokeNow":false}`, 1},
		{http.MethodPost, "/api/v1/projects", owner, json, `{"slug":"new","name":"New"}`, 1},
		{http.MethodPatch, "/api/v1/projects/shop", owner, patches, `{"name":"New"}`, 1},
		{http.MethodPost, mocksPath, owner, either, `{"request":"GET /x","response":{}}`, 16},
		{http.MethodPut, mocksPath + "/hello", owner, either, `{"request":"GET /x","response":{}}`, 16},
		{http.MethodPatch, mocksPath + "/hello", owner, patches, `{"priority":1}`, 1},
		{http.MethodPost, mocksPath + "/hello/broadcast", owner, json, `{"data":"x"}`, 1},
		{http.MethodPost, mocksPath + "/hello/try", owner, json, `{"request":{"method":"GET","target":"/x"}}`, 16},
		{http.MethodPost, shopPath + "/try", owner, json, `{"request":{"method":"GET","target":"/x"}}`, 16},
		{http.MethodPost, shopPath + "/send", owner, json, `{"request":{"method":"GET","target":"/x"}}`, 16},
		{http.MethodPost, trafficPath + "/latest/draft", owner, json, `{"from":"request"}`, 1},
		{http.MethodPut, definitionPath, owner, either, `{"mocks":[]}`, 32},
		{http.MethodPost, "/api/v1/projects/shop/reset", owner, json, `{"what":["counters"]}`, 1},
		{http.MethodPost, sessionsPath, owner, json, `{"name":"ci"}`, 1},
		{http.MethodPost, sessionsPath + "/default/reset", owner, json, `{"what":["counters"]}`, 1},
		{http.MethodPost, sessionsPath + "/default/clock", owner, json, `{"advance":"1s"}`, 1},
		{http.MethodPut, scenariosPath + "/checkout", owner, json, `{"state":"paid"}`, 1},
		{http.MethodPost, scenariosPath + "/reset", owner, json, `{"names":["checkout"]}`, 1},
		{http.MethodPost, projectPath + "/collections/posts/reset", owner, json, `{"session":"default"}`, 1},
		{http.MethodPut, projectPath + "/variables/greeting", owner, json, `{"value":"hi"}`, 1},
		{http.MethodPut, limitsPath + "/partner", owner, json, `{"limit":5,"window":"1m"}`, 1},
		{http.MethodPut, limitsPath + "/partner/keys/" + partnerKey, owner, json, `{"used":1}`, 1},
		{http.MethodPost, limitsPath + "/partner/reset", owner, json, `{"keyId":"` + partnerKey + `"}`, 1},
		{http.MethodPost, limitsPath + "/partner/simulate", owner, json, `{"count":3,"ratePerSecond":1}`, 1},
		{http.MethodPost, "/api/v1/projects/shop/verify", owner, json, `{"unmatched":"fail"}`, 1},
		{http.MethodPost, documentsPath, owner, documents, `{"openapi":"3.1.0","info":{"title":"Pets"},"paths":{}}`, 32},
		{http.MethodPut, documentsPath + "/petstore/content", owner, documents, `{"openapi":"3.1.0","info":{"title":"Pets"},"paths":{}}`, 32},
		{http.MethodPatch, documentsPath + "/petstore", owner, patches, `{"strict":true}`, 1},
		{http.MethodPost, mocksPath + "/hello/duplicate", owner, json, `{"name":"again"}`, 1},
		{http.MethodPost, mocksPath + "/bulk", owner, json, `{"action":"disable","mocks":["hello"]}`, 1},
		{http.MethodPut, "/api/v1/admin/shield", admin, json, shieldBody, 1},
		{http.MethodPost, "/api/v1/admin/shield/check", admin, json, `{"ip":"203.0.113.9"}`, 1},
		{http.MethodPost, "/api/v1/admin/bans", admin, json, `{"subject":{"type":"ip","value":"203.0.113.9"},"duration":"1h","reason":"scraping"}`, 1},
		{http.MethodPatch, "/api/v1/admin/config", admin, patches, `{"instanceName":"Blue"}`, 1},
		{http.MethodPatch, "/api/v1/admin/bans/latest", admin, patches, `{"reason":"others"}`, 1},
	}
}

// bodiless tells whether a route may be sent no body at all (rule Y7).
func bodiless(b bodied) bool {
	for _, end := range []string{"/reset", "/sessions", "/duplicate", "/draft", "/rotate", "/verify"} {
		if strings.HasSuffix(b.path, end) {
			return true
		}
	}
	return false
}

// shieldBody are settings that the shield of these tests takes.
const shieldBody = `{"policies":[{"name":"engine","limit":7,"window":"60s","algorithm":"fixed_window","key":"ip","mode":"enforce","onStoreFailure":"open"}],
	"safelist":[],"blocklist":["192.0.2.0/24"],"trustedProxies":[],"clientHeader":"x-forwarded-for","ipv6Prefix":64,"exposeHeaders":true,
	"circuit":{"mode":"disabled","threshold":"10000/60s","recovery":"30s","globalLimit":"50000/60s"},"pinned":["/ignored"]}`

func inputWorld(t *testing.T, changes ...func(*management.Options)) *world {
	t.Helper()
	w := newWorld(t, changes...)
	w.apply(`{"collections":{"posts":{"path":"/posts"}}}`)
	w.limit("partner", `{"limit":3,"window":"1m"}`)
	w.attach("petstore", `{"openapi":"3.0.0","info":{"title":"Petstore"},"paths":{}}`)
	w.addMock(`{"name":"hello","request":"GET /hello","rateLimit":{"use":"partner"},"response":{"sse":{"events":[{"data":"x"}]}}}`)
	w.mocked(http.MethodGet, "/hello", "")
	w.record()
	w.addMock(`{"name":"pay","request":"POST /pay","scenario":"checkout","response":{"setState":"paid"}}`)
	return w
}

func TestM8_every_route_with_a_body_is_in_the_table_of_this_test(t *testing.T) {
	t.Parallel()
	for _, r := range management.Routes() {
		operation := document(t).Paths.Value(r.Path).GetOperation(r.Method)
		path := at(r.Path, "shop", "hello")
		if path == importsPath {
			continue // it takes what other tools write, in many types, and has tests of its own
		}
		listed := slices.ContainsFunc(bodies(), func(b bodied) bool { return b.method == r.Method && b.path == path })
		if listed != (operation.RequestBody != nil) {
			t.Errorf("%s %s: reads a body: %v, listed: %v", r.Method, r.Path, operation.RequestBody != nil, listed)
		}
		if !listed {
			continue
		}
		for _, b := range bodies() {
			if b.method != r.Method || b.path != path {
				continue
			}
			for _, kind := range b.kinds {
				if operation.RequestBody.Value.Content.Get(kind) == nil {
					t.Errorf("%s %s: the API document knows no %s", r.Method, r.Path, kind)
				}
			}
			if len(operation.RequestBody.Value.Content) != len(b.kinds) {
				t.Errorf("%s %s: the API document knows more types than %v", r.Method, r.Path, b.kinds)
			}
		}
	}
}

// TestM7_bodies: 415 before 413 before 400, at every route that reads a body, and nothing is changed by any of them.
func TestM7_bodies_are_judged_alike_everywhere(t *testing.T) {
	t.Parallel()
	w := inputWorld(t)
	before := w.send(call{method: http.MethodGet, path: definitionPath, as: owner}).body
	for _, b := range bodies() {
		large := strings.Repeat("x", b.limit<<20+1)
		for name, c := range map[string]struct {
			body, kind string
			header     map[string]string
			status     int
			code       mockbase.Code
		}{
			"no type":                {body: b.good, kind: " ", status: 415, code: mockbase.CodeUnsupportedMediaType},
			"another type":           {body: b.good, kind: "text/plain", status: 415, code: mockbase.CodeUnsupportedMediaType},
			"a form":                 {body: b.good, kind: "application/x-www-form-urlencoded", status: 415, code: mockbase.CodeUnsupportedMediaType},
			"another charset":        {body: b.good, kind: b.kinds[0] + "; charset=latin1", status: 415, code: mockbase.CodeUnsupportedMediaType},
			"a broken type":          {body: b.good, kind: "application/", status: 415, code: mockbase.CodeUnsupportedMediaType},
			"another type and large": {body: large, kind: "text/plain", status: 415, code: mockbase.CodeUnsupportedMediaType},
			"another coding":         {body: b.good, header: map[string]string{"Content-Encoding": "deflate"}, status: 415, code: mockbase.CodeUnsupportedMediaType},
			"large":                  {body: large, status: 413, code: mockbase.CodeBodyTooLarge},
			"empty":                  {body: "", status: 400, code: mockbase.CodeMalformedBody},
			"blank":                  {body: " \n", status: 400, code: mockbase.CodeMalformedBody},
			"half":                   {body: b.good[:len(b.good)-1], status: 400, code: mockbase.CodeMalformedBody},
			"two values":             {body: b.good + b.good, status: 400, code: mockbase.CodeMalformedBody},
			"not UTF-8":              {body: "{\"\xff\":1}", status: 400, code: mockbase.CodeMalformedBody},
			"10,000 arrays":          {body: strings.Repeat("[", 10_000), status: 400, code: mockbase.CodeMalformedBody},
			"a list":                 {body: "[]", status: 422, code: mockbase.CodeValidationFailed},
			"an unknown member":      {body: `{"unknwn":1}`, status: 422, code: mockbase.CodeValidationFailed},
		} {
			if name == "empty" && bodiless(b) {
				continue
			}
			asked := call{method: b.method, path: b.path, as: b.as, body: c.body, kind: c.kind, header: c.header}
			switch c.kind {
			case "":
				asked.kind = b.kinds[0]
			case " ":
				asked.kind = ""
				asked.header = map[string]string{"Content-Type": ""}
			}
			got := w.send(asked)
			if got.status != c.status || got.problem().Code != c.code {
				t.Errorf("%s %s, %s: %d %.300s", b.method, b.path, name, got.status, got.body)
			}
			if c.status == http.StatusUnsupportedMediaType && name != "another coding" && got.header.Get("Accept")+got.header.Get("Accept-Patch") != strings.Join(b.kinds, ", ") {
				t.Errorf("%s %s, %s: Accept %q, Accept-Patch %q", b.method, b.path, name, got.header.Get("Accept"), got.header.Get("Accept-Patch"))
			}
		}
	}
	if after := w.send(call{method: http.MethodGet, path: definitionPath, as: owner}).body; !bytes.Equal(before, after) {
		t.Errorf("before %s\nafter %s", before, after)
	}
}

// What is read is read with gzip and with a charset too, and where it is neither, though that is said.
func TestM9_bodies_may_be_packed(t *testing.T) {
	t.Parallel()
	for _, b := range bodies()[2:] {
		for name, asked := range map[string]call{
			"packed":   {body: gzipped(t, b.good), kind: b.kinds[0] + "; charset=UTF-8", header: map[string]string{"Content-Encoding": "gzip"}},
			"identity": {body: b.good, header: map[string]string{"Content-Encoding": "identity"}},
		} {
			asked.method, asked.path, asked.as = b.method, b.path, b.as
			if asked.kind == "" {
				asked.kind = b.kinds[0]
			}
			got := inputWorld(t).send(asked)
			// A secret that is wrong, or a password that is weak, was read all the same.
			if got.status == http.StatusUnauthorized || strings.Contains(string(got.body), string(mockbase.CodeWeakPassword)) {
				continue
			}
			if got.status >= http.StatusBadRequest {
				t.Errorf("%s %s, %s: %d %s", b.method, b.path, name, got.status, got.body)
			}
		}
	}
}

func TestM9_a_body_that_is_not_the_gzip_it_is_announced_as_is_told_so(t *testing.T) {
	t.Parallel()
	w := inputWorld(t)
	packed := gzipped(t, `{"name":"packed","request":"GET /p","response":{"text":"`+strings.Repeat("x", 1000)+`"}}`)
	damaged := []byte(packed)
	damaged[len(damaged)-6] ^= 0xff // the checksum
	for name, c := range map[string]struct{ body, says string }{
		"plain":            {`{"request":"GET /p","response":{}}`, "is not gzip"},
		"YAML":             {"request: GET /p\nresponse: {}\n", "is not gzip"},
		"a byte":           {"x", "is not gzip"},
		"trailing bytes":   {packed + "trailing bytes", "behind the gzip data"},
		"a trailing byte":  {packed + "x", "gzip"},
		"trailing zeros":   {packed + strings.Repeat("\x00", 20), "behind the gzip data"},
		"cut":              {packed[:20], "ends before"},
		"without its end":  {packed[:len(packed)-1], "ends before"},
		"a wrong checksum": {string(damaged), "damaged"},
		"rubbish inside":   {packed[:10] + strings.Repeat("\xff", 40), "damaged"},
	} {
		for _, b := range bodies() {
			got := w.send(call{method: b.method, path: b.path, as: b.as, body: c.body, kind: b.kinds[0], header: map[string]string{"Content-Encoding": "gzip"}})
			p := got.want(http.StatusBadRequest, mockbase.CodeMalformedBody).problem()
			if !strings.Contains(p.Detail, c.says) || !strings.Contains(p.Detail, "Content-Encoding announces gzip") {
				t.Errorf("%s %s, %s: %s", b.method, b.path, name, p.Detail)
			}
		}
	}
	// Two packed halves are one packed body (RFC 1952, section 2.2).
	w.send(call{
		method: http.MethodPost, path: mocksPath, as: editor, body: gzipped(t, `{"request":"GET /p",`) + gzipped(t, `"response":{}}`),
		header: map[string]string{"Content-Encoding": "gzip"},
	}).want(http.StatusCreated)
}

// TestM8_every_route_refuses_parameters_that_it_does_not_know, and says which was meant.
func TestM8_every_route_refuses_parameters_that_it_does_not_know(t *testing.T) {
	t.Parallel()
	w := inputWorld(t, silentProvider)
	w.record()
	for _, r := range management.Routes() {
		if r.Path == returnPath {
			continue // the identity provider adds parameters of its own
		}
		asked := call{method: r.Method, path: at(r.Path, "shop", "hello"), as: owner, header: csrf()}
		switch {
		case r.Access == "admin":
			asked.as = admin
		case !strings.HasPrefix(r.Path, "/api/v1"):
			asked.as = guest
		}
		asked.path += "?nobodyKnowsThis=1"
		got := w.send(asked).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
		if e := got.problem().Errors; len(e) != 1 || e[0].Pointer != "#/query/nobodyKnowsThis" || e[0].Code != mockbase.FieldUnknownKey {
			t.Errorf("%s %s: %+v", r.Method, r.Path, e)
		}
		for _, name := range r.Query {
			twice := asked
			twice.path = at(r.Path, "shop", "hello") + "?" + name + "=1&" + name + "=1"
			if e := w.send(twice).want(http.StatusBadRequest, mockbase.CodeInvalidParameter).problem().Errors; len(e) != 1 || e[0].Code != mockbase.FieldDuplicateKey {
				t.Errorf("%s %s, %s twice: %+v", r.Method, r.Path, name, e)
			}
			if len(name) < 4 {
				continue
			}
			near := asked
			near.path = at(r.Path, "shop", "hello") + "?" + name[:len(name)-1] + "=1"
			if slices.Contains(r.Query, name[:len(name)-1]) {
				continue
			}
			if e := w.send(near).want(http.StatusBadRequest, mockbase.CodeInvalidParameter).problem().Errors; len(e) != 1 || e[0].Suggestion == "" {
				t.Errorf("%s %s, %s cut short: %+v", r.Method, r.Path, name, e)
			}
		}
	}
}

// At most a hundred faults are told of a document, and they are the first.
func TestM5_at_most_100_errors_are_told(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var body strings.Builder
	body.WriteString(`{"request":"GET /x","response":{}`)
	for i := range 300 {
		body.WriteString(",\n\"unknown" + strings.Repeat("x", i) + "\":1")
	}
	body.WriteString("}")
	errs := w.send(post(body.String())).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed).problem().Errors
	if len(errs) != mockbase.MaxFieldErrors || errs[0].Line != 2 || errs[99].Line != 101 {
		t.Errorf("%d errors, the first in line %d", len(errs), errs[0].Line)
	}
}

func TestM6_weights_of_Accept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		accepted, offer string
		want            float64
	}{
		{"application/json", "application/json", 1},
		{"application/json;q=0.3", "application/json", 0.3},
		{"APPLICATION/JSON", "application/json", 1},
		{"application/*;q=0.4, */*;q=0.9", "application/json", 0.4},
		{"*/*;q=0.2", "application/json", 0.2},
		{"text/*", "application/json", 0},
		{"application/json;q=0, */*", "application/json", 0},
		{"application/json;q=7", "application/json", 1},
		{"application/json;q=x", "application/json", 1},
		{"application/problem+json", "application/json", 0},
		{"text/x-yaml", "application/yaml", 1},
		{"application/x-yaml;q=0.5", "application/yaml", 0.5},
		{"text/yaml", "application/json", 0},
		{" , ,application/json", "application/json", 1},
		{"json", "application/json", 0},
	} {
		if got := management.Quality(c.accepted, c.offer); got != c.want {
			t.Errorf("%q for %s: %v, want %v", c.accepted, c.offer, got, c.want)
		}
	}
}

// stalled is a body that ends with its time, after a part of it.
func stalled(part string) io.ReadCloser {
	return io.NopCloser(io.MultiReader(strings.NewReader(part), iotest.ErrReader(os.ErrDeadlineExceeded)))
}

// M-9: a body whose time ends before it does is a 408 at every route that reads one, with and without Idempotency-Key, packed or
// not, and the connection ends with it.
func TestM9_a_body_that_comes_too_slowly_is_a_408_everywhere(t *testing.T) {
	t.Parallel()
	w := inputWorld(t)
	before := w.send(call{method: http.MethodGet, path: definitionPath, as: owner}).body
	packed := gzipped(t, `{"a": "`+strings.Repeat("b", 100))
	for _, b := range append(bodies(), bodied{method: http.MethodPost, path: importsPath, as: owner, kinds: []string{"application/json"}}) {
		for name, asked := range map[string]call{
			"nothing":      {body: ""},
			"a part":       {body: `{"a": `},
			"a key":        {body: `{"a": `, header: map[string]string{"Idempotency-Key": "slow"}},
			"a packed one": {body: packed[:len(packed)-9], header: map[string]string{"Content-Encoding": "gzip"}},
		} {
			asked.method, asked.path, asked.as, asked.kind = b.method, b.path, b.as, b.kinds[0]
			r := w.request(t, asked)
			r.Body, r.ContentLength, r.RemoteAddr, r.RequestURI = stalled(asked.body), -1, "127.0.0.1:1024", asked.path
			got := httptest.NewRecorder()
			w.server.Config.Handler.ServeHTTP(got, r)
			answer := &reply{t: t, status: got.Code, header: got.Header(), body: got.Body.Bytes()}
			answer.checkDocument(r)
			if got.Code != http.StatusRequestTimeout || answer.problem().Code != mockbase.CodeBodyTooSlow || got.Header().Get("Connection") != "close" {
				t.Errorf("%s %s, %s: %d %v %s", b.method, b.path, name, got.Code, got.Header(), got.Body)
			}
		}
	}
	if after := w.send(call{method: http.MethodGet, path: definitionPath, as: owner}).body; !bytes.Equal(before, after) {
		t.Errorf("before %s\nafter %s", before, after)
	}
}
