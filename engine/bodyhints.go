package engine

import (
	"fmt"
	"strings"

	"github.com/mockbase/mockbase/engine/body"
)

// bodyHints names slips of bodies and of what announces them (rule M5), for the nearest mock that only they keep from
// answering.
func (c *call) bodyHints(near []likeness) []string {
	l := firstOf(near, func(l *likeness) bool { return l.path && l.method && l.atHost && firstFailing(l.findings) != nil })
	if l == nil {
		return nil
	}
	var hints []string
	if hint := c.authHint(l); hint != "" {
		hints = append(hints, hint)
	}
	if hint := c.contentTypeHint(l); hint != "" {
		hints = append(hints, hint)
	}
	if !l.guards.readsBody {
		return hints
	}
	message := c.bodyMessage()
	hints = append(hints, unreadableHints(l, message)...)
	for _, note := range message.Notes() {
		hints = append(hints, printable(note))
	}
	return hints
}

// unreadableHints say why the body is not what the mock reads it as.
func unreadableHints(l *likeness, message *body.Message) []string {
	var hints []string
	if failingPart(l, func(f *finding) bool { return isJSONFinding(f.name) }) != nil {
		if hint := jsonHint(message); hint != "" {
			hints = append(hints, hint)
		}
	}
	if failingPart(l, func(f *finding) bool { return strings.HasPrefix(f.name, "graphql") }) != nil {
		if err := message.IsGraphQL(); err != nil {
			hints = append(hints, "the request is "+printable(err.Error()))
		}
	}
	return hints
}

// failingPart returns the first failing finding about the body that is as asked.
func failingPart(l *likeness, is func(f *finding) bool) *finding {
	for i := range l.findings {
		if f := &l.findings[i]; !f.holds && f.part == partBody && is(f) {
			return f
		}
	}
	return nil
}

func isJSONFinding(name string) bool {
	return strings.HasPrefix(name, "json") || strings.HasPrefix(name, "schema")
}

// jsonHint says why a body that should be JSON is none.
func jsonHint(message *body.Message) string {
	if len(message.Raw()) == 0 {
		return "the request has no body, and JSON is expected"
	}
	if _, err := message.JSON(); err != nil {
		return "the body is not JSON: " + printable(err.Error())
	}
	return ""
}

// contentTypeHint says that the Content-Type is not what the mock asks for, or that no form can be read by it (rule I2).
func (c *call) contentTypeHint(l *likeness) string {
	sent := c.header.Get(headerContentType)
	said := "there is none"
	if sent != "" {
		said = "the request says " + quoted(sent)
	}
	for i := range l.findings {
		f := &l.findings[i]
		if !f.holds && f.part == partHeaders && strings.EqualFold(f.name, headerContentType) {
			return fmt.Sprintf("Content-Type: %s asks for another one; %s", describeMock(l), said)
		}
	}
	isForm := func(f *finding) bool {
		return strings.HasPrefix(f.name, "form") || strings.HasPrefix(f.name, "multipart")
	}
	if failingPart(l, isForm) != nil && !body.IsForm(sent) {
		return fmt.Sprintf("Content-Type: a form is read only if it says application/x-www-form-urlencoded or multipart/form-data; %s", said)
	}
	return ""
}

// authHint says that the credentials are of another scheme than the mock asks for.
func (c *call) authHint(l *likeness) string {
	a := l.guards.auth
	if a == nil || a.holds(&c.inquiry) {
		return ""
	}
	for _, line := range c.header[headerAuthorization] {
		scheme, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.EqualFold(scheme, a.scheme()) {
			return fmt.Sprintf("the Authorization header has the scheme %s, and %s asks for %s", quoted(scheme), describeMock(l), a.scheme())
		}
		if _, ok := a.read(line); !ok {
			return "the credentials of the Authorization header cannot be decoded"
		}
	}
	if len(c.header[headerAuthorization]) == 0 {
		return fmt.Sprintf("there is no Authorization header, and %s asks for %s credentials", describeMock(l), a.scheme())
	}
	return ""
}
