package openapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// response is one declared response of an operation.
type response struct {
	// key is a status, a range such as 2XX, or default.
	key     string
	at      place
	content []*mediaType
	headers []*responseHeader
}

// readResponses reads the responses in the order of the document.
func (op *operation) readResponses() {
	for _, m := range op.at.find("responses").members() {
		if strings.HasPrefix(m.name, "x-") {
			continue
		}
		key := strings.ToUpper(m.name)
		if key == "DEFAULT" {
			key = "default"
		}
		if !validKey(key) {
			op.document.source.notes.add(m.place, mockbase.FieldPattern, "the response "+quoted(m.name)+" is left out: it is no status")
			continue
		}
		if key[0] == '1' {
			op.document.source.notes.add(m.place, mockbase.FieldPattern, "the response "+quoted(m.name)+" never answers: what comes before an answer, or turns it into a WebSocket, is none of a document")
		}
		op.responses = append(op.responses, op.readResponse(key, m.place))
	}
	if len(op.responses) == 0 {
		op.document.source.notes.add(op.at, mockbase.FieldRequired, "the operation has no responses; it answers 200 without a body")
		op.responses = []*response{{key: statusText(http.StatusOK), at: op.at}}
	}
}

func (op *operation) readResponse(key string, p place) *response {
	r := &response{key: key, at: p}
	at, ok := op.document.source.object(p, "the response is empty: it is")
	if !ok {
		return r
	}
	r.at = at
	if op.document.source.dialect == dialect20 {
		r.content = op.answers20(at)
	} else {
		r.content = op.readContent(at.find("content"))
	}
	r.headers = op.readHeaders(at)
	return r
}

// validKey tells whether a key names responses: 200, 2XX or default.
func validKey(key string) bool {
	if key == "default" {
		return true
	}
	if len(key) != 3 || key[0] < '1' || key[0] > '9' {
		return false
	}
	_, err := strconv.Atoi(key)
	return err == nil || key[1:] == "XX"
}

// answers20 makes the content of a response of 2.0: each media type has the schema, and an example of its own. Examples of
// types that the operation does not produce count too.
func (op *operation) answers20(at place) []*mediaType {
	schema, examples := at.find("schema"), at.find("examples").members()
	types := op.mediaTypes20("produces")
	if schema.node == nil {
		types = nil
	}
	for _, m := range examples {
		if _, ok := parseMedia(m.name); ok && !slices.Contains(types, m.name) {
			types = append(types, m.name)
		}
	}
	if len(types) == 0 && schema.node == nil {
		return nil
	}
	list := op.contentOf20(types, schema)
	for _, m := range list {
		for _, example := range examples {
			if example.name == m.key {
				m.example = example.place
			}
		}
	}
	return list
}

// status is the status of a response without a preference (rule W25).
func (r *response) status() int {
	switch {
	case r.key == "default":
		return http.StatusOK
	case strings.HasSuffix(r.key, "XX"):
		return int(r.key[0]-'0') * 100
	default:
		status, _ := strconv.Atoi(r.key)
		return status
	}
}

// final tells whether the response is an answer, and none that comes before it.
func (r *response) final() bool { return r.status() >= http.StatusOK }

// exact tells whether the response states one status.
func (r *response) exact() bool { return r.key != "default" && !strings.HasSuffix(r.key, "XX") }

// find returns the response of a key, nil if there is none.
func (op *operation) find(key string) *response {
	at := slices.IndexFunc(op.responses, func(r *response) bool { return r.key == key })
	if at < 0 {
		return nil
	}
	return op.responses[at]
}

// usual is the response to a valid request (rule W25).
func (op *operation) usual() (*response, int) {
	var best *response
	for _, r := range op.responses {
		if r.exact() && r.status()/100 == 2 && (best == nil || r.status() < best.status()) {
			best = r
		}
	}
	for _, key := range []string{"2XX", "default"} {
		if best == nil {
			best = op.find(key)
		}
	}
	for _, r := range op.responses {
		if best == nil && r.final() {
			best = r
		}
	}
	if best == nil {
		best = &response{key: statusText(http.StatusOK), at: op.at}
	}
	return best, best.status()
}

// coded is the response for a wanted status, nil if none is declared (rule W26).
func (op *operation) coded(status int) *response {
	if status < http.StatusOK {
		return nil
	}
	for _, key := range []string{statusText(status), statusText(status/100) + "XX", "default"} {
		if r := op.find(key); r != nil {
			return r
		}
	}
	return nil
}

// askedFor is a status that asks for the response and for no other one (rule W26); 0 where others answer to all of them.
func (op *operation) askedFor(r *response) int {
	statuses := []int{r.status()}
	switch {
	case r.key == "default":
		// What has no status of its own is mostly an error.
		statuses = []int{
			http.StatusInternalServerError, http.StatusBadRequest, http.StatusNotFound, http.StatusServiceUnavailable, http.StatusConflict,
			http.StatusFound, http.StatusAccepted,
		}
	case !r.exact():
		for i := 1; i < 100; i++ {
			statuses = append(statuses, r.status()+i)
		}
	}
	for _, status := range statuses {
		if op.coded(status) == r {
			return status
		}
	}
	return 0
}

// refusing is the response to an invalid request, nil if none is declared (rule W28).
func (op *operation) refusing(statuses []int) (*response, int) {
	for _, status := range statuses {
		if r := op.find(statusText(status)); r != nil {
			return r, status
		}
	}
	for _, status := range statuses {
		if r := op.find(statusText(status/100) + "XX"); r != nil {
			return r, status
		}
	}
	return op.find("default"), statuses[0]
}

// responseHeader is one declared header of a response.
type responseHeader struct {
	document *Document
	name     string
	at       place
	schema   *schema
	example  *mockbase.Node
	explode  bool
	// json tells that the value is JSON, as its media type says.
	json bool
}

// readHeaders reads the headers of a response (rule W36). Those that the server sets itself are left out, and so are CORS
// headers without an example.
func (op *operation) readHeaders(response place) []*responseHeader {
	var list []*responseHeader
	for _, m := range response.find("headers").members() {
		at, ok := op.document.source.follow(m.place)
		if !ok || !at.is(mockbase.NodeObject) {
			continue
		}
		if !fieldName(m.name) {
			op.document.source.notes.add(m.place, mockbase.FieldPattern, "the header is left out: "+quoted(m.name)+" is no name of a header, which has letters, digits and hyphens")
			continue
		}
		if h := op.readHeader(m.name, at); !h.left() {
			h.inspect()
			list = append(list, h)
		}
	}
	return list
}

func (op *operation) readHeader(name string, at place) *responseHeader {
	h := &responseHeader{document: op.document, name: name, at: at, explode: at.holds("explode")}
	h.example = cmp.Or(op.firstNamed(at.find("examples")), firstExample(at))
	own := at.find("schema")
	if op.document.source.dialect == dialect20 {
		own = at
	}
	if content := op.readContent(at.find("content")); len(content) > 0 && own.node == nil {
		h.schema, h.json = content[0].schema, content[0].parsed.isJSON()
		h.example = cmp.Or(h.example, op.example(content[0]))
	} else {
		h.schema = op.document.schemas.of(own)
	}
	return h
}

// inspect warns of an example that no header can hold.
func (h *responseHeader) inspect() {
	if h.example == nil {
		return
	}
	if _, ok := h.simple(h.example); !ok {
		h.document.source.notes.add(h.at, mockbase.FieldPattern, "the header is not sent: its example has a control character, such as a line break, which no header can hold")
	}
}

// fieldName tells whether a text is the name of a header (RFC 9110, section 5.1).
func fieldName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// firstNamed is the value of the first named example.
func (op *operation) firstNamed(examples place) *mockbase.Node {
	for _, m := range examples.members() {
		if at, ok := op.document.source.follow(m.place); ok {
			if n := presentMember(at, "value").node; n != nil {
				return n
			}
		}
	}
	return nil
}

// left tells whether a header is left to the server.
func (h *responseHeader) left() bool {
	name := http.CanonicalHeaderKey(h.name)
	switch name {
	case "Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Trailer", "Deprecation", "Date":
		return true
	}
	return h.name == "" || strings.HasPrefix(name, "Access-Control-") && h.example == nil
}

// value is the value of the header, nil without one.
func (h *responseHeader) value(m *making) *mockbase.Node {
	switch {
	case h.example != nil:
		return h.example
	case h.schema == nil:
		return nil
	case m.random != nil:
		v, err := h.schema.generate(m.random)
		if err != nil {
			return nil
		}
		return v
	}
	if v, err := h.schema.static(); err == nil {
		return v
	}
	return nil
}

// simple writes a value in the style of headers (rule W36); it reports false for what no header can hold.
func (h *responseHeader) simple(n *mockbase.Node) (string, bool) {
	var text string
	switch {
	case h.json:
		text = string(n.JSON())
	case n.Kind == mockbase.NodeList:
		var parts []string
		for _, item := range n.Items {
			parts = append(parts, scalarText(item))
		}
		text = strings.Join(parts, ",")
	case n.Kind == mockbase.NodeObject:
		between := ","
		if h.explode {
			between = "="
		}
		var parts []string
		for _, m := range n.Members {
			parts = append(parts, m.Key+between+scalarText(m.Value))
		}
		text = strings.Join(parts, ",")
	default:
		text = scalarText(n)
	}
	return text, !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// scalarText is the text of a scalar, and JSON for anything else.
func scalarText(n *mockbase.Node) string {
	switch n.Kind {
	case mockbase.NodeText, mockbase.NodeNumber, mockbase.NodeBool:
		return n.Text
	default:
		return string(n.JSON())
	}
}
