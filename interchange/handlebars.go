package interchange

import (
	"errors"
	"fmt"
	"strings"
)

// Handlebars is the template language of several tools: text with expressions in braces, blocks between {{#name}} and
// {{/name}}, and helpers with positional and named arguments. This file reads it; handlebarsgo.go writes it anew.

const (
	// maxHandlebars bounds what a text may hold: expressions in all, and blocks inside one another.
	maxHandlebarsParts = 10_000
	maxHandlebarsDepth = 20
)

// hbNode is a part of a template: plain text, an expression, or a block.
type hbNode struct {
	text string
	// call is the expression, or the head of the block.
	call *hbCall
	// raw is the source of an expression or of a whole block.
	raw string
	// block tells that the part is a block, with the parts inside it and those after its else.
	block             bool
	inner, otherwise  []hbNode
	blockName, params string
}

// hbCall is a helper with its arguments, or a path alone.
type hbCall struct {
	head hbArg
	args []hbArg
	hash []hbPair
}

type hbPair struct {
	name string
	arg  hbArg
}

// hbArg is an argument: a path, a literal, or a call in parentheses.
type hbArg struct {
	kind hbKind
	text string
	sub  *hbCall
}

type hbKind int

const (
	hbPath hbKind = iota
	hbString
	hbNumber
	hbBool
	hbSub
)

// named returns a named argument.
func (c *hbCall) named(name string) (hbArg, bool) {
	for _, p := range c.hash {
		if p.name == name {
			return p.arg, true
		}
	}
	return hbArg{}, false
}

var errHandlebars = errors.New("the template does not parse")

// hbParser reads a template from left to right.
type hbParser struct {
	text  string
	pos   int
	parts int
	// closer is the tag that ended the parts which were read last: "else", or the name of a block.
	closer string
	// elseCall is the condition behind an else, as in {{else if x}}.
	elseCall string
}

// parseHandlebars reads a whole template.
func parseHandlebars(text string) ([]hbNode, error) {
	p := &hbParser{text: text}
	nodes, err := p.nodes(0)
	if err != nil {
		return nil, err
	}
	if p.closer != "" {
		return nil, fmt.Errorf("%w: {{/%s}} closes nothing", errHandlebars, p.closer)
	}
	return nodes, nil
}

// nodes reads parts up to the end of the text or a tag that closes them.
func (p *hbParser) nodes(depth int) ([]hbNode, error) {
	if depth > maxHandlebarsDepth {
		return nil, fmt.Errorf("%w: more than %d blocks inside one another", errHandlebars, maxHandlebarsDepth)
	}
	var nodes []hbNode
	for {
		p.closer = ""
		start := strings.Index(p.text[p.pos:], "{{")
		if start < 0 {
			nodes = appendText(nodes, p.text[p.pos:])
			p.pos = len(p.text)
			return nodes, nil
		}
		start += p.pos
		if start > p.pos && p.text[start-1] == '\\' {
			nodes = appendText(nodes, p.text[p.pos:start-1]+"{{")
			p.pos = start + 2
			continue
		}
		nodes = appendText(nodes, p.text[p.pos:start])
		node, closed, err := p.tag(start, depth, &nodes)
		if err != nil || closed {
			return nodes, err
		}
		if node != nil {
			nodes = append(nodes, *node)
		}
		if p.parts++; p.parts > maxHandlebarsParts {
			return nil, fmt.Errorf("%w: more than %d expressions", errHandlebars, maxHandlebarsParts)
		}
	}
}

func appendText(nodes []hbNode, text string) []hbNode {
	if text == "" {
		return nodes
	}
	return append(nodes, hbNode{text: text})
}

// tag reads the tag that begins at start. It tells whether the tag closes the parts being read.
func (p *hbParser) tag(start, depth int, before *[]hbNode) (node *hbNode, closed bool, err error) {
	body, err := p.cut(start)
	if err != nil {
		return nil, false, err
	}
	if strings.HasPrefix(body, "~") {
		body = body[1:]
		trimEnd(*before)
	}
	if strings.HasSuffix(body, "~") {
		body = body[:len(body)-1]
		p.pos += len(p.text[p.pos:]) - len(strings.TrimLeft(p.text[p.pos:], " \t\r\n"))
	}
	body = strings.TrimSpace(body)
	switch {
	case strings.HasPrefix(body, "!"):
		return nil, false, nil
	case body == "else" || body == "^" || strings.HasPrefix(body, "else "):
		p.standalone(start, before)
		p.closer, p.elseCall = "else", strings.TrimSpace(strings.TrimPrefix(body, "else"))
		return nil, true, nil
	case strings.HasPrefix(body, "/"):
		p.standalone(start, before)
		p.closer = strings.TrimSpace(body[1:])
		return nil, true, nil
	case strings.HasPrefix(body, "#"):
		p.standalone(start, before)
		node, err := p.block(start, strings.TrimSpace(body[1:]), depth)
		return node, false, err
	case strings.HasPrefix(body, ">"), strings.HasPrefix(body, "^"):
		return nil, false, fmt.Errorf("%w: {{%s}} is neither an expression nor a block", errHandlebars, body)
	}
	call, err := parseCall(strings.TrimSpace(strings.TrimPrefix(body, "&")))
	return &hbNode{call: call, raw: p.text[start:p.pos]}, false, err
}

// cut takes the text between the braces of the tag that begins at start and moves behind them.
func (p *hbParser) cut(start int) (string, error) {
	opener, end := "{{", "}}"
	switch rest := p.text[start:]; {
	case strings.HasPrefix(rest, "{{!--"):
		opener, end = "{{", "--}}"
	case strings.HasPrefix(rest, "{{{"):
		opener, end = "{{{", "}}}"
	}
	from := start + len(opener)
	n := closing(p.text[from:], end)
	if n < 0 {
		return "", fmt.Errorf("%w: a tag is not closed", errHandlebars)
	}
	p.pos = from + n + len(end)
	return p.text[from : from+n], nil
}

// closing finds the end of a tag, outside of its strings.
func closing(text, end string) int {
	if end == "--}}" {
		return strings.Index(text, end)
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\'':
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 {
				return strings.Index(text, end)
			}
			i += n + 1
		case strings.HasPrefix(text[i:], end):
			return i
		}
	}
	return -1
}

func trimEnd(nodes []hbNode) {
	if n := len(nodes) - 1; n >= 0 && nodes[n].call == nil && !nodes[n].block {
		nodes[n].text = strings.TrimRight(nodes[n].text, " \t\r\n")
	}
}

// standalone takes the line away that holds nothing but a tag of a block, as the language wants.
func (p *hbParser) standalone(start int, before *[]hbNode) {
	lineStart := strings.LastIndexByte(p.text[:start], '\n') + 1
	rest := p.text[p.pos:]
	lineEnd := strings.IndexByte(rest, '\n')
	if lineEnd < 0 || strings.Trim(p.text[lineStart:start], " \t") != "" || strings.Trim(rest[:lineEnd], " \t\r") != "" {
		return
	}
	p.pos += lineEnd + 1
	nodes := *before
	if n := len(nodes) - 1; n >= 0 && nodes[n].call == nil && !nodes[n].block {
		nodes[n].text = strings.TrimRight(nodes[n].text, " \t")
	}
}

// block reads a block, the tag that opens it being read.
func (p *hbParser) block(start int, head string, depth int) (*hbNode, error) {
	head, params := cutParams(head)
	call, err := parseCall(head)
	if err != nil {
		return nil, err
	}
	node := &hbNode{block: true, call: call, blockName: call.head.text, params: params}
	if node.inner, err = p.nodes(depth + 1); err != nil {
		return nil, err
	}
	if p.closer == "else" {
		if node.otherwise, err = p.alternative(start, depth, node.blockName); err != nil {
			return nil, err
		}
	}
	if p.closer != node.blockName {
		return nil, fmt.Errorf("%w: the block %q is not closed", errHandlebars, node.blockName)
	}
	p.closer = ""
	node.raw = p.text[start:p.pos]
	return node, nil
}

// alternative reads what follows an else. One with a condition of its own is a block that ends with the outer one.
func (p *hbParser) alternative(start, depth int, name string) ([]hbNode, error) {
	if p.elseCall == "" {
		return p.nodes(depth + 1)
	}
	call, err := parseCall(p.elseCall)
	if err != nil {
		return nil, err
	}
	inner := hbNode{block: true, call: call, blockName: call.head.text}
	if inner.inner, err = p.nodes(depth + 1); err != nil {
		return nil, err
	}
	if p.closer == "else" {
		if depth >= maxHandlebarsDepth {
			return nil, fmt.Errorf("%w: too many alternatives", errHandlebars)
		}
		if inner.otherwise, err = p.alternative(start, depth+1, name); err != nil {
			return nil, err
		}
	}
	if p.closer != name {
		return nil, fmt.Errorf("%w: the block %q is not closed", errHandlebars, name)
	}
	inner.raw = p.text[start:p.pos]
	return []hbNode{inner}, nil
}

// cutParams takes "as |x i|" from the head of a block.
func cutParams(head string) (rest, params string) {
	before, after, found := strings.Cut(head, " as |")
	if !found {
		return head, ""
	}
	params, _, _ = strings.Cut(after, "|")
	return before, strings.TrimSpace(params)
}
