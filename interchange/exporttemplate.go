package interchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/mockbase/mockbase"
)

// Templates of responses are Go's text/template here and Handlebars in other tools. This file reads the one and writes the
// other; exporthelpers.go knows the functions.

// errNoHandlebars is the reason why an action stays as it is.
var errNoHandlebars = errors.New("has no equivalent")

// errChoice is why a choice among values stays as it is: in the other tool it says no more than whether one of them is there.
var errChoice = fmt.Errorf("%w: and, or give one of their values here alone", errNoHandlebars)

// kind is what an expression gives.
type hbType int

const (
	hbGivesText hbType = iota
	// hbGivesNumber is a number or a boolean, which stands in JSON without quotes.
	hbGivesNumber
	// hbGivesJSON is any value of JSON.
	hbGivesJSON
)

// hbExpression is an expression of Handlebars: a path, a literal, or a call without its parentheses.
type hbExpression struct {
	text string
	call bool
	kind hbType
	// constant tells that the expression is a number or a boolean itself, converted that it is a text read as a number.
	constant, converted bool
	// several tells that the expression gives all values of a name, which only some helpers take.
	several bool
	// choice tells that here the expression gives one of its operands, and there whether it holds.
	choice bool
}

// operand is the expression as it stands among the arguments of a call.
func (x hbExpression) operand() string {
	if x.call {
		return "(" + x.text + ")"
	}
	return x.text
}

// goTemplate translates the templates of one answer.
type goTemplate struct {
	config *mockbase.Config
	// secret tells whether a variable must not be written down.
	secret func(name string) bool
	// request is what the request is called: request, or originalRequest in a webhook.
	request string
	// parameters tells whether parameters of the path have names in the other tool.
	parameters bool
	// inText tells that the text stands within the quotes of a JSON text.
	inText bool
	// literal writes the text between expressions, such as within a JSON text.
	literal func(text string) string
	// dot is what a loop goes through, variables are the names that it gives.
	dot       string
	variables map[string]string
	lost      []string
	dynamic   bool
}

func asIs(text string) string { return text }

// text translates a text. An action without equivalent is shown as it was written.
func (t *goTemplate) text(text string) string {
	if !strings.Contains(text, "{{") {
		return t.literal(text)
	}
	list, err := parsedTemplate(text)
	if err != nil {
		t.lost = append(t.lost, err.Error())
		return t.shown(text)
	}
	t.dynamic = true
	var b strings.Builder
	for _, n := range list {
		b.WriteString(t.node(n))
	}
	return b.String()
}

// parsedTemplate reads a template, which a saved mock has been checked to be.
func parsedTemplate(text string) ([]parse.Node, error) {
	tree := parse.New("export")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return nil, fmt.Errorf("the template does not parse: %w", err)
	}
	if tree.Root == nil || len(trees) > 1 {
		return nil, errors.New("definitions of templates have no equivalent")
	}
	return tree.Root.Nodes, nil
}

// shown writes a text so that the other tool shows it as it is.
func (t *goTemplate) shown(text string) string {
	return strings.ReplaceAll(t.literal(text), "{{", `\{{`)
}

// node translates a part of a template.
func (t *goTemplate) node(n parse.Node) string {
	var text string
	var err error
	switch n := n.(type) {
	case *parse.TextNode:
		return t.shown(string(n.Text))
	case *parse.CommentNode:
		return ""
	case *parse.ActionNode:
		text, err = t.action(n.Pipe)
	case *parse.IfNode:
		text, err = t.condition(&n.BranchNode)
	case *parse.RangeNode:
		text, err = t.loop(&n.BranchNode)
	default:
		err = errNoHandlebars
	}
	if err != nil {
		t.lost = append(t.lost, fmt.Sprintf("%s: %v", quoted(n.String()), err))
		return t.shown(n.String())
	}
	return text
}

// action translates what is printed.
func (t *goTemplate) action(pipe *parse.PipeNode) (string, error) {
	if len(pipe.Decl) > 0 {
		return "", errNoHandlebars
	}
	if s, ok := literalOf(pipe); ok {
		return t.shown(s), nil
	}
	x, err := t.pipe(pipe)
	if err == nil {
		err = x.printable()
	}
	if err != nil {
		return "", err
	}
	if isLiteral(x) {
		return t.shown(unquoted(x)), nil
	}
	if x.constant {
		return t.literal(x.text), nil
	}
	if whole := t.request + ".body"; t.inText && (x.text == whole || x.text == "jsonPath "+whole+" '$'" || strings.HasPrefix(x.text, "toJson ")) {
		t.lost = append(t.lost, quoted(pipe.String())+": its quotes are not escaped in the other tool, so that the answer is no JSON")
	}
	if inner, found := strings.CutPrefix(x.text, quotedHelper); found {
		return t.literal(`"`) + "{{" + inner + "}}" + t.literal(`"`), nil
	}
	return "{{" + x.text + "}}", nil
}

// printable tells why an expression prints something else in the other tool, nil where it does not.
func (x hbExpression) printable() error {
	switch {
	case x.choice:
		return errChoice
	case x.several:
		return errNoHandlebars
	}
	return nil
}

// literalOf is the text of a pipeline that is a literal alone.
func literalOf(pipe *parse.PipeNode) (string, bool) {
	if len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return "", false
	}
	s, ok := pipe.Cmds[0].Args[0].(*parse.StringNode)
	if !ok {
		return "", false
	}
	return s.Text, true
}

func (t *goTemplate) nodes(list *parse.ListNode) string {
	if list == nil {
		return ""
	}
	var b strings.Builder
	for _, n := range list.Nodes {
		b.WriteString(t.node(n))
	}
	return b.String()
}

// condition translates if and else.
func (t *goTemplate) condition(n *parse.BranchNode) (string, error) {
	if len(n.Pipe.Decl) > 0 {
		return "", errNoHandlebars
	}
	x, err := t.pipe(n.Pipe)
	if err != nil {
		return "", err
	}
	return t.block("if", x.operand(), "", n), nil
}

func (t *goTemplate) block(name, head, names string, n *parse.BranchNode) string {
	text := "{{#" + name + " " + head + names + "}}" + t.nodes(n.List)
	if n.ElseList != nil {
		text += "{{else}}" + t.nodes(n.ElseList)
	}
	return text + "{{/" + name + "}}"
}

// loop translates range, with the names that it gives.
func (t *goTemplate) loop(n *parse.BranchNode) (string, error) {
	x, err := t.pipe(&parse.PipeNode{Cmds: n.Pipe.Cmds})
	if err != nil {
		return "", err
	}
	inner := *t
	inner.dot, inner.lost, inner.variables = "this", nil, map[string]string{}
	maps.Copy(inner.variables, t.variables)
	if decl := n.Pipe.Decl; len(decl) > 0 {
		if len(decl) > 1 {
			inner.variables[decl[0].Ident[0]] = "@index"
		}
		inner.variables[decl[len(decl)-1].Ident[0]] = "this"
	}
	text := inner.block("each", x.operand(), "", n)
	t.lost = append(t.lost, inner.lost...)
	return text, nil
}

// pipe translates a pipeline, in which each value is the last argument of the next call.
func (t *goTemplate) pipe(pipe *parse.PipeNode) (hbExpression, error) {
	var passed []hbExpression
	for _, c := range pipe.Cmds {
		x, err := t.command(c, passed)
		if err != nil {
			return hbExpression{}, err
		}
		passed = []hbExpression{x}
	}
	if len(passed) == 0 {
		return hbExpression{}, errNoHandlebars
	}
	return passed[0], nil
}

// command translates a call with its arguments, or a value alone.
func (t *goTemplate) command(c *parse.CommandNode, passed []hbExpression) (hbExpression, error) {
	function, isCall := c.Args[0].(*parse.IdentifierNode)
	if !isCall {
		if len(c.Args) > 1 || len(passed) > 0 {
			return hbExpression{}, errNoHandlebars
		}
		return t.operand(c.Args[0])
	}
	arguments := make([]hbExpression, 0, len(c.Args))
	for _, a := range c.Args[1:] {
		x, err := t.operand(a)
		if err != nil {
			return hbExpression{}, err
		}
		arguments = append(arguments, x)
	}
	arguments = append(arguments, passed...)
	if !slices.Contains([]string{"and", "or", "not"}, function.Ident) && slices.ContainsFunc(arguments, func(x hbExpression) bool { return x.choice }) {
		return hbExpression{}, errChoice
	}
	if !slices.Contains([]string{"join", "length", "first"}, function.Ident) && slices.ContainsFunc(arguments, func(x hbExpression) bool { return x.several }) {
		return hbExpression{}, errNoHandlebars
	}
	return t.function(function.Ident, arguments)
}

// operand translates an argument.
func (t *goTemplate) operand(n parse.Node) (hbExpression, error) {
	switch n := n.(type) {
	case *parse.StringNode:
		return hbText(n.Text)
	case *parse.NumberNode:
		return hbExpression{text: n.Text, kind: hbGivesNumber, constant: true}, nil
	case *parse.BoolNode:
		return hbExpression{text: strconv.FormatBool(n.True), kind: hbGivesNumber, constant: true}, nil
	case *parse.PipeNode:
		return t.pipe(n)
	case *parse.IdentifierNode:
		return t.function(n.Ident, nil)
	case *parse.ChainNode:
		return t.chain(n)
	case *parse.DotNode:
		return t.local(t.dot, nil)
	case *parse.FieldNode:
		return t.local(t.dot, n.Ident)
	case *parse.VariableNode:
		return t.local(t.variables[n.Ident[0]], n.Ident[1:])
	}
	return hbExpression{}, errNoHandlebars
}

// hbText writes a literal. A text with both kinds of quotes cannot be written.
func hbText(s string) (hbExpression, error) {
	switch {
	case !strings.Contains(s, "'"):
		return hbExpression{text: "'" + s + "'"}, nil
	case !strings.Contains(s, `"`):
		return hbExpression{text: `"` + s + `"`}, nil
	}
	return hbExpression{}, errNoHandlebars
}

// local is a value that the template itself gives.
func (*goTemplate) local(base string, fields []string) (hbExpression, error) {
	if base == "" {
		return hbExpression{}, errNoHandlebars
	}
	return hbExpression{text: strings.Join(append([]string{base}, fields...), "."), kind: hbGivesJSON}, nil
}

// variable is a value of the project, which is written down as it is.
func (t *goTemplate) variable(name string) (hbExpression, error) {
	for _, v := range t.config.Variables {
		if v.Name != name {
			continue
		}
		if t.secret(name) {
			return hbExpression{}, fmt.Errorf("%w: the variable is secret and is not written down", errNoHandlebars)
		}
		var text string
		if json.Unmarshal(v.Value, &text) == nil {
			return hbText(text)
		}
		return hbExpression{text: string(v.Value), kind: hbGivesNumber, constant: true}, nil
	}
	return hbExpression{}, errNoHandlebars
}
