package openapi

import (
	"bytes"
	"encoding/base64"
	"errors"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// Sample is a request that an operation must take.
type Sample struct {
	Method, Target string
	Header         http.Header
	Body           []byte
	// Answers are the declared responses: the key of each and its media types.
	Answers []SampleAnswer
}

// SampleAnswer is a declared response.
type SampleAnswer struct {
	Key   string
	Types []string
}

// Sample makes a request for an operation with every parameter that it declares, and a body of one of its types.
func (d *Document) Sample(op, body int) (*Sample, error) {
	own := d.operations[op].ready()
	w := &sampler{operation: own, made: &Sample{Method: own.method, Header: http.Header{}}}
	if err := w.target(); err != nil {
		return nil, err
	}
	w.credentials()
	if err := w.body(body); err != nil {
		return nil, err
	}
	for _, r := range own.responses {
		a := SampleAnswer{Key: r.key}
		for _, t := range r.content {
			a.Types = append(a.Types, t.key)
		}
		w.made.Answers = append(w.made.Answers, a)
	}
	return w.made, nil
}

// Bodies is the number of media types that an operation takes.
func (d *Document) Bodies(op int) int {
	own := d.operations[op].ready()
	if own.body == nil {
		return 0
	}
	return len(own.body.content)
}

type sampler struct {
	operation *operation
	made      *Sample
	query     []string
}

func (w *sampler) target() error {
	values := map[string]string{}
	for _, p := range w.operation.parameters {
		n, err := p.sample()
		switch {
		case err != nil && !p.required:
			continue
		case err != nil:
			return errors.New("the parameter " + p.spot().location + " has no value: " + err.Error())
		}
		switch p.in {
		case inPath:
			values[p.name] = p.spelled(n)
		case inQuery:
			w.query = append(w.query, p.spelled(n))
		case inHeader:
			w.made.Header.Set(p.name, p.spelled(n))
		default:
			w.made.Header.Add("Cookie", p.spelled(n))
		}
	}
	var b strings.Builder
	for i := range w.operation.template.segments {
		b.WriteByte('/')
		own := &w.operation.template.segments[i]
		for j, literal := range own.literals {
			b.WriteString((&url.URL{Path: literal}).EscapedPath())
			if j < len(own.names) {
				value, ok := values[own.names[j]]
				if !ok {
					value = "x"
				}
				b.WriteString(value)
			}
		}
	}
	for _, own := range w.operation.template.asks {
		value := own.value
		if slices.ContainsFunc(w.query, func(text string) bool { return strings.HasPrefix(text, own.name+"=") }) {
			continue
		}
		if value == "" || value[0] == '{' {
			value = "x"
		}
		w.query = append(w.query, own.name+"="+value)
	}
	w.query = slices.DeleteFunc(w.query, func(text string) bool { return text == "" })
	w.made.Target = b.String()
	if len(w.query) > 0 {
		w.made.Target += "?" + strings.Join(w.query, "&")
	}
	return nil
}

func (p *parameter) sample() (*mockbase.Node, error) {
	if n := firstExample(p.at); n != nil && p.in != inPath {
		if p.schema == nil || p.schema.valid(toServer, plain(n)) {
			return n, nil
		}
	}
	own := p.schema
	if p.content != nil {
		own = p.content.schema
	}
	if own == nil {
		return textNode("x"), nil
	}
	n, err := own.generateFor(toServer, nil)
	if err == nil && p.in == inPath && n.Kind == mockbase.NodeText && n.Text == "" {
		return textNode("x"), nil
	}
	return n, err
}

// spelled writes a value in the style of the parameter.
func (p *parameter) spelled(n *mockbase.Node) string {
	if p.content != nil {
		return p.prefixed(p.escaped(string(n.JSON())))
	}
	between, name := ",", ""
	switch p.style {
	case styleLabel:
		if p.explode {
			between = "."
		}
		return "." + p.pieces(n, between, "")
	case styleMatrix:
		if !p.explode || n.Kind != mockbase.NodeList && n.Kind != mockbase.NodeObject {
			return ";" + p.name + "=" + p.pieces(n, between, "")
		}
		if n.Kind == mockbase.NodeList {
			name = p.name + "="
		}
		return ";" + p.pieces(n, ";", name)
	case styleDeep:
		return strings.Join(p.deep(p.name, n), "&")
	case styleSpace:
		between = "%20"
	case stylePipe:
		between = "%7C"
	case tabDelimited:
		between = "%09"
	}
	if p.in != inQuery && p.in != inCookie || n.Kind != mockbase.NodeList && n.Kind != mockbase.NodeObject || !p.explode {
		return p.prefixed(p.pieces(n, between, ""))
	}
	if n.Kind == mockbase.NodeList {
		name = p.name + "="
	}
	return p.pieces(n, "&", name)
}

func (p *parameter) prefixed(text string) string {
	switch p.in {
	case inQuery, inCookie:
		return p.name + "=" + text
	default:
		return text
	}
}

func (p *parameter) pieces(n *mockbase.Node, between, name string) string {
	var list []string
	switch n.Kind {
	case mockbase.NodeList:
		for _, item := range n.Items {
			list = append(list, name+p.escaped(scalarText(item)))
		}
	case mockbase.NodeObject:
		own := ","
		if p.explode {
			own = "="
		}
		for _, m := range n.Members {
			list = append(list, p.escaped(m.Key)+own+p.escaped(scalarText(m.Value)))
		}
	case mockbase.NodeNull:
	default:
		list = append(list, p.escaped(scalarText(n)))
	}
	return strings.Join(list, between)
}

func (p *parameter) escaped(text string) string {
	if p.in == inHeader {
		return text
	}
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

func (p *parameter) deep(name string, n *mockbase.Node) []string {
	var list []string
	switch n.Kind {
	case mockbase.NodeObject:
		for _, m := range n.Members {
			list = append(list, p.deep(name+"["+url.QueryEscape(m.Key)+"]", m.Value)...)
		}
	case mockbase.NodeList:
		for _, item := range n.Items {
			list = append(list, p.deep(name+"[]", item)...)
		}
	case mockbase.NodeNull:
		return []string{name + "="}
	default:
		return []string{name + "=" + p.escaped(scalarText(n))}
	}
	return list
}

func (w *sampler) credentials() {
	if len(w.operation.security) == 0 {
		return
	}
	for _, needed := range w.operation.security[0] {
		name := needed.scheme.text("name")
		switch kind := strings.ToLower(needed.scheme.text("type")); {
		case kind == "apikey" && needed.scheme.text("in") == inHeader:
			w.made.Header.Set(name, "key")
		case kind == "apikey" && needed.scheme.text("in") == inCookie:
			w.made.Header.Add("Cookie", name+"=key")
		case kind == "apikey":
			w.made.Target += map[bool]string{true: "&", false: "?"}[strings.Contains(w.made.Target, "?")] + name + "=key"
		case needed.basic():
			w.made.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("a:b")))
		case kind == "http":
			w.made.Header.Set("Authorization", needed.scheme.text("scheme")+" token")
		default:
			w.made.Header.Set("Authorization", "Bearer token")
		}
	}
}

func (w *sampler) body(number int) error {
	b := w.operation.body
	if b == nil || len(b.content) == 0 {
		return nil
	}
	t := b.content[number]
	n, err := b.sample(t)
	if err != nil {
		return err
	}
	key := t.key
	if t.parsed.isRange() {
		key = "application/octet-stream"
		switch {
		case t.parsed.isJSON():
			key = "application/x+json"
		case t.parsed.kind != "*":
			key = t.parsed.kind + "/x-any"
		}
	}
	w.made.Header.Set("Content-Type", key)
	switch {
	case t.parsed.isMultipart():
		return w.multipart(t, n)
	case t.parsed.isForm() && b.form == nil && n.Kind == mockbase.NodeObject:
		w.made.Body = []byte(w.form(t, n))
	default:
		w.made.Body = t.write(n).bytes
	}
	return nil
}

// sample is the value of a body.
func (b *requestBody) sample(t *mediaType) (*mockbase.Node, error) {
	switch {
	case b.form == nil && t.schema == nil:
		return textNode("x"), nil
	case b.form == nil:
		return t.schema.generateFor(toServer, nil)
	}
	n := &mockbase.Node{Kind: mockbase.NodeObject}
	for _, p := range b.form {
		if value, err := p.sample(); err == nil {
			n.Members = append(n.Members, mockbase.Member{Key: p.name, Value: value})
		}
	}
	return n, nil
}

// form writes each member by its encoding.
func (w *sampler) form(t *mediaType, n *mockbase.Node) string {
	declared := w.operation.document.schemas.properties(t.schema.place)
	r := &reading{operation: w.operation}
	var list []string
	for _, m := range n.Members {
		if declared[m.Key].node == nil {
			list = append(list, url.QueryEscape(m.Key)+"="+url.QueryEscape(scalarText(m.Value)))
			continue
		}
		p := r.field(t, member{m.Key, declared[m.Key]})
		p.in, p.name = inQuery, url.QueryEscape(m.Key)
		if text := p.spelled(m.Value); text != "" {
			list = append(list, text)
		}
	}
	return strings.Join(list, "&")
}

func (w *sampler) multipart(t *mediaType, n *mockbase.Node) error {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for _, own := range n.Members {
		items := []*mockbase.Node{own.Value}
		if own.Value.Kind == mockbase.NodeList {
			items = own.Value.Items
		}
		for _, item := range items {
			head := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + own.Key + `"`}}
			if kind := t.encoding.find(own.Key).text("contentType"); kind != "" {
				head.Set("Content-Type", kind)
			}
			part, err := m.CreatePart(head)
			if err != nil {
				return err
			}
			if _, err := part.Write([]byte(scalarText(item))); err != nil {
				return err
			}
		}
	}
	w.made.Header.Set("Content-Type", m.FormDataContentType())
	if err := m.Close(); err != nil {
		return err
	}
	w.made.Body = b.Bytes()
	return nil
}
