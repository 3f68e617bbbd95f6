package interchange

import (
	"strings"
	"text/template/parse"

	"github.com/mockbase/mockbase"
)

// jsonInner writes a text as it stands between the quotes of a JSON text.
func jsonInner(text string) string {
	quotedText := string(textNode(text).JSON())
	return quotedText[1 : len(quotedText)-1]
}

// jsonText translates a JSON body, of which each text is a template of its own, into the text of a template (mock format,
// section 7): a value that is one expression keeps its type.
func (t *goTemplate) jsonText(n *mockbase.Node) string {
	switch n.Kind {
	case mockbase.NodeObject:
		parts := make([]string, len(n.Members))
		for i, m := range n.Members {
			parts[i] = `"` + t.shownKey(m.Key) + `": ` + t.jsonText(m.Value)
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case mockbase.NodeList:
		parts := make([]string, len(n.Items))
		for i, item := range n.Items {
			parts[i] = t.jsonText(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case mockbase.NodeText:
		if strings.Contains(n.Text, "{{") {
			return t.jsonTemplate(n.Text)
		}
	case mockbase.NodeNull, mockbase.NodeBool, mockbase.NodeNumber:
	}
	return string(n.JSON())
}

func (*goTemplate) shownKey(key string) string {
	return strings.ReplaceAll(jsonInner(key), "{{", `\{{`)
}

// jsonTemplate translates a text of a JSON body.
func (t *goTemplate) jsonTemplate(text string) string {
	inner := *t
	inner.lost, inner.literal, inner.inText = nil, jsonInner, true
	if x, ok := inner.single(text); ok && (x.kind != hbGivesText || x.text == t.request+".body") {
		if x.kind == hbGivesText {
			x.kind = hbGivesJSON
		}
		if x.constant {
			return x.text
		}
		t.dynamic = true
		if x.kind == hbGivesJSON {
			x = hbCalled("toJson", hbGivesJSON, x)
		}
		return "{{" + x.text + "}}"
	}
	written := `"` + inner.text(text) + `"`
	t.dynamic = t.dynamic || inner.dynamic
	t.lost = append(t.lost, inner.lost...)
	return written
}

// single is the expression of a text that is one action alone.
func (t *goTemplate) single(text string) (hbExpression, bool) {
	list, err := parsedTemplate(text)
	if err != nil || len(list) != 1 {
		return hbExpression{}, false
	}
	action, ok := list[0].(*parse.ActionNode)
	if !ok || len(action.Pipe.Decl) > 0 {
		return hbExpression{}, false
	}
	x, err := t.pipe(action.Pipe)
	return x, err == nil && x.printable() == nil
}
