package interchange

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

func formEscape(text string) string { return url.QueryEscape(text) }

// unescaped decodes a part of a query or a path; what cannot be decoded stays as it is.
func unescaped(text string) string {
	if decoded, err := url.QueryUnescape(text); err == nil {
		return decoded
	}
	return text
}

// postmanTemplate translates the texts of one answer, in which values of the collection, random values and values of the
// request may stand in double braces.
type postmanTemplate struct {
	file *postmanFile
	// dynamic tells that something is left to render.
	dynamic bool
}

// text translates a text that came from a place of the source.
func (t *postmanTemplate) text(from value, text string) string {
	text = t.file.resolved(text)
	if !strings.Contains(text, "{{") {
		return text
	}
	var lost []string
	rendered := false
	made := replaceTags(text, func(tag string) (string, bool) {
		expression, ok := postmanExpression(tag)
		if !ok {
			lost = append(lost, tag)
			return "", false
		}
		rendered = true
		return "{{ " + expression + " }}", true
	})
	for _, tag := range lost {
		t.file.out.lost(from, "%s is left as it is: nothing says what stands for it", quoted("{{"+tag+"}}"))
	}
	if !rendered {
		return text
	}
	t.dynamic = true
	if len(lost) > 0 {
		made = replaceTags(text, func(tag string) (string, bool) {
			if expression, ok := postmanExpression(tag); ok {
				return "{{ " + expression + " }}", true
			}
			return `{{ "{{" }}` + tag + "}}", true
		})
	}
	return made
}

// headers translates the headers of an answer.
func (t *postmanTemplate) headers(v value) []pair {
	var headers []pair
	for _, h := range postmanHeaders(t.file.out, v) {
		if strings.EqualFold(h.name, "Set-Cookie") {
			t.file.out.lost(h.at, "the cookie belongs to one client: it is not set")
			continue
		}
		name := t.file.resolved(h.name)
		if strings.Contains(name, "{{") {
			t.file.out.lost(h.at, "nothing says what stands for %s: the header is left out", quoted(name))
			continue
		}
		headers = append(headers, pair{name, t.text(h.at, h.text)})
	}
	return headers
}

// postmanHeader is a header and its place.
type postmanHeader struct {
	pair

	at value
}

// postmanHeaders reads headers: a list of names and values or of lines, or one text with a line for each.
func postmanHeaders(out *output, v value) []postmanHeader {
	var headers []postmanHeader
	line := func(at value, text string) {
		if name, rest, ok := strings.Cut(text, ":"); ok {
			headers = append(headers, postmanHeader{pair{strings.TrimSpace(name), strings.TrimSpace(rest)}, at})
		} else if strings.TrimSpace(text) != "" {
			out.lost(at, "the line %s is no header: it is left out", quoted(strings.TrimSpace(text)))
		}
	}
	for text := range strings.Lines(v.text()) {
		line(v, text)
	}
	for _, item := range v.items() {
		if item.is(mockbase.NodeText) {
			line(item, item.text())
			continue
		}
		h, ok := out.entry(item)
		if !ok {
			continue
		}
		name, text := h.textOf("key"), h.textOf("value")
		h.skip("disabled", "description", "type", "name", "id", "_postman_id", "system", "equals", "uuid", "warning")
		h.done()
		if !item.member("disabled").isTrue() && name != "" {
			headers = append(headers, postmanHeader{pair{name, text}, item})
		}
	}
	return headers
}

// postmanExpression translates what stands in double braces.
func postmanExpression(tag string) (string, bool) {
	call, err := parseCall(tag)
	if err != nil || call.head.kind != hbPath || !strings.HasPrefix(call.head.text, "$") || len(call.hash) > 0 {
		return "", false
	}
	name := call.head.text[1:]
	if len(call.args) == 0 {
		return postmanRandom(name)
	}
	expression, ok := postmanRequest(name, call.args[0].text)
	if ok && len(call.args) == 2 {
		expression = "default " + strconv.Quote(call.args[1].text) + " (" + expression + ")"
	}
	return expression, ok && len(call.args) <= 2
}

// postmanRequest writes a value of the request.
func postmanRequest(name, argument string) (string, bool) {
	switch name {
	case "body":
		return "jsonPath " + strconv.Quote(objectPath(argument)), true
	case "queryParams":
		return "index query " + strconv.Quote(argument), true
	case "headers":
		return "header " + strconv.Quote(argument), true
	case "pathSegments":
		return "segment " + argument, isDigits(argument)
	}
	return "", false
}

// postmanRandom writes a random value, a moment, or the whole body of the request.
func postmanRandom(name string) (string, bool) {
	known := map[string]string{
		"body": "bodyText", "guid": "uuid", "randomUUID": "uuid", "timestamp": `now | date "unix" "UTC"`, "isoTimestamp": "now",
		"randomInt": "randomInt 0 1000", "randomBoolean": `pick "true" "false"`, "randomAlphaNumeric": "randomString 1",
		"randomPassword": "randomString 15",
	}
	if expression, ok := known[name]; ok {
		return expression, true
	}
	random, ok := strings.CutPrefix(name, "random")
	if !ok {
		return "", false
	}
	random = map[string]string{
		"IP": "ipv4", "IPV6": "ipv6", "MACAddress": "macaddress", "CompanyName": "companyname", "UserName": "username",
		"Word": "word", "LoremWord": "word", "LoremSentence": "sentence", "LoremParagraph": "paragraph", "BankAccountIban": "iban",
	}[random]
	if random == "" {
		random = name[len("random"):]
	}
	if random == "companyname" {
		return `faker "company"`, true
	}
	if function, ok := fakerName(random); ok {
		return "faker " + strconv.Quote(function), true
	}
	return "", false
}

// resolved puts the variables of the collection in, whose values may name others.
func (p *postmanFile) resolved(text string) string {
	const rounds = 5
	for range rounds {
		if !strings.Contains(text, "{{") {
			return text
		}
		before := text
		text = replaceTags(text, func(tag string) (string, bool) {
			known, ok := p.variables[tag]
			return known, ok
		})
		if text == before || len(text) > MaxBytes {
			break
		}
	}
	return text
}

// replaceTags replaces what stands in double braces, where replace knows it.
func replaceTags(text string, replace func(tag string) (string, bool)) string {
	const growth = 1 << 20
	longest := len(text) + growth
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		b.WriteString(before)
		switch {
		case !found:
			return b.String()
		case b.Len() > longest:
			// What grows beyond all bounds stays as it is from here on.
			b.WriteString("{{" + rest)
			return b.String()
		}
		tag, after, closed := strings.Cut(rest, "}}")
		if !closed {
			b.WriteString("{{" + rest)
			return b.String()
		}
		if known, ok := replace(strings.TrimSpace(tag)); ok {
			b.WriteString(known)
		} else {
			b.WriteString("{{" + tag + "}}")
		}
		text = after
	}
}
