package template

import (
	"math"
	"slices"
	"strings"

	"github.com/antchfx/xpath"
	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// documentFunctions select from the request's body.
var documentFunctions = map[string]*function{
	"jsonPath": {least: 1, most: 2, uses: UsesBody, call: jsonPath, verify: verifyPath},
	"xpath":    {least: 1, most: 2, uses: UsesBody, call: selectXML, verify: verifyXPath},
}

// maxSelecting bounds the work of a JSONPath as it is reckoned beforehand: the library itself has no bound, and nested
// descendants take exponential time.
const maxSelecting = 2_000_000

// document is the request's body in the form that JSONPath reads, made once for a rendering.
type document struct {
	value *jsonvalue.Value
	// root is the value as the library takes it; nodes, depth and the bytes of the longest text measure it.
	root                  any
	nodes, depth, longest int
	// members are the objects that results lie in, by name.
	members map[*jsonvalue.Value]map[string]ranked
}

// ranked is a member with its place among the others.
type ranked struct {
	rank  int
	value *jsonvalue.Value
}

// query is a compiled JSONPath with what its work is reckoned from.
type query struct {
	path *jsonpath.Path
	// deep counts what looks at whole subtrees, absolute the paths inside filters that start at the root; unions is the most
	// selectors of a segment.
	deep, absolute, unions, segments int
	// matching says that filters use regular expressions, which may come from the body and are compiled for each node.
	matching bool
	// ordered says that the order of the nodes is the path's own; elsewhere the library goes over objects in any order.
	ordered bool
}

func (c *cache) query(text string) (*query, error) { return c.paths.get(text, compileQuery) }

func verifyPath(c *cache, text string) error {
	_, err := c.query(text)
	return err
}

// verifyXPath compiles an expression that the template's author wrote. Prefixes are the request's to resolve.
func verifyXPath(_ *cache, text string) error {
	if len(text) > maxPattern {
		return failuref("the expression is longer than %d bytes", maxPattern)
	}
	if _, err := xpath.Compile(text); err != nil {
		return failure("the expression does not compile: " + err.Error())
	}
	return nil
}

func compileQuery(text string) (*query, error) {
	if len(text) > maxPattern {
		return nil, failuref("the path is longer than %d bytes", maxPattern)
	}
	path, err := jsonpath.Parse(text)
	if err != nil {
		return nil, failure(err.Error())
	}
	q := &query{path: path, unions: 1, ordered: true}
	for _, segment := range path.Query().Segments() {
		q.segments++
		q.unions = max(q.unions, len(segment.Selectors()))
		if segment.IsDescendant() {
			q.deep++
			q.ordered = false
		}
		for _, selector := range segment.Selectors() {
			q.weigh(selector)
		}
	}
	return q, nil
}

// weigh counts what a selector costs.
func (q *query) weigh(selector spec.Selector) {
	switch selector := selector.(type) {
	case spec.WildcardSelector:
		q.ordered = false
	case *spec.FilterSelector:
		text := selector.String()
		q.ordered = false
		q.deep += strings.Count(text, "..") + strings.Count(text, "*")
		q.absolute += strings.Count(text, "$")
		q.matching = q.matching || strings.Contains(text, "match(") || strings.Contains(text, "search(")
	}
}

// work reckons how many nodes the query touches at most.
func (q *query) work(d *document) float64 {
	nodes, depth := float64(d.nodes), float64(d.depth)
	each := 1.0
	if q.matching {
		each = float64(max(d.longest, 1))
	}
	return each * nodes * math.Pow(depth, float64(q.deep)) * math.Pow(nodes, float64(q.absolute)) *
		math.Pow(float64(q.unions), math.Min(float64(q.segments), depth))
}

// jsonPath gives the nodes that a path selects from the body: one as it is, several as a list, its default for none (rule
// P14).
func jsonPath(r *run, arguments []any) (any, error) {
	text := textOf(arguments[0])
	q, err := r.cache.query(text)
	if err != nil {
		return nil, err
	}
	d := r.document()
	if d == nil {
		return orDefault(r, describe("jsonPath", text), nil, arguments)
	}
	if q.work(d) > maxSelecting {
		return nil, failuref("the path takes too much work on this body")
	}
	if err := r.operation(d.nodes); err != nil {
		return nil, err
	}
	found := q.path.SelectLocated(d.root)
	if err := r.produceList(len(found)); err != nil {
		return nil, err
	}
	return orDefault(r, describe("jsonPath", text), d.resolve(found, q), arguments)
}

func selectXML(r *run, arguments []any) (any, error) {
	text := textOf(arguments[0])
	if len(text) > maxPattern {
		return nil, failuref("the expression is longer than %d bytes", maxPattern)
	}
	if r.scope.Request == nil {
		return orDefault(r, describe("xpath", text), nil, arguments)
	}
	found, err := r.scope.Request.XPath(text)
	if err != nil {
		return nil, failure(err.Error())
	}
	return orDefault(r, describe("xpath", text), texts(found), arguments)
}

// orDefault gives what was found, or the second argument.
func orDefault(r *run, expression string, found list, arguments []any) (any, error) {
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return found, nil
	case len(arguments) > 1:
		return arguments[1], nil
	default:
		r.note(expression)
		return nil, nil
	}
}

// document is the body for JSONPath; nil where there is none.
func (r *run) document() *document {
	if r.scope.document != nil {
		return r.scope.document
	}
	body, ok := r.body()
	if !ok {
		return nil
	}
	d := &document{value: body, root: body.Any()}
	d.measure(body, 1)
	r.scope.document = d
	return d
}

func (d *document) measure(v *jsonvalue.Value, depth int) {
	d.nodes++
	d.depth = max(d.depth, depth)
	d.longest = max(d.longest, len(v.Text()))
	if v.Kind() == jsonvalue.Object {
		for _, member := range v.Members() {
			d.measure(member, depth+1)
		}
	}
	for _, item := range v.Items() {
		d.measure(item, depth+1)
	}
}

// resolve gives the values at some places, as the document wrote them, in the order of the document where the query leaves
// it open.
func (d *document) resolve(found jsonpath.LocatedNodeList, q *query) list {
	type node struct {
		value any
		ranks []int
	}
	nodes := make([]node, len(found))
	for i, hit := range found {
		v, ranks := d.at(hit.Path)
		nodes[i] = node{value: fromJSON(v), ranks: ranks}
	}
	if !q.ordered {
		slices.SortStableFunc(nodes, func(a, b node) int { return slices.Compare(a.ranks, b.ranks) })
	}
	values := make(list, len(nodes))
	for i, n := range nodes {
		values[i] = n.value
	}
	return values
}

// at gives the value at a place, with the rank of each step among its siblings.
func (d *document) at(steps spec.NormalizedPath) (*jsonvalue.Value, []int) {
	v := d.value
	ranks := make([]int, 0, len(steps))
	for _, step := range steps {
		switch step := step.(type) {
		case spec.Index:
			v = v.Item(int(step))
			ranks = append(ranks, int(step))
		case spec.Name:
			m := d.member(v, string(step))
			v = m.value
			ranks = append(ranks, m.rank)
		}
	}
	return v, ranks
}

// member finds a member of an object whose results are asked for one after the other.
func (d *document) member(v *jsonvalue.Value, name string) ranked {
	index, ok := d.members[v]
	if !ok {
		index = make(map[string]ranked, v.Len())
		for member, value := range v.Members() {
			index[member] = ranked{rank: len(index), value: value}
		}
		if d.members == nil {
			d.members = make(map[*jsonvalue.Value]map[string]ranked)
		}
		d.members[v] = index
	}
	return index[name]
}
