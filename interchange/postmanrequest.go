package interchange

import (
	"cmp"
	"strings"

	"github.com/mockbase/mockbase"
)

// legible checks the kind of a part of a request that says where the mock answers.
func (p *postmanFile) legible(v value, allowed kinds) bool {
	if !v.ok() || allowed.has(v) {
		return true
	}
	p.out.warn(v, mockbase.FieldType, "must be %s, found %s: the request is left out", allowed, v.node.Kind)
	return false
}

// savedRequest is a request of a collection with what was sent beside its method, its path and its query.
type savedRequest struct {
	saved

	// raw is the path as it was written, and values are those of its variables, as far as they are known.
	raw    string
	values map[string]string
	sent   []pair
}

// target reads method, address, headers and body of a request, which may be an address alone. Headers and variables of the
// path that it says nothing of stay what they are.
func (p *postmanFile) target(v value, x *savedRequest) bool {
	x.method = "GET"
	address := v
	if v.is(mockbase.NodeObject) {
		o := p.out.object(v)
		if method := strings.TrimSpace(o.textOf("method")); method != "" {
			x.method = strings.ToUpper(p.resolved(method))
		}
		address = o.get("url")
		x.body = p.body(o.get("body"))
		if header := o.get("header"); header.ok() {
			x.sent = p.sentHeaders(header)
		}
		o.skip("description", "auth", "proxy", "certificate")
		if auth := v.member("auth"); auth.is(mockbase.NodeObject) && auth.member("type").text() != "noauth" && x.from.pointer != v.pointer {
			p.out.lost(auth, "the credentials are no condition: the mock answers with and without them")
		}
		o.done()
	}
	if !p.legible(v.member("method"), aText) || !p.legible(address, aText|anObject) {
		return false
	}
	if !p.address(address, x) {
		if !address.ok() {
			address = v
		}
		p.out.lost(address, "the request has no address: it is left out")
		return false
	}
	x.path = savedPattern(x.raw)
	return true
}

// sentHeaders are the headers that a request was saved with.
func (p *postmanFile) sentHeaders(v value) []pair {
	var list []pair
	for _, h := range postmanHeaders(p.out, v) {
		list = append(list, pair{h.name, p.resolved(h.text)})
	}
	return list
}

// address reads an address: a text, or an object with its parts. The path is as it was written.
func (p *postmanFile) address(v value, x *savedRequest) bool {
	text := v.text()
	var listed value
	if v.is(mockbase.NodeObject) {
		o := p.out.object(v)
		text, listed = p.parts(o), o.get("query")
		if o.has("variable") {
			x.values = p.pathValues(o.listOf("variable"))
		}
		o.done()
	}
	text = strings.TrimSpace(p.resolved(text))
	if text == "" {
		return false
	}
	text, _, _ = strings.Cut(text, "#")
	text, queryText, _ := strings.Cut(text, "?")
	if listed.is(mockbase.NodeList) {
		x.query = p.query(listed)
	} else {
		x.query = queryPairs(queryText)
	}
	x.raw = pathOf(text)
	return true
}

// parts is the text of an address that is an object, "" for none. What leads to a server says nothing of a mock.
func (*postmanFile) parts(o *object) string {
	o.skip("protocol", "port", "hash", "host", "path", "auth")
	if text := o.textOf("raw"); text != "" {
		return text
	}
	host, below := joined(o.get("host"), "."), strings.TrimPrefix(joined(o.get("path"), "/"), "/")
	if host == "" && below == "" {
		return ""
	}
	return host + "/" + below
}

// query reads the parameters of an address.
func (p *postmanFile) query(list value) []pair {
	var pairs []pair
	for _, v := range list.items() {
		q, ok := p.out.entry(v)
		if !ok {
			continue
		}
		name, text := q.textOf("key"), q.textOf("value")
		q.skip("disabled", "description", "type", "equals", "id", "_postman_id", "system")
		q.done()
		switch {
		case v.member("disabled").isTrue():
		case name == "" && text != "":
			p.out.lost(v, "the parameter has no name: it is no condition")
		case name != "":
			pairs = append(pairs, pair{p.resolved(name), p.resolved(text)})
		}
	}
	return pairs
}

// pathValues are the values of the variables of a path that are known.
func (p *postmanFile) pathValues(list []value) map[string]string {
	values := map[string]string{}
	for _, v := range list {
		d, ok := p.out.entry(v)
		if !ok {
			continue
		}
		name, text := cmp.Or(d.textOf("key"), d.textOf("id")), p.resolved(d.textOf("value"))
		d.skip("id", "type", "name", "system", "description", "disabled")
		d.done()
		if name != "" && text != "" && !v.member("disabled").isTrue() {
			values[name] = text
		}
	}
	return values
}

// joined is a text, or the texts of a list put together. Postman writes parts as texts or as objects with a value.
func joined(v value, separator string) string {
	if v.scalar() {
		return v.text()
	}
	parts := make([]string, 0, len(v.items()))
	for _, item := range v.items() {
		text := item.text()
		if item.is(mockbase.NodeObject) {
			text = item.member("value").text()
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, separator)
}

// body reads the body of a request. It is a condition only where requests or saved answers differ in it, but for GraphQL,
// whose requests all go to one address.
func (p *postmanFile) body(v value) savedBody {
	if v.member("disabled").isTrue() {
		return savedBody{}
	}
	o := p.out.object(v)
	b := savedBody{templated: true}
	mode := o.textOf("mode")
	switch content := o.get(mode); mode {
	case "raw":
		kinds := map[string]string{"json": "application/json", "xml": "application/xml"}
		b.text, b.kind = p.resolved(o.textOf(mode)), kinds[v.at("options", "raw", "language").text()]
	case "urlencoded":
		b.kind = "application/x-www-form-urlencoded"
		if b.text = p.resolved(content.text()); b.text == "" {
			b.text = p.fields(content)
		}
	case "formdata":
		b.text, b.kind = p.fields(content), "multipart/form-data"
	case "graphql":
		b.text, b.condition = p.graphql(o.objectOf(mode))
		b.kind = graphqlVariables
	case "", "none":
	case "file":
		if b.text = p.resolved(content.member("content").text()); b.text == "" && !content.member("src").silent() {
			p.out.lost(v, "the file is not in the collection: the body is no condition")
		}
	default:
		p.out.lost(v.member("mode"), "the mode %s of bodies is not known: the body is no condition", quoted(mode))
	}
	// The editor keeps what was written in the modes that are not chosen.
	o.skip("raw", "urlencoded", "formdata", "graphql", "file", "options", "disabled")
	o.done()
	return b
}

// fields writes the fields of a form like a query. A file is no condition.
func (p *postmanFile) fields(list value) string {
	var parts []string
	for _, v := range list.items() {
		field, ok := p.out.entry(v)
		if !ok {
			continue
		}
		field.skip("disabled", "type", "description", "contentType", "src", "fileName", "uuid", "id", "equals", "fileNotInWorkingDirectoryWarning", "filesNotInWorkingDirectoryWarning")
		name := p.resolved(field.textOf("key"))
		switch {
		case v.member("disabled").isTrue():
			field.skip("value")
		case v.member("type").text() == "file":
			field.skip("value")
			p.out.lost(v, "the file of the field %s is not in the collection: the field is no condition", quoted(name))
		default:
			parts = append(parts, formEscape(name)+"="+formEscape(p.resolved(field.textOf("value"))))
		}
		field.done()
	}
	return strings.Join(parts, "&")
}

// graphql tells requests to one GraphQL address apart, by operation or by query. Its variables are returned as a body, which
// is a condition only where nothing else differs.
func (p *postmanFile) graphql(o *object) (variables string, condition *doc) {
	name, query := p.resolved(o.textOf("operationName")), p.resolved(o.textOf("query"))
	switch v := o.get("variables"); {
	case v.is(mockbase.NodeObject):
		variables = string(v.node.JSON())
	case v.ok():
		variables = strings.TrimSpace(p.resolved(o.textOf("variables")))
	}
	o.done()
	if variables == "{}" {
		variables = ""
	}
	switch {
	case name != "":
		condition = with("jsonPath", with("$.operationName", textNode(name)).node())
	case query != "":
		condition = with("jsonPath", with("$.query", textNode(query)).node())
	}
	return variables, condition
}
