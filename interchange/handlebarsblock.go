package interchange

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// blockDialect is a dialect with blocks of its own.
type blockDialect interface {
	block(w *hbWriter, n hbNode) (known bool, err error)
}

// block writes a block.
func (w *hbWriter) block(n hbNode) error {
	if d, has := w.dialect.(blockDialect); has {
		if known, err := d.block(w, n); known || err != nil {
			return err
		}
	}
	if len(n.call.hash) > 0 {
		return noEquivalent("#" + n.blockName)
	}
	switch n.blockName {
	case "if", "unless":
		return w.condition(n)
	case "each", "with":
		return w.loop(n)
	case "assign":
		return w.assign(n)
	}
	if _, ok := comparison(n.blockName); !ok {
		return noEquivalent("#" + n.blockName)
	}
	test, _, err := w.common(n.call)
	if err != nil {
		return err
	}
	return w.branches(n, test)
}

func (w *hbWriter) condition(n hbNode) error {
	operands, err := w.operands(n.call, 1, 1)
	if err != nil {
		return err
	}
	if n.blockName == "unless" {
		return w.branches(n, "not "+operands[0])
	}
	return w.branches(n, operands[0])
}

func (w *hbWriter) branches(n hbNode, test string) error {
	w.action("if " + test)
	return w.rest(n)
}

// rest writes the inside of a block whose first action is written.
func (w *hbWriter) rest(n hbNode) error {
	if err := w.all(n.inner); err != nil {
		return err
	}
	if len(n.otherwise) > 0 {
		w.action("else")
		scopes := w.scopes
		if n.blockName == "each" || n.blockName == "with" {
			w.scopes = scopes[:len(scopes)-1]
		}
		if err := w.all(n.otherwise); err != nil {
			return err
		}
		w.scopes = scopes
	}
	w.action("end")
	return nil
}

// loop writes each and with.
func (w *hbWriter) loop(n hbNode) error {
	operands, err := w.operands(n.call, 1, 1)
	if err != nil {
		return err
	}
	w.names++
	this, index, last := fmt.Sprintf("$item%d", w.names), "", ""
	if n.blockName == "each" {
		index = fmt.Sprintf("$index%d", w.names)
		// The rounds are counted where somebody asks for the last: the index may be a name.
		counted := fmt.Sprintf("$round%d", w.names)
		if strings.Contains(n.raw, "@last") {
			w.action(counted + " := 0")
			last = "eq " + counted + " (length " + operands[0] + ")"
		}
		w.action("range " + index + ", " + this + " := " + operands[0])
		if last != "" {
			w.action(counted + " = add " + counted + " 1")
		}
	} else {
		w.action("with " + this + " := " + operands[0])
	}
	scope := hbScope{this: this, index: index, last: last, params: map[string]string{}}
	for i, name := range strings.Fields(n.params) {
		switch i {
		case 0:
			scope.params[name] = this
		case 1:
			scope.params[name] = index
		}
	}
	outer := w.scopes
	w.scopes = append(slices.Clip(outer), scope)
	err = w.rest(n)
	w.scopes = outer
	return err
}

// assign writes {{#assign 'name'}}…{{/assign}}, whose inside is one expression or plain text.
func (w *hbWriter) assign(n hbNode) error {
	if len(n.call.args) != 1 || !isIdentifier(n.call.args[0].text) || len(n.inner) > 1 {
		return noEquivalent("#assign")
	}
	value := `""`
	if len(n.inner) == 1 {
		switch inner := n.inner[0]; {
		case inner.block:
			return noEquivalent("#assign around a block")
		case inner.call == nil:
			value = strconv.Quote(inner.text)
		default:
			text, err := w.call(inner.call)
			if err != nil {
				return err
			}
			value = text
		}
	}
	w.declare(n.call.args[0].text, value)
	return nil
}

// declare sets a variable of the template.
func (w *hbWriter) declare(name, value string) {
	sign := " := "
	if w.assigned[name] {
		sign = " = "
	}
	w.assigned[name] = true
	w.action("$" + name + sign + value)
}

// assigner is a dialect with helpers that set a variable.
type assigner interface {
	assign(w *hbWriter, c *hbCall) (name, value string, ok bool)
}

// assignment writes a helper that sets a variable, if it is one.
func (w *hbWriter) assignment(c *hbCall) (bool, error) {
	d, can := w.dialect.(assigner)
	if !can || c.head.kind != hbPath {
		return false, nil
	}
	name, value, ok := d.assign(w, c)
	if !ok {
		return false, nil
	}
	if !isIdentifier(name) {
		return false, noEquivalent(c.head.text)
	}
	w.declare(name, value)
	return true, nil
}
