package engine

import "slices"

// maxRecent is the most mocks that are in an index of their own, before all of them are put into one again. That one is
// built for each change, and the one of all mocks at every so many changes.
const maxRecent = 128

// forest finds mocks by their paths. Building a tree takes time for each of its mocks: those that are added to many leave the
// tree of the many as it is.
type forest struct {
	// settled holds the first mocks of the program, recent those that were added since, nil if there are none.
	settled, recent *index
	// size is the number of entries that settled was made of.
	size int
}

// find appends to buf the leaves that match path, in no particular order.
func (f *forest) find(path *requestPath, buf []*leaf) []*leaf {
	buf = f.settled.find(path, buf)
	if f.recent != nil {
		buf = f.recent.find(path, buf)
	}
	return buf
}

// covering returns the leaves whose patterns match whatever path p matches.
func (f *forest) covering(p *pattern) []*leaf {
	found := f.settled.covering(p)
	if f.recent != nil {
		found = append(found, f.recent.covering(p)...)
	}
	return found
}

// plant builds the index.
func (p *program) plant() {
	p.index = forest{settled: &index{}, size: len(p.entries)}
	p.place(p.index.settled, 0)
	p.addDescribed()
	p.expressions.finish()
	if p.matrix != nil {
		p.matrix.finish()
	}
}

// graft takes the index of the former program over and adds the mocks that are new, if nothing else is. It returns false, and
// does nothing, if the index is to be built.
func (p *program) graft(kept heritage) bool {
	former := kept.former
	if !kept.longer() || p.settings != former.settings || p.aside != former.aside || len(p.entries)-former.index.size > maxRecent ||
		!former.mocksAlone() || !p.mocksAlone() || p.foundApart(len(former.entries)) {
		return false
	}
	p.index, p.matrix, p.expressions, p.leaves = former.index, former.matrix, former.expressions, former.leaves
	p.methods = former.methods.clone()
	p.index.recent = &index{}
	p.place(p.index.recent, p.index.size)
	return true
}

// mocksAlone tells that nothing but mocks answers: the operations of documents and the routes of collections come after them.
func (p *program) mocksAlone() bool {
	return len(p.documents) == 0 && len(p.collected) == 0
}

// foundApart tells that one of the entries from first on is not found by the tree of all.
func (p *program) foundApart(first int) bool {
	return slices.ContainsFunc(p.entries[first:], func(e entry) bool { return e.pattern.expr != nil || len(e.guards.matrix) > 0 })
}

// place puts the entries from first on into an index. Disabled mocks are no candidates and state no method (rule A10).
func (p *program) place(x *index, first int) {
	for i := range p.entries[first:] {
		e := &p.entries[first+i]
		if e.mock.Disabled || p.aside && isRecorded(e.mock) {
			continue
		}
		p.leaves = p.leaves || e.mock.LeaveBody
		switch {
		case e.pattern.expr != nil:
			p.expressions.add(e)
		case len(e.guards.matrix) > 0:
			if p.matrix == nil {
				p.matrix = &index{}
			}
			p.matrix.insert(e)
		default:
			x.insert(e)
		}
		for _, name := range e.mock.Request.Methods {
			p.methods.add(name)
		}
	}
	x.finish()
}
