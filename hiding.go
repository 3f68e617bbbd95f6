package mockbase

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// The least length of a secret that is looked for, and of what it is within base64: what is shorter stands everywhere by chance.
const (
	shortestHidden = 4
	shortestWithin = 6
)

// Hiding masks the values of a project's secret variables in what is shown of its traffic: they are no part of anything but
// answers. A nil one hides nothing. It is immutable.
type Hiding struct {
	forms    [][]byte
	replacer *strings.Replacer
}

// Hiding masks the values of the secret variables as they are now, nil if there are none. Values of less than four bytes,
// true and false are not looked for.
func (p *Project) Hiding() *Hiding {
	var forms []string
	for _, v := range p.Config.Variables {
		if text := variableText(v.Value); len(text) >= shortestHidden && p.NoteOf(v.Name).Secret {
			forms = append(forms, secretForms(text)...)
		}
	}
	if len(forms) == 0 {
		return nil
	}
	// Of several that begin alike the longest is to go.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	h := &Hiding{}
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		h.forms = append(h.forms, []byte(form))
		pairs = append(pairs, form, Mask)
	}
	h.replacer = strings.NewReplacer(pairs...)
	return h
}

// variableText is a variable as templates write it, "" for what is no secret by itself.
func variableText(value json.RawMessage) string {
	var text string
	switch {
	case json.Unmarshal(value, &text) == nil:
		return text
	case len(value) > 0 && (value[0] == '-' || '0' <= value[0] && value[0] <= '9'):
		return string(value)
	}
	return ""
}

// secretForms are the ways in which a text is written into bodies, headers and addresses. What else a template makes of it, such
// as a part or a digest, is not recognized.
func secretForms(text string) []string {
	forms := []string{text, url.QueryEscape(text), url.PathEscape(text), base64.StdEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text))}
	forms = append(forms, strings.ToUpper(text), strings.ToLower(text))
	forms = append(forms, withinBase64(text)...)
	quoted := (&Node{Kind: NodeText, Text: text}).JSON()
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, quoted)
	for _, form := range []string{string(quoted), escaped.String()} {
		forms = append(forms, form[1:len(form)-1])
	}
	slices.Sort(forms)
	return slices.DeleteFunc(slices.Compact(forms), func(form string) bool { return form == "" })
}

// withinBase64 are the ways in which a text is written into the base64 of a longer one, such as that of name:password: there is
// one for each place that it may have in a group of three bytes. The letters that it shares with its neighbours are left out.
func withinBase64(text string) []string {
	var forms []string
	for before := range 3 {
		padded := append(make([]byte, before), text...)
		from, to := (8*before+5)/6, 8*len(padded)/6
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if form := encoding.EncodeToString(padded)[from:to]; len(form) >= shortestWithin {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// Bytes returns a text without the secrets: itself if it holds none.
func (h *Hiding) Bytes(text []byte) []byte {
	if h == nil || !slices.ContainsFunc(h.forms, func(form []byte) bool { return bytes.Contains(text, form) }) {
		return text
	}
	return []byte(h.replacer.Replace(string(text)))
}

// Text does the same for a text that is not bytes.
func (h *Hiding) Text(text string) string {
	if h == nil || text == "" {
		return text
	}
	return h.replacer.Replace(text)
}

// Exchange returns an exchange without the secrets: itself if it holds none, or a copy.
func (h *Hiding) Exchange(x *Exchange) *Exchange {
	if h == nil {
		return x
	}
	c := &hidingCopy{Hiding: h}
	m := *x
	c.request(&m.Request)
	m.Response.Body, m.Response.Header = c.bytes(m.Response.Body), c.header(m.Response.Header)
	m.Messages, m.Webhooks = c.messages(m.Messages), c.webhooks(m.Webhooks)
	m.NearMisses, m.Violations, m.Limits = c.nearMisses(m.NearMisses), c.violations(m.Violations), c.limits(m.Limits)
	m.Hints, m.Warnings, m.Error = c.lines(m.Hints), c.lines(m.Warnings), c.text(m.Error)
	m.ClientKey, m.Client.UserAgent = c.text(m.ClientKey), c.text(m.Client.UserAgent)
	if !c.changed {
		return x
	}
	m.Redacted = true
	return &m
}

// JSON returns a JSON document whose texts and member names hold no secrets: itself if none of them is in it.
func (h *Hiding) JSON(document []byte) []byte {
	if h == nil || bytes.Equal(h.Bytes(document), document) {
		return document
	}
	root, err := ParseNode(document, FormatJSON, ParseLimits{Bytes: len(document)})
	if err != nil {
		return h.Bytes(document)
	}
	return h.node(root).JSON()
}

func (h *Hiding) node(n *Node) *Node {
	hidden := *n
	hidden.Members, hidden.Items = slices.Clone(n.Members), slices.Clone(n.Items)
	if n.Kind == NodeText {
		hidden.Text = h.Text(n.Text)
	}
	for i := range hidden.Members {
		hidden.Members[i].Key, hidden.Members[i].Value = h.Text(hidden.Members[i].Key), h.node(hidden.Members[i].Value)
	}
	for i, item := range hidden.Items {
		hidden.Items[i] = h.node(item)
	}
	return &hidden
}

// hidingCopy hides what it copies, and notes whether anything was there to hide.
type hidingCopy struct {
	*Hiding

	changed bool
}

func (c *hidingCopy) text(text string) string {
	hidden := c.Text(text)
	c.changed = c.changed || hidden != text
	return hidden
}

func (c *hidingCopy) bytes(text []byte) []byte {
	hidden := c.Bytes(text)
	c.changed = c.changed || !bytes.Equal(hidden, text)
	return hidden
}

func (c *hidingCopy) lines(list []string) []string {
	return hideEach(list, func(s *string) { *s = c.text(*s) })
}

func (c *hidingCopy) request(r *RecordedRequest) {
	r.Target, r.Path, r.RawQuery = c.text(r.Target), c.text(r.Path), c.text(r.RawQuery)
	r.Header, r.Body = c.header(r.Header), c.bytes(r.Body)
}

func (c *hidingCopy) header(h http.Header) http.Header {
	if h == nil {
		return nil
	}
	hidden := make(http.Header, len(h))
	for name, lines := range h {
		hidden[name] = c.lines(lines)
	}
	return hidden
}

func (c *hidingCopy) messages(list []RecordedMessage) []RecordedMessage {
	return hideEach(list, func(m *RecordedMessage) { m.Data = c.bytes(m.Data) })
}

func (c *hidingCopy) webhooks(list []RecordedWebhook) []RecordedWebhook {
	return hideEach(list, func(w *RecordedWebhook) {
		w.URL, w.Error = c.text(w.URL), c.text(w.Error)
		w.Attempts = hideEach(w.Attempts, func(a *RecordedAttempt) { a.Body, a.Error = c.bytes(a.Body), c.text(a.Error) })
	})
}

func (c *hidingCopy) nearMisses(list []NearMiss) []NearMiss {
	return hideEach(list, func(m *NearMiss) {
		m.Failed = hideEach(m.Failed, func(p *MissedPart) { p.Expected, p.Actual = c.text(p.Expected), c.text(p.Actual) })
	})
}

func (c *hidingCopy) violations(list []Violation) []Violation {
	return hideEach(list, func(v *Violation) { v.Message = c.text(v.Message) })
}

func (c *hidingCopy) limits(list []LimitOutcome) []LimitOutcome {
	return hideEach(list, func(l *LimitOutcome) { l.Key = c.text(l.Key) })
}

// hideEach is a copy of a list in which each item was hidden.
func hideEach[T any](list []T, hide func(*T)) []T {
	if list == nil {
		return nil
	}
	hidden := slices.Clone(list)
	for i := range hidden {
		hide(&hidden[i])
	}
	return hidden
}
