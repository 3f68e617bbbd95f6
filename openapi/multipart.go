package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// The bounds of multipart bodies.
const maxParts = 1000

// checkMultipart reads the parts of a multipart body: files by name alone, the others like fields of a form.
func (r *reading) checkMultipart(m *mediaType, sent media) ([]mockbase.Violation, *refusal) {
	parts, err := readParts(r.Body, sent.parameters["boundary"])
	if err != nil {
		return nil, unreadable("the body is no multipart body: " + err.Error())
	}
	if r.operation.body.form != nil {
		var pairs []pair
		for _, p := range parts {
			pairs = append(pairs, pair{name: p.name, value: r.operation.body.escaped(&p)})
		}
		return r.checkForm20(pairs), nil
	}
	if m.schema == nil {
		return nil, nil
	}
	return r.checkParts(m, parts), nil
}

// escaped is the text of a part as it would stand in a form of pairs, where the commas between the items of a list are themselves.
func (b *requestBody) escaped(own *part) string {
	text := escapedForm(own.text())
	for _, p := range b.form {
		if p.name == own.name && p.style == styleForm && !p.explode && p.schema != nil && p.schema.is("array") {
			return strings.ReplaceAll(text, "%2C", ",")
		}
	}
	return text
}

func (r *reading) checkParts(m *mediaType, parts []part) []mockbase.Violation {
	c := &partsCheck{reading: r, media: m, declared: r.operation.document.schemas.properties(m.schema.place), object: map[string]any{}}
	c.closed = r.closes(m, c.declared)
	for i := range parts {
		c.add(&parts[i])
	}
	return m.schema.beside(c.faults, m.schema.check(r.direction, c.object, "body"))
}

// partsCheck makes an object of parts.
type partsCheck struct {
	*reading
	media    *mediaType
	declared map[string]place
	closed   bool
	object   map[string]any
	faults   []mockbase.Violation
}

// add reads one part.
func (c *partsCheck) add(p *part) {
	s := c.operation.document.schemas
	name := c.propertyOf(p.name)
	own, at := spotOf("body").child(name), c.declared[name]
	kinds := s.kinds(at)
	known, met := c.object[name]
	switch {
	case c.closed && at.node == nil:
		c.faults = append(c.faults, undeclaredField(name)...)
		return
	case kinds.has("array"):
		list, _ := known.([]any)
		item := s.item(at, len(list))
		own = own.item(len(list))
		c.encoded(p, name, own)
		value := c.partValue(p, item, own, &c.faults)
		if all, whole := value.([]any); whole && !s.kinds(item).has("array") {
			c.object[name] = append(list, all...) // many clients send the whole list as one part
			return
		}
		c.object[name] = append(list, value)
		return
	case met && len(kinds) > 0:
		c.faults = append(c.faults, own.violation("type", "the part is given several times and is no list")...)
		return
	}
	c.encoded(p, name, own)
	c.object[name] = c.partValue(p, at, own, &c.faults)
}

// propertyOf is the property of a part. Many clients write name[] for lists.
func (c *partsCheck) propertyOf(name string) string {
	short, listed := strings.CutSuffix(name, "[]")
	if listed && c.declared[name].node == nil && c.operation.document.schemas.kinds(c.declared[short]).has("array") {
		return short
	}
	return name
}

// encoded checks a part as its encoding says (rule W16).
func (c *partsCheck) encoded(p *part, name string, own spot) {
	encoding := c.media.encoding.find(name)
	if wanted := encoding.text("contentType"); wanted != "" && !p.of(wanted) {
		c.faults = append(c.faults, own.violation(codeMediaType, "the part is "+quoted(p.contentType)+", wanted is "+wanted)...)
	}
	if encoding.denies("allowReserved") && strings.ContainsAny(p.text(), reservedCharacters) {
		c.faults = append(c.faults, own.violation(codeCoercion, "the value holds reserved characters")...)
	}
	for _, h := range c.media.partHeaders[name] {
		lines := p.header.Values(h.name)
		if len(lines) == 0 {
			if h.at.holds("required") {
				c.faults = append(c.faults, own.violation(codeMissing, "the header "+h.name+" of the part is required")...)
			}
			continue
		}
		for _, v := range h.check(strings.Join(lines, ", "), toServer) {
			c.faults = append(c.faults, own.violation(v.Code, "the header "+h.name+" of the part: "+v.Message)...)
		}
	}
}

// partValue reads one part by its type and schema.
func (r *reading) partValue(p *part, at place, own spot, faults *[]mockbase.Violation) any {
	kinds := r.operation.document.schemas.kinds(at)
	sent, _ := parseMedia(p.contentType)
	if sent.isJSON() || kinds.only("object") {
		value, err := parseJSON(p.body)
		if err != nil {
			*faults = append(*faults, own.violation(codeParse, "the part is no JSON: "+err.Error())...)
		}
		return value
	}
	value, ok := kinds.read(p.text())
	if !ok {
		*faults = append(*faults, own.violation(codeCoercion, quoted(p.text())+" is no "+strings.Join(kinds, " or "))...)
	}
	return value
}

// part is one part of a multipart body.
type part struct {
	name, contentType string
	header            http.Header
	body              []byte
}

// text is the part's body. Bytes that are no text stand for themselves.
func (p *part) text() string { return string(p.body) }

// of tells whether the part has one of the types of a list.
func (p *part) of(wanted string) bool {
	sent, ok := parseMedia(p.contentType)
	if !ok {
		sent = media{kind: "text", subtype: "plain"}
	}
	for one := range strings.SplitSeq(wanted, ",") {
		if m, readable := parseMedia(one); readable && m.includes(sent) {
			return true
		}
	}
	return false
}

func readParts(body []byte, boundary string) ([]part, error) {
	if boundary == "" {
		return nil, errors.New("the media type names no boundary")
	}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	var list []part
	for {
		p, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			if len(list) == 0 && !bytes.Contains(body, []byte("--"+boundary)) {
				return nil, errors.New("nothing begins with the boundary " + quoted(boundary))
			}
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", len(list)+1, err)
		}
		if len(list) == maxParts {
			return nil, errors.New("there are more than " + strconv.Itoa(maxParts) + " parts")
		}
		text, err := io.ReadAll(p)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", len(list)+1, err)
		}
		list = append(list, part{name: p.FormName(), contentType: p.Header.Get("Content-Type"), header: http.Header(p.Header), body: text})
	}
}
