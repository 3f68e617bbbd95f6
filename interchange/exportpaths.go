package interchange

import (
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// pathList are the paths of a document, which are found by their shape.
type pathList struct {
	doc

	places map[string]int
}

func newPathList(n *mockbase.Node) *pathList {
	l := &pathList{doc: *membersOf(n), places: map[string]int{}}
	for i, m := range l.members {
		l.places[shapeOf(m.Key)] = i
	}
	return l
}

// find finds the place of a path, or of one of the same shape, which is added if there is none.
func (l *pathList) find(text string) int {
	shape := shapeOf(text)
	i, known := l.places[shape]
	if !known {
		i = len(l.members)
		l.members = append(l.members, mockbase.Member{Key: text})
		l.places[shape] = i
	}
	return i
}

// below is a path as it stands below the path of the first server. One that lies elsewhere is foreign to that server.
func (w *openAPIWriter) below(path, prefix string) (text string, foreign bool) {
	if prefix == "" || strings.HasSuffix(strings.TrimSuffix(w.options.BaseURL, "/"), prefix) {
		return path, false
	}
	text, found := strings.CutPrefix(path, prefix)
	if !found || !strings.HasPrefix(text, "/") {
		return path, true
	}
	return text, false
}

// rename calls the parameters as the document calls them.
func (p *exportedPath) rename(names []string) {
	for _, op := range p.operations {
		for _, a := range op.answers {
			for from, to := range a.rename {
				if i := slices.Index(p.names, to); i >= 0 && i < len(names) {
					a.rename[from] = names[i]
				}
			}
		}
	}
	p.names = names
}

// parameterNames are the names in braces.
func parameterNames(text string) []string {
	var names []string
	for {
		_, after, found := strings.Cut(text, "{")
		if !found {
			return names
		}
		name, rest, _ := strings.Cut(after, "}")
		names, text = append(names, name), rest
	}
}
