package template

import (
	"maps"
	"slices"
	"strconv"
	"text/template/parse"
)

// The bounds of a tree (rule P9). Nodes are texts, actions, the commands behind the first of a pipeline and the operands
// behind the first of a command; depth counts nested blocks and parentheses.
const (
	maxNodes = 10_000
	maxDepth = 100
)

var (
	tooLarge = "the template is larger than " + strconv.Itoa(maxNodes) + " nodes"
	tooDeep  = "the template is nested deeper than " + strconv.Itoa(maxDepth) + " levels"
)

// compiler turns the trees of one text into programs.
type compiler struct {
	source   *source
	cache    *cache
	programs map[string]*program
	uses     Uses
	nodes    int
	depth    int
	// current is the program that is being made, and names its variables that are in force, each in the slot of its index.
	current *program
	names   []string
}

// compileText compiles a text with the definitions in it.
func compileText(text string, shared *cache) (*program, Uses, error) {
	src, err := measure(text)
	if err != nil {
		return nil, 0, err
	}
	trees, err := src.parse()
	if err != nil {
		return nil, 0, err
	}
	c := &compiler{source: src, cache: shared, programs: make(map[string]*program, len(trees))}
	for name := range trees {
		c.programs[name] = &program{name: name}
	}
	main := c.programs[mainName]
	if main == nil {
		main = &program{name: mainName}
		c.programs[mainName] = main
	}
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		if err := c.program(c.programs[name], trees[name]); err != nil {
			return nil, 0, err
		}
	}
	return main, c.uses, c.refuseCycles(trees)
}

// program compiles one tree.
func (c *compiler) program(p *program, tree *parse.Tree) error {
	c.current, c.depth = p, 0
	c.names = []string{"$"}
	p.slots = 1
	body, err := c.list(tree.Root)
	p.body = body
	return err
}

// refuseCycles refuses definitions that render themselves, directly or not.
func (c *compiler) refuseCycles(trees map[string]*parse.Tree) error {
	w := walk{state: make(map[*program]progress, len(c.programs))}
	for _, name := range slices.Sorted(maps.Keys(c.programs)) {
		if guilty := w.visit(c.programs[name]); guilty != nil {
			return c.fault(trees[guilty.name].Root, "template "+strconv.Quote(guilty.name)+" renders itself")
		}
	}
	return nil
}

// walk goes through the calls of programs.
type walk struct{ state map[*program]progress }

type progress uint8

const (
	unseen progress = iota
	underWay
	done
)

// visit gives a program that it meets while that is under way.
func (w *walk) visit(p *program) *program {
	switch w.state[p] {
	case done:
		return nil
	case underWay:
		return p
	case unseen:
	}
	w.state[p] = underWay
	for _, target := range p.calls {
		if guilty := w.visit(target); guilty != nil {
			return guilty
		}
	}
	w.state[p] = done
	return nil
}

func (c *compiler) fault(at parse.Node, message string) error {
	return c.source.fault(int(at.Position()), message)
}

// count counts nodes.
func (c *compiler) count(at parse.Node, n int) error {
	if c.nodes += n; c.nodes > maxNodes {
		return c.fault(at, tooLarge)
	}
	return nil
}

// nested compiles what stands one level deeper.
func (c *compiler) nested(at parse.Node, compile func() error) error {
	if c.depth++; c.depth > maxDepth {
		return c.fault(at, tooDeep)
	}
	err := compile()
	c.depth--
	return err
}

// declare makes a variable and gives its slot.
func (c *compiler) declare(name string) int {
	c.names = append(c.names, name)
	c.current.slots = max(c.current.slots, len(c.names))
	return len(c.names) - 1
}

// slot finds a variable, the innermost of its name. The parser has refused unknown ones.
func (c *compiler) slot(name string) int {
	for i := len(c.names) - 1; i > 0; i-- {
		if c.names[i] == name {
			return i
		}
	}
	return 0
}

func (c *compiler) list(nodes *parse.ListNode) ([]statement, error) {
	if nodes == nil {
		return nil, nil
	}
	statements := make([]statement, 0, len(nodes.Nodes))
	for _, node := range nodes.Nodes {
		if err := c.count(node, 1); err != nil {
			return nil, err
		}
		s, err := c.statement(node)
		if err != nil {
			return nil, err
		}
		statements = append(statements, s)
	}
	return statements, nil
}

func (c *compiler) statement(node parse.Node) (statement, error) {
	switch node := node.(type) {
	case *parse.TextNode:
		c.current.literals += len(node.Text)
		return &literal{text: node.Text}, nil
	case *parse.ActionNode:
		return c.action(node)
	case *parse.BreakNode:
		return &jump{to: breaking}, nil
	case *parse.ContinueNode:
		return &jump{to: continuing}, nil
	case *parse.TemplateNode:
		return c.invoke(node)
	case *parse.IfNode:
		return c.block(&node.BranchNode, func(value expression, then, otherwise []statement) statement {
			return &branch{condition: value, then: then, otherwise: otherwise}
		})
	case *parse.WithNode:
		return c.block(&node.BranchNode, func(value expression, then, otherwise []statement) statement {
			return &scoped{value: value, then: then, otherwise: otherwise}
		})
	case *parse.RangeNode:
		return c.loop(node)
	default:
		return nil, c.fault(node, "unexpected "+node.String())
	}
}

func (c *compiler) action(node *parse.ActionNode) (statement, error) {
	value, err := c.pipeline(node.Pipe)
	if err != nil {
		return nil, err
	}
	if len(node.Pipe.Decl) > 0 {
		return &assign{value: value}, nil
	}
	return &show{value: value, line: c.source.line(node.Pos)}, nil
}

func (c *compiler) invoke(node *parse.TemplateNode) (statement, error) {
	target, ok := c.programs[node.Name]
	if !ok {
		return nil, c.fault(node, "template "+strconv.Quote(node.Name)+" is not defined")
	}
	c.current.calls = append(c.current.calls, target)
	s := &invoke{target: target, line: c.source.line(node.Pos)}
	if node.Pipe == nil {
		return s, nil
	}
	var err error
	s.argument, err = c.pipeline(node.Pipe)
	return s, err
}

// block compiles if and with. Variables of its pipeline are in force in both lists.
func (c *compiler) block(
	node *parse.BranchNode, build func(value expression, then, otherwise []statement) statement,
) (statement, error) {
	outer := len(c.names)
	value, err := c.pipeline(node.Pipe)
	if err != nil {
		return nil, err
	}
	then, otherwise, err := c.lists(node)
	c.names = c.names[:outer]
	return build(value, then, otherwise), err
}

// lists compiles both lists of a block, each with variables of its own.
func (c *compiler) lists(node *parse.BranchNode) (then, otherwise []statement, err error) {
	inner := len(c.names)
	err = c.nested(node, func() (failed error) {
		if then, failed = c.list(node.List); failed != nil {
			return failed
		}
		c.names = c.names[:inner]
		otherwise, failed = c.list(node.ElseList)
		c.names = c.names[:inner]
		return failed
	})
	return then, otherwise, err
}

// loop compiles range, whose variables get their values from the loop and not from the pipeline.
func (c *compiler) loop(node *parse.RangeNode) (statement, error) {
	outer := len(c.names)
	over, err := c.commands(node.Pipe)
	if err != nil {
		return nil, err
	}
	s := &loop{over: over, key: -1, item: -1, line: c.source.line(node.Pos)}
	slots := make([]int, 0, 2)
	for _, name := range node.Pipe.Decl {
		if node.Pipe.IsAssign {
			slots = append(slots, c.slot(name.Ident[0]))
		} else {
			slots = append(slots, c.declare(name.Ident[0]))
		}
	}
	switch len(slots) {
	case 1:
		s.item = slots[0]
	case 2:
		s.key, s.item = slots[0], slots[1]
	}
	s.body, s.otherwise, err = c.lists(&node.BranchNode)
	c.names = c.names[:outer]
	return s, err
}
