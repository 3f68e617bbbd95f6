package template

import (
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// pipeline compiles a pipeline with the variables that it sets.
func (c *compiler) pipeline(pipe *parse.PipeNode) (expression, error) {
	value, err := c.commands(pipe)
	if err != nil {
		return nil, err
	}
	for _, name := range pipe.Decl {
		if pipe.IsAssign {
			value = &declared{value: value, slot: c.slot(name.Ident[0])}
		} else {
			value = &declared{value: value, slot: c.declare(name.Ident[0])}
		}
	}
	return value, nil
}

// commands compiles the commands of a pipeline: each is the last argument of the next.
func (c *compiler) commands(pipe *parse.PipeNode) (expression, error) {
	var value expression
	for i, command := range pipe.Cmds {
		if err := c.count(command, len(command.Args)-1+min(i, 1)); err != nil {
			return nil, err
		}
		next, err := c.command(command, value)
		if err != nil {
			return nil, err
		}
		value = next
	}
	return value, nil
}

// command compiles one command with the value that is piped into it, nil for none.
func (c *compiler) command(command *parse.CommandNode, piped expression) (expression, error) {
	first := command.Args[0]
	if function, ok := first.(*parse.IdentifierNode); ok {
		return c.call(function, command.Args[1:], piped)
	}
	if chained, ok := first.(*parse.ChainNode); ok && isSegment(chained) {
		return c.call(parse.NewIdentifier("segment").SetPos(chained.Pos), command.Args[1:], piped)
	}
	if len(command.Args) > 1 || piped != nil {
		return nil, c.fault(first, first.String()+" is no function and takes no argument")
	}
	if first.Type() == parse.NodeNil {
		return nil, c.fault(first, "nil is not a command")
	}
	return c.operand(first)
}

// isSegment sees "request.segment 0", the one member that takes an argument.
func isSegment(node *parse.ChainNode) bool {
	base, ok := node.Node.(*parse.IdentifierNode)
	return ok && base.Ident == "request" && len(node.Field) == 1 && node.Field[0] == "segment"
}

// operand compiles what can be an argument.
func (c *compiler) operand(node parse.Node) (expression, error) {
	switch node := node.(type) {
	case *parse.IdentifierNode:
		return c.call(node, nil, nil)
	case *parse.ChainNode:
		return c.chain(node)
	case *parse.FieldNode:
		return &chain{base: dot{}, names: node.Ident, text: node.String()}, nil
	case *parse.VariableNode:
		value := &variable{slot: c.slot(node.Ident[0])}
		if len(node.Ident) == 1 {
			return value, nil
		}
		return &chain{base: value, names: node.Ident[1:], text: node.String()}, nil
	case *parse.PipeNode:
		var value expression
		err := c.nested(node, func() (err error) { value, err = c.pipeline(node); return err })
		return value, err
	case *parse.DotNode:
		return dot{}, nil
	default:
		return c.literal(node)
	}
}

func (c *compiler) literal(node parse.Node) (expression, error) {
	switch node := node.(type) {
	case *parse.NilNode:
		return &constant{}, nil
	case *parse.BoolNode:
		return &constant{value: node.True}, nil
	case *parse.StringNode:
		return &constant{value: node.Text}, nil
	case *parse.NumberNode:
		text, ok := numberText(node)
		if !ok {
			return nil, c.fault(node, node.Text+" is no number that JSON knows")
		}
		return &constant{value: number(text)}, nil
	default:
		return nil, c.fault(node, "unexpected "+node.String())
	}
}

// numberText gives a literal as JSON has it: its own text where it can be (rule P12), the value of Go's other forms.
func numberText(node *parse.NumberNode) (string, bool) {
	text := strings.TrimPrefix(node.Text, "+")
	if _, ok := jsonvalue.ParseDecimal(text); ok {
		return text, true
	}
	switch {
	case node.IsInt:
		return strconv.FormatInt(node.Int64, 10), true
	case node.IsUint:
		return strconv.FormatUint(node.Uint64, 10), true
	case node.IsFloat:
		text = strconv.FormatFloat(node.Float64, 'f', -1, 64)
		_, ok := jsonvalue.ParseDecimal(text)
		return text, ok
	default:
		return "", false
	}
}

// chain compiles names behind a value. The first value of a name is found directly.
func (c *compiler) chain(node *parse.ChainNode) (expression, error) {
	base, err := c.operand(node.Node)
	if err != nil {
		return nil, err
	}
	if called, ok := base.(*call); ok && len(node.Field) == 1 && called.function.holds {
		return &firstValue{in: called.function.in, name: node.Field[0], text: node.String()}, nil
	}
	return &chain{base: base, names: node.Field, text: node.String()}, nil
}

// call compiles a function with its arguments.
func (c *compiler) call(node *parse.IdentifierNode, operands []parse.Node, piped expression) (expression, error) {
	arguments := make([]expression, len(operands))
	for i, operand := range operands {
		var err error
		if arguments[i], err = c.operand(operand); err != nil {
			return nil, err
		}
	}
	given := len(arguments)
	if piped != nil {
		given++
	}
	if node.Ident == "and" || node.Ident == "or" {
		if given == 0 {
			return nil, c.fault(node, node.Ident+" needs an argument")
		}
		return &junction{arguments: arguments, endsAt: node.Ident == "or", piped: piped}, nil
	}
	f, ok := functions[node.Ident]
	if !ok {
		return nil, c.unknown(node)
	}
	if given < f.least || f.most >= 0 && given > f.most {
		return nil, c.fault(node, node.Ident+" takes "+f.takes()+", not "+strconv.Itoa(given))
	}
	c.uses |= f.uses
	e := &call{function: f, name: node.Ident, arguments: arguments, piped: piped, line: c.source.line(node.Pos)}
	return c.settle(node, e)
}

// settle looks at the first argument where it is a literal: what it names is checked on save.
func (c *compiler) settle(node parse.Node, e *call) (expression, error) {
	if len(e.arguments) == 0 {
		return e, nil
	}
	literal, _ := e.arguments[0].(*constant)
	if literal == nil {
		return e, nil
	}
	text, ok := literal.value.(string)
	if !ok {
		return e, nil
	}
	if e.function.verify != nil {
		if err := e.function.verify(c.cache, text); err != nil {
			return nil, c.fault(node, e.name+": "+err.Error())
		}
	}
	if e.name == "header" {
		return &firstValue{in: inHeader, name: text, text: describe(e.name, text)}, nil
	}
	return e, nil
}

func (c *compiler) unknown(node *parse.IdentifierNode) error {
	message := "function " + strconv.Quote(node.Ident) + " is not defined"
	if near := mockbase.Suggest(node.Ident, functionNames()); near != "" {
		message += "; did you mean " + near + "?"
	}
	return c.fault(node, message)
}
