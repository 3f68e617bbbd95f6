package httplimit

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"
	"unicode"
	"unicode/utf8"

	"github.com/mockbase/mockbase/ratelimit"
)

const (
	templateOpen, templateClose = "{{", "}}"
	// maxOutput bounds what a template makes, and maxNodes what it is made of.
	maxOutput = 4 << 10
	maxNodes  = 64
)

// keyTemplate is a template of a key. It knows texts and calls of fixed functions, and nothing that repeats, decides,
// remembers or reads, so that its cost is known from its text (rule RL79).
type keyTemplate struct {
	text  string
	steps []expression
	nodes int
	// secrets says that the output holds something secret, so that its digest stands for it.
	secrets bool
	// uses are the parts of keys that it asks for.
	uses []string
}

// expression makes a text of a request, or says that the request lacks something.
type expression func(q *question) (string, bool)

// arity is the number of texts that the functions of templates take.
func arity() map[string]int {
	return map[string]int{
		KeyIP: 0, KeyToken: 0, KeyUser: 0, KeySession: 0, KeyPath: 0, KeyEndpoint: 0, "method": 0,
		"header": 1, "cookie": 1, "query": 1, "jwt": 1, KeyFingerprint: 1, "formField": 1,
		"lower": 1, "upper": 1, "trim": 1,
	}
}

// compileTemplate reads a template. The parser of text/template parses it and nothing of it ever runs: its tree becomes
// expressions of our own.
func compileTemplate(text string) (*keyTemplate, error) {
	known := make(map[string]any)
	for name := range arity() {
		known[name] = true
	}
	trees, err := parse.Parse("key", text, templateOpen, templateClose, known)
	if err != nil {
		return nil, fmt.Errorf("read key template: %w: %w", err, ratelimit.ErrConfig)
	}
	root := trees["key"]
	if root == nil || len(trees) != 1 || len(root.Root.Nodes) == 0 {
		return nil, refusedTemplate("it must be one template that says something")
	}
	t := &keyTemplate{text: text}
	for _, node := range root.Root.Nodes {
		step, err := t.step(node)
		if err != nil {
			return nil, err
		}
		t.steps = append(t.steps, step)
	}
	if t.nodes > maxNodes {
		return nil, refusedTemplate(fmt.Sprintf("it has more than %d parts", maxNodes))
	}
	return t, nil
}

func refusedTemplate(why string) error {
	return fmt.Errorf("read key template: %s: %w", why, ratelimit.ErrConfig)
}

func (t *keyTemplate) step(node parse.Node) (expression, error) {
	t.nodes++
	switch node := node.(type) {
	case *parse.TextNode:
		text := string(node.Text)
		return func(*question) (string, bool) { return text, true }, nil
	case *parse.ActionNode:
		return t.pipe(node.Pipe)
	default:
		return nil, refusedTemplate(fmt.Sprintf("%s is not among what a key may do", node))
	}
}

// pipe compiles commands, each of which gets what the one before it made.
func (t *keyTemplate) pipe(pipe *parse.PipeNode) (expression, error) {
	if len(pipe.Decl) > 0 {
		return nil, refusedTemplate("a key has no variables")
	}
	var made expression
	for _, command := range pipe.Cmds {
		next, err := t.command(command, made)
		if err != nil {
			return nil, err
		}
		made = next
	}
	return made, nil
}

// command compiles one call, or a text that stands alone. What was made before it is its last argument.
func (t *keyTemplate) command(command *parse.CommandNode, before expression) (expression, error) {
	name, isCall := command.Args[0].(*parse.IdentifierNode)
	if !isCall {
		if len(command.Args) > 1 || before != nil {
			return nil, refusedTemplate(fmt.Sprintf("%s is no function", command.Args[0]))
		}
		return t.argument(command.Args[0])
	}
	var args []expression
	for _, node := range command.Args[1:] {
		arg, err := t.argument(node)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	if before != nil {
		args = append(args, before)
	}
	want, known := arity()[name.Ident]
	if !known || len(args) != want {
		return nil, refusedTemplate(fmt.Sprintf("%s takes %d texts and got %d", name.Ident, want, len(args)))
	}
	t.nodes++
	if len(args) == 0 {
		return t.noun(name.Ident)
	}
	if change := change(name.Ident); change != nil {
		return func(q *question) (string, bool) {
			text, ok := args[0](q)
			return change(text), ok
		}, nil
	}
	text, fixed := fixedText(command)
	if !fixed {
		return nil, refusedTemplate(name.Ident + " takes the name of what it finds as a text")
	}
	return t.find(name.Ident, text)
}

// fixedText returns the one argument of a call if it is written in the template.
func fixedText(command *parse.CommandNode) (string, bool) {
	if len(command.Args) != 2 {
		return "", false
	}
	text, ok := command.Args[1].(*parse.StringNode)
	if !ok {
		return "", false
	}
	return text.Text, true
}

func (t *keyTemplate) argument(node parse.Node) (expression, error) {
	t.nodes++
	switch node := node.(type) {
	case *parse.StringNode:
		return func(*question) (string, bool) { return node.Text, true }, nil
	case *parse.PipeNode:
		return t.pipe(node)
	case *parse.IdentifierNode:
		return t.noun(node.Ident)
	default:
		return nil, refusedTemplate(fmt.Sprintf("%s is neither a text nor a call", node))
	}
}

// noun compiles a function without arguments.
func (t *keyTemplate) noun(name string) (expression, error) {
	if want, known := arity()[name]; !known || want != 0 {
		return nil, refusedTemplate(name + " wants an argument")
	}
	if name == "method" {
		return func(q *question) (string, bool) { return q.request.Method, true }, nil
	}
	return t.part(name)
}

func (t *keyTemplate) part(name string) (expression, error) {
	t.uses = append(t.uses, name)
	found, err := sourceOf(name)
	return expression(found), err
}

// find compiles a function that finds something by its name.
func (t *keyTemplate) find(function, name string) (expression, error) {
	if function != "formField" {
		return t.part(function + ":" + name)
	}
	t.secrets = true
	return func(q *question) (string, bool) {
		value, ok := formOf(q, name)
		return value, ok && value != ""
	}, nil
}

// change returns a function that changes a text, or nil.
func change(name string) func(string) string {
	switch name {
	case "lower":
		return func(text string) string { return changeLetters(text, unicode.ToLower) }
	case "upper":
		return func(text string) string { return changeLetters(text, unicode.ToUpper) }
	case "trim":
		return strings.TrimSpace
	default:
		return nil
	}
}

// changeLetters changes the letters of a text. Bytes that are no UTF-8 stay as they are: replaced, they would make the same
// key of different callers (rule RL78).
func changeLetters(text string, letter func(rune) rune) string {
	changed := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			changed = append(changed, text[0])
		} else {
			changed = utf8.AppendRune(changed, letter(r))
		}
		text = text[size:]
	}
	return string(changed)
}

// source makes the template a part of a key. Output over the bound counts as missing.
func (t *keyTemplate) source() source {
	steps := slices.Clone(t.steps)
	return func(q *question) (string, bool) {
		var output []byte
		for _, step := range steps {
			text, ok := step(q)
			if !ok || len(output)+len(text) > maxOutput {
				return "", false
			}
			output = append(output, text...)
		}
		if t.secrets {
			return q.digest(t.text, string(output)), true
		}
		return q.bounded(t.text, string(output)), true
	}
}
