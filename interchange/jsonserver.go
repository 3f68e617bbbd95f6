package interchange

import (
	"github.com/mockbase/mockbase"
)

// jsonServer translates a json-server database: each list becomes a collection, each object a singular one.
func jsonServer(s *source, out *output) error {
	if len(s.docs) == 0 {
		return s.noDocument()
	}
	if len(s.docs) != 1 || !s.docs[0].is(mockbase.NodeObject) {
		return malformed("the source holds no json-server database: looked for one object of lists and objects, found " + foundIn(s.docs[0]))
	}
	for _, e := range s.docs[0].entries() {
		out.found++
		if out.stopped() {
			return nil
		}
		c := &doc{}
		name := slugOr(e.key, "collection")
		if name != e.key || out.prefix != "" {
			c.set("path", textNode(out.prefix+"/"+e.key))
		}
		switch {
		case e.is(mockbase.NodeObject):
			c.set("singular", trueNode())
		case !e.is(mockbase.NodeList):
			out.lost(e.value, "%q is neither a list nor an object, so that nothing can be served of it", e.key)
			continue
		}
		c.set("seed", e.node)
		out.section("collections", e.value, name, c.node())
	}
	return nil
}
