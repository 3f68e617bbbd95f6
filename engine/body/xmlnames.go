package body

import (
	"encoding/xml"
	"fmt"
)

// xmlNamespace is that of the prefix xml, which needs no declaration.
const xmlNamespace = "http://www.w3.org/XML/1998/namespace"

// xmlNames holds the names of a document to what the decoder does not look at: a prefix is declared, and an attribute stands
// once in its element (Namespaces in XML 1.0, sections 5 and 6.3).
type xmlNames struct {
	// declared are the namespaces that are in scope, inner ones last; counts is how many of them each open element declares.
	declared []string
	counts   []int
	// scope tells how often a namespace is in declared.
	scope map[string]int
}

// enter looks at a start tag.
func (n *xmlNames) enter(t xml.StartElement) error {
	if n.scope == nil {
		n.scope = map[string]int{xmlNamespace: 1, "": 1}
	}
	before := len(n.declared)
	for _, a := range t.Attr {
		if a.Name.Space == "xmlns" || a.Name == (xml.Name{Local: "xmlns"}) {
			n.declared = append(n.declared, a.Value)
			n.scope[a.Value]++
		}
	}
	n.counts = append(n.counts, len(n.declared)-before)
	if !n.knows(t.Name.Space) {
		return fmt.Errorf("the prefix %q is not declared", cut(t.Name.Space))
	}
	met := make(map[xml.Name]bool, len(t.Attr))
	for _, a := range t.Attr {
		if met[a.Name] {
			return fmt.Errorf("the attribute %q is given twice", cut(a.Name.Local))
		}
		if met[a.Name] = true; a.Name.Space != "xmlns" && !n.knows(a.Name.Space) {
			return fmt.Errorf("the prefix %q is not declared", cut(a.Name.Space))
		}
	}
	return nil
}

// knows tells whether a name's namespace is declared; the decoder leaves the prefix in place of one that is not.
func (n *xmlNames) knows(space string) bool { return n.scope[space] > 0 }

// leave ends the element that was entered last.
func (n *xmlNames) leave() {
	last := len(n.counts) - 1
	keep := len(n.declared) - n.counts[last]
	for _, space := range n.declared[keep:] {
		n.scope[space]--
	}
	n.declared, n.counts = n.declared[:keep], n.counts[:last]
}
