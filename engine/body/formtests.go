package body

import (
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/operator"
)

// form compiles what the fields of a form must satisfy.
func (k *compiler) form() {
	for _, n := range k.match.Form {
		k.parts = true
		match := operator.Texts(n.Match, k.below("form", n.Name), k.faults)
		k.add(check{
			name: "form " + n.Name, stated: cut(match.String()),
			holds: func(m *Message) bool {
				v, err := m.field(n.Name)
				return err == nil && match.Holds(v)
			},
			explain: func(m *Message) mockbase.MissedPart {
				v, err := m.field(n.Name)
				return missedTexts(match, v, err)
			},
		})
	}
}

// multipart compiles what the parts of a multipart body must satisfy.
func (k *compiler) multipart() {
	for i := range k.match.Multipart {
		k.parts = true
		p, index := &k.match.Multipart[i], strconv.Itoa(i)
		t := partTest{
			name:        operator.Texts(p.Name, k.below("multipart", index, "name"), k.faults),
			filename:    operator.Texts(p.Filename, k.below("multipart", index, "filename"), k.faults),
			contentType: operator.Texts(p.ContentType, k.below("multipart", index, "contentType"), k.faults),
		}
		for _, n := range p.Headers {
			t.headers = append(t.headers, headerTest{
				name:  n.Name,
				key:   textproto.CanonicalMIMEHeaderKey(n.Name),
				match: operator.Texts(n.Match, k.below("multipart", index, "headers", n.Name), k.faults),
			})
		}
		if p.Body != nil {
			t.body = Compile(p.Body, k.below("multipart", index, "body"), k.faults)
		}
		k.add(check{name: "multipart " + index, stated: cut(t.String()), holds: t.holds, explain: t.explain})
	}
}

// partTest wants one part that satisfies all conditions (rules I6 and I7).
type partTest struct {
	name, filename, contentType operator.Match[string]
	headers                     []headerTest
	body                        *Matcher
}

// String describes what the part must be: name equals file, body text contains a.
func (t *partTest) String() string {
	var told []string
	tell := func(name string, m operator.Match[string]) {
		if len(m) > 0 {
			told = append(told, name+" "+m.String())
		}
	}
	tell("name", t.name)
	tell("filename", t.filename)
	tell("contentType", t.contentType)
	for _, h := range t.headers {
		tell("header "+h.name, h.match)
	}
	if t.body != nil {
		for i := range t.body.checks {
			told = append(told, strings.TrimSpace("body "+t.body.checks[i].name+" "+t.body.checks[i].stated))
		}
	}
	return strings.Join(told, ", ")
}

// headerTest is about the fields of one name of a part's header.
type headerTest struct {
	name, key string
	match     operator.Match[string]
}

// partHeader is the header by which a part's body is read. A part has no content coding.
func partHeader(p *Part) http.Header {
	return http.Header{"Content-Type": {p.ContentType}}
}

func (t *partTest) holds(m *Message) bool {
	parts, err := m.Parts()
	if err != nil {
		return false
	}
	for i, p := range parts {
		if t.accepts(p, m.messages[i]) {
			return true
		}
	}
	return false
}

func (t *partTest) accepts(p *Part, m *Message) bool {
	return t.missed(p) == nil && (t.body == nil || t.body.Holds(m))
}

// missed returns the first condition on a part's head that does not hold, nil if all do.
func (t *partTest) missed(p *Part) *mockbase.MissedPart {
	for _, one := range []struct {
		name   string
		match  operator.Match[string]
		text   string
		isSent bool
	}{
		{"name", t.name, p.Name, p.HasName},
		{"filename", t.filename, p.Filename, p.HasFilename},
		{"contentType", t.contentType, p.ContentType, p.ContentType != ""},
	} {
		v := &texts{}
		if one.isSent {
			v.List = []string{one.text}
		}
		if !one.match.Holds(v) {
			return missedOf(one.name, missedTexts(one.match, v, nil))
		}
	}
	for _, h := range t.headers {
		v := &texts{List: p.Header[h.key]}
		if !h.match.Holds(v) {
			return missedOf("header "+h.name, missedTexts(h.match, v, nil))
		}
	}
	return nil
}

func missedOf(name string, missed mockbase.MissedPart) *mockbase.MissedPart {
	missed.Name = name
	return &missed
}

// explain describes what fails in the part that has the right name, else in the first.
func (t *partTest) explain(m *Message) mockbase.MissedPart {
	parts, err := m.Parts()
	switch {
	case err != nil:
		return mockbase.MissedPart{Operator: "readable", Expected: "a multipart body", Actual: err.Error()}
	case len(parts) == 0:
		return mockbase.MissedPart{Operator: "exists", Expected: "a part", Actual: "no part"}
	}
	at := 0
	for i, p := range parts {
		v := &texts{List: []string{p.Name}}
		if p.HasName && t.name.Holds(v) {
			at = i
			break
		}
	}
	label := "part " + strconv.Itoa(at)
	missed := t.missed(parts[at])
	if missed == nil {
		missed = t.missedBody(parts[at], m.messages[at])
	}
	if missed == nil {
		return mockbase.MissedPart{Name: label}
	}
	missed.Name = label + " " + missed.Name
	return *missed
}

// missedBody describes what fails of a part's body, nil if nothing does. What is named like a secret is not told.
func (t *partTest) missedBody(p *Part, m *Message) *mockbase.MissedPart {
	if t.body == nil {
		return nil
	}
	for _, f := range t.body.Findings(m) {
		if f.Holds {
			continue
		}
		missed := missedOf("body "+f.Name, f.MissedPart)
		if p.HasName && mockbase.IsSecretName(p.Name) {
			missed.Expected, missed.Actual = mockbase.Mask, mockbase.Mask
		}
		return missed
	}
	return nil
}
