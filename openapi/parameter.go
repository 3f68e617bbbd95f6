package openapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// Where parameters stand.
const (
	inPath   = "path"
	inQuery  = "query"
	inHeader = "header"
	inCookie = "cookie"
	// inForm is a field of a form: in OpenAPI 2.0 a parameter, later a property of the body.
	inForm = "formData"
)

// The styles of parameters (rule W7). tabDelimited is OpenAPI 2.0's tsv.
const (
	styleSimple  = "simple"
	styleLabel   = "label"
	styleMatrix  = "matrix"
	styleForm    = "form"
	styleSpace   = "spaceDelimited"
	stylePipe    = "pipeDelimited"
	styleDeep    = "deepObject"
	tabDelimited = "tabDelimited"
)

// parameter is one parameter of an operation.
type parameter struct {
	in, name, style string
	explode         bool
	required        bool
	allowEmpty      bool
	at              place
	// schema is nil where any text will do; content is set instead where the value is a document (rule W12).
	schema  *schema
	content *mediaType
}

// readParameter reads a parameter; nil leaves it out.
func (op *operation) readParameter(at place) *parameter {
	p := &parameter{in: at.text("in"), name: at.text("name"), required: at.holds("required"), allowEmpty: at.holds("allowEmptyValue"), at: at}
	switch p.in {
	case inPath, inQuery, inHeader, inCookie:
	case "body", inForm:
		if op.document.source.dialect == dialect20 {
			break
		}
		fallthrough
	default:
		op.document.source.notes.add(at, mockbase.FieldEnum, "the parameter is left out: it is in "+quoted(p.in)+", which is no place for one")
		return nil
	}
	if p.name == "" && p.in != "body" {
		op.document.source.notes.add(at, mockbase.FieldRequired, "the parameter is left out: it has no name")
		return nil
	}
	if p.in == inHeader && ignoredHeader(p.name) {
		return nil
	}
	p.required = p.required || p.in == inPath
	if op.document.source.dialect == dialect20 {
		p.shape20(op)
	} else {
		p.shape30(op)
	}
	return p
}

// ignoredHeader tells which headers are described elsewhere (rule W10).
func ignoredHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Accept", "Content-Type", "Authorization":
		return true
	default:
		return false
	}
}

func (p *parameter) shape30(op *operation) {
	p.schema = op.document.schemas.of(p.at.find("schema"))
	if content := op.readContent(p.at.find("content")); len(content) > 0 {
		p.content = content[0]
	}
	p.style = p.at.text("style")
	if p.style == "" {
		p.style = styleSimple
		if p.in == inQuery || p.in == inCookie {
			p.style = styleForm
		}
	}
	p.explode = p.style == styleForm && !p.at.denies("explode") || p.at.holds("explode")
}

// shape20 reads the form of OpenAPI 2.0, where the parameter is a schema itself.
func (p *parameter) shape20(op *operation) {
	p.schema = op.document.schemas.of(p.at)
	p.style = styleSimple
	if p.in == inQuery || p.in == inForm {
		p.style = styleForm
	}
	switch format := p.at.text("collectionFormat"); format {
	case "multi":
		p.explode = true
	case "ssv", "pipes", "tsv":
		p.style = styleOf20(format)
	}
}

// styleOf20 is how OpenAPI 2.0 divides a list, by commas where it says nothing else.
func styleOf20(collectionFormat string) string {
	switch collectionFormat {
	case "ssv":
		return styleSpace
	case "pipes":
		return stylePipe
	case "tsv":
		return tabDelimited
	default:
		return styleSimple
	}
}

// spot is where a violation of the parameter is. Fields of forms are members of the body.
func (p *parameter) spot() spot {
	if p.in == inForm {
		return spotOf("body").child(p.name)
	}
	return spotOf(p.in + "." + p.name)
}

// check reads the parameter of a request and validates it.
func (p *parameter) check(r *reading) []mockbase.Violation {
	sent := r.raw(p)
	if len(sent) == 0 {
		if p.required {
			return p.spot().violation(codeMissing, "the parameter is required")
		}
		return nil
	}
	if p.allowEmpty && len(sent) == 1 && sent[0].value == "" {
		return nil
	}
	if list := p.checkSpelling(sent); len(list) > 0 {
		return list
	}
	if p.content != nil {
		return p.checkContent(sent, r)
	}
	if p.schema == nil {
		return nil
	}
	return p.checkTexts(sent, r.direction)
}

// checkTexts validates texts by the schema.
func (p *parameter) checkTexts(sent []pair, d direction) []mockbase.Violation {
	_, faults, found := p.read(sent, d)
	if len(faults) > 0 {
		return faults
	}
	return found
}

// read turns texts into a value (rule W9): faults are what cannot be read, found what the schema says of the value. What may be
// a number and a text is the one that the schema allows.
func (p *parameter) read(sent []pair, d direction) (value any, faults, found []mockbase.Violation) {
	value, faults, found = p.readAs(sent, d, &lexer{parameter: p, schemas: p.schema.owner})
	if len(faults)+len(found) == 0 {
		return value, nil, nil
	}
	l := &lexer{parameter: p, schemas: p.schema.owner, texts: true}
	if text, failed, refused := p.readAs(sent, d, l); l.chosen && len(failed)+len(refused) == 0 {
		return text, nil, nil
	}
	return value, faults, found
}

func (p *parameter) readAs(sent []pair, d direction, l *lexer) (value any, faults, found []mockbase.Violation) {
	value = l.value(sent)
	if len(l.faults) > 0 {
		return value, l.faults, nil
	}
	return value, nil, p.schema.checkAt(d, value, p.spot())
}

// checkSpelling refuses what the document forbids in so many words: empty values and reserved characters (rule W10).
func (p *parameter) checkSpelling(sent []pair) []mockbase.Violation {
	for _, own := range sent {
		switch {
		case own.value == "" && p.at.denies("allowEmptyValue"):
			return p.spot().violation("minLength", "the value must not be empty")
		case p.at.denies("allowReserved") && strings.ContainsAny(own.value, p.reserved()):
			return p.spot().violation(codeCoercion, "the value holds reserved characters that are not percent-encoded")
		case !p.begins(own.value):
			return p.spot().violation(codeCoercion, "the value does not begin as the style "+p.style+" wants it")
		}
	}
	return nil
}

// begins tells whether a raw value begins as its style wants it (rule W7): label with a dot, matrix with a semicolon and, but for
// the members of an exploded object, the name.
func (p *parameter) begins(raw string) bool {
	switch {
	case p.style == styleLabel:
		return strings.HasPrefix(raw, ".")
	case p.style != styleMatrix:
		return true
	case p.explode && p.schema != nil && p.schema.is("object"):
		return strings.HasPrefix(raw, ";")
	default:
		name, _, _ := strings.Cut(raw, "=")
		return name == ";"+p.name
	}
}

// reservedCharacters are those of RFC 3986, section 2.2.
const reservedCharacters = ":/?#[]@!$&'()*+,;="

// reserved are the characters that a value of a query or a form must not hold as they are. A plus is a blank there, and a comma may
// divide a list or an object.
func (p *parameter) reserved() string {
	switch {
	case p.in != inQuery && p.in != inForm:
		return ""
	case p.style == styleForm && !p.explode && p.schema != nil && (p.schema.is("array") || p.schema.is("object")):
		return strings.NewReplacer("+", "", ",", "").Replace(reservedCharacters)
	default:
		return strings.ReplaceAll(reservedCharacters, "+", "")
	}
}

// checkContent reads a value that is a document of its own (rule W12).
func (p *parameter) checkContent(sent []pair, r *reading) []mockbase.Violation {
	if len(sent) > 1 {
		return p.spot().violation("type", "the parameter is given "+strconv.Itoa(len(sent))+" times and is no list")
	}
	text := p.decode(sent[0].value)
	if !p.content.parsed.isJSON() {
		return nil
	}
	value, err := parseJSON([]byte(text))
	if err != nil {
		return p.spot().violation(codeParse, "the value is no JSON: "+err.Error())
	}
	if p.content.schema == nil {
		return nil
	}
	return p.content.schema.checkAt(r.direction, value, p.spot())
}

// decode undoes the encoding of a piece of a raw value.
func (p *parameter) decode(raw string) string {
	switch p.in {
	case inQuery, inForm:
		return decodedForm(raw)
	case inHeader:
		return raw
	default:
		return decoded(raw)
	}
}

// reading is a request on its way through the checks.
type reading struct {
	*mockbase.DocumentRequest
	operation *operation
	direction direction
	path      []pair
	query     []pair
	cookies   []pair
}

func newReading(op *operation, q *mockbase.DocumentRequest) *reading {
	r := &reading{DocumentRequest: q, operation: op, direction: toServer, path: op.document.bindPath(op, q.Path), query: parsePairs(q.RawQuery)}
	if op.document.options.Strict {
		r.direction = toStrictServer
	}
	return r
}

// cookiePairs reads the cookies of the request.
func (r *reading) cookiePairs() []pair {
	if r.cookies != nil {
		return r.cookies
	}
	r.cookies = []pair{}
	for _, line := range r.Header["Cookie"] {
		for part := range strings.SplitSeq(line, ";") {
			if name, value, ok := strings.Cut(strings.Trim(part, " \t"), "="); ok {
				r.cookies = append(r.cookies, pair{name: name, value: strings.Trim(value, `"`)})
			}
		}
	}
	return r.cookies
}

// raw returns what the request sent for a parameter, as it was sent. Objects in several parameters are all of them.
func (r *reading) raw(p *parameter) []pair {
	switch p.in {
	case inPath:
		return named(r.path, p.name)
	case inHeader:
		if lines := r.Header.Values(p.name); len(lines) > 0 {
			return []pair{{name: p.name, value: strings.Join(lines, ", ")}}
		}
		return nil
	case inCookie:
		return p.among(p.divided(r.cookiePairs()))
	default:
		return p.among(r.query)
	}
}

// divided takes the pairs of an exploded cookie apart: the style form puts them into one, with ampersands between (rule W7).
func (p *parameter) divided(cookies []pair) []pair {
	if !p.explode || p.schema == nil || !p.schema.is("array") && !p.schema.is("object") {
		return cookies
	}
	var list []pair
	for _, own := range cookies {
		list = append(list, parsePairs(own.name+"="+own.value)...)
	}
	return list
}

// among picks what belongs to the parameter from a list of pairs.
func (p *parameter) among(pairs []pair) []pair {
	switch {
	case p.style == styleDeep:
		return slices.DeleteFunc(slices.Clone(pairs), func(own pair) bool { return !strings.HasPrefix(own.name, p.name+"[") })
	case p.spreads():
		declared := p.schema.owner.properties(p.schema.place)
		return slices.DeleteFunc(slices.Clone(pairs), func(own pair) bool { return declared[own.name].node == nil })
	case p.explode:
		// Many clients write name[] for lists.
		if own := named(pairs, p.name); len(own) > 0 {
			return own
		}
		return named(pairs, p.name+"[]")
	default:
		return named(pairs, p.name)
	}
}

// spreads tells whether the members of an object are parameters of their own.
func (p *parameter) spreads() bool {
	return p.style == styleForm && p.explode && p.schema != nil && p.schema.is("object")
}

// names tells whether a query parameter of this name belongs to the parameter.
func (p *parameter) names(name string) bool {
	return len(p.among([]pair{{name: name}})) > 0
}

func named(pairs []pair, name string) []pair {
	var list []pair
	for _, p := range pairs {
		if p.name == name {
			list = append(list, p)
		}
	}
	return list
}
