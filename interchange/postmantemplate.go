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

// headers translates the headers of an answer: a list of names and values, or one text with a line for each.
func (t *postmanTemplate) headers(v value) []pair {
	var headers []pair
	if v.is(mockbase.NodeText) {
		for line := range strings.Lines(v.text()) {
			if name, text, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
				headers = append(headers, pair{strings.TrimSpace(name), t.text(v, strings.TrimSpace(text))})
			}
		}
		return headers
	}
	for _, h := range v.items() {
		name := h.member("key").text()
		if h.member("disabled").isTrue() || name == "" {
			continue
		}
		if strings.EqualFold(name, "Set-Cookie") {
			t.file.out.lost(h, "the cookie belongs to one client: it is not set")
			continue
		}
		headers = append(headers, pair{name, t.text(h, h.member("value").text())})
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
