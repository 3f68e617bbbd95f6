package body

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/operator"
)

// jsonPaths compiles matches on the nodes that expressions select (rules H1 to H11).
func (k *compiler) jsonPaths() {
	for i := range k.match.JSONPath {
		named := &k.match.JSONPath[i]
		path, err := ParsePath(named.Name)
		if err != nil {
			k.wrong(mockbase.FieldSyntax, err.Error(), "jsonPath", named.Name)
			continue
		}
		match := operator.Nodes(named.Match, k.below("jsonPath", named.Name), k.faults)
		k.add(pathCheck("jsonPath "+cut(named.Name), path, match))
	}
}

func pathCheck(name string, path *Path, match operator.Match[*jsonvalue.Value]) check {
	return check{
		name: name, stated: cut(match.String()),
		holds: func(m *Message) bool {
			nodes, err := path.Select(m)
			return err == nil && match.Holds(&operator.Values[*jsonvalue.Value]{List: nodes})
		},
		explain: func(m *Message) mockbase.MissedPart {
			nodes, err := path.Select(m)
			if err != nil {
				return mockbase.MissedPart{Operator: "exists", Expected: match.String(), Actual: err.Error()}
			}
			values := &operator.Values[*jsonvalue.Value]{List: nodes}
			missed := mockbase.MissedPart{Actual: previewNodes(nodes)}
			if failing := match.Failing(values); failing != nil {
				missed.Operator, missed.Expected = failing.Failing(values)
			}
			missed.Expected = cut(missed.Expected)
			return missed
		},
	}
}

// previewNodes shows the nodes of a list.
func previewNodes(nodes []*jsonvalue.Value) string {
	if len(nodes) == 0 {
		return "(no node)"
	}
	shown := nodes[0].Preview(maxShown)
	for _, node := range nodes[1:] {
		if len(shown) > maxShown {
			return cut(shown)
		}
		shown += ", " + node.Preview(maxShown)
	}
	return shown
}

// The bounds of an expression. Every descendant segment and every selector that selects many may multiply the work by
// the size of the document, which no clock then stops.
const (
	maxPathLength   = 1_000
	maxDescents     = 3
	maxInnerDescent = 1
	maxInnerMany    = 8
	maxInnerFilter  = 3
)

// Path is a compiled JSONPath (RFC 9535). It is immutable and safe for concurrent use.
type Path struct {
	text  string
	query *spec.PathQuery
	// ranking is for long numbers; nil if there is none.
	ranking *ranking
	// filters tells that there is a filter at all; heavy, that one selects many nodes for each that it tests; descends, that
	// it does so at any depth; rooted, that it starts at the root; patterns, that it tests a text with one.
	filters, heavy, descends, rooted, patterns bool
}

// ParsePath compiles an expression. The error has the column of what is wrong, counted in characters from 1.
func ParsePath(text string) (*Path, error) {
	if len(text) > maxPathLength {
		return nil, fmt.Errorf("the JSONPath has %d bytes, at most %d are allowed", len(text), maxPathLength)
	}
	p := &Path{text: text, ranking: rank(text)}
	switch parsed, err := jsonpath.Parse(text); {
	case err == nil:
		p.query = parsed.Query()
	case p.ranking != nil && p.ranking.needed:
		// The library knows no numbers of that size.
		p.query = p.ranking.query
	default:
		return nil, pathError(text, err)
	}
	return p, p.bound(text)
}

// pathError moves the place to the front: column 3: unexpected '['.
func pathError(text string, err error) error {
	message := strings.TrimPrefix(err.Error(), "jsonpath: ")
	place := regexp.MustCompile(`^(.*) at (?:position )?(\d+)$`).FindStringSubmatch(message)
	if place == nil {
		return fmt.Errorf("column %d: %s: a JSONPath is written as RFC 9535 says, as in $.items[0].id", utf8.RuneCountInString(text)+1, message)
	}
	position, _ := strconv.Atoi(place[2])
	column := 1 + utf8.RuneCountInString(text[:min(max(position-1, 0), len(text))])
	return fmt.Errorf("column %d: %s: a JSONPath is written as RFC 9535 says, as in $.items[?@.id == 7]", column, place[1])
}

// bound refuses an expression that could take too long.
func (p *Path) bound(text string) error {
	c := census(text)
	p.filters, p.descends, p.rooted = c.filters > 0, c.innerDescents > 0, c.rooted
	p.patterns = strings.Contains(text, "match(") || strings.Contains(text, "search(")
	p.heavy = p.descends || c.innerMany > 0 || c.filterDepth > 1
	switch {
	case c.descents > maxDescents:
		return fmt.Errorf("the JSONPath has %d descendant segments, at most %d are allowed", c.descents, maxDescents)
	case c.innerDescents > maxInnerDescent:
		return fmt.Errorf("the filters of the JSONPath have %d descendant segments, at most %d is allowed", c.innerDescents, maxInnerDescent)
	case c.innerMany > maxInnerMany:
		return fmt.Errorf("the filters of the JSONPath select many nodes in %d places, at most %d are allowed", c.innerMany, maxInnerMany)
	case c.filterDepth > maxInnerFilter:
		return fmt.Errorf("the JSONPath has filters %d deep, at most %d are allowed", c.filterDepth, maxInnerFilter)
	}
	return nil
}

// counts are what makes an expression costly.
type counts struct {
	descents, innerDescents, innerMany, filters, filterDepth int
	rooted                                                   bool
}

// census counts in the text of a valid expression.
func census(text string) counts {
	s := surveyor{}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'', '"':
			i = closing(text, i)
		case '.':
			if strings.HasPrefix(text[i:], "..") {
				i++
				s.descent()
			}
		default:
			s.note(c)
		}
	}
	return s.counts
}

// surveyor walks over an expression.
type surveyor struct {
	counts
	// open are the brackets and parentheses that are; filters has the number of those around each open filter.
	open    []byte
	filters []int
}

func (s *surveyor) inner() bool { return len(s.filters) > 0 }

// within tells what the innermost bracket is.
func (s *surveyor) within(bracket byte) bool {
	return len(s.open) > 0 && s.open[len(s.open)-1] == bracket
}

func (s *surveyor) note(c byte) {
	switch c {
	case '[', '(':
		s.open = append(s.open, c)
	case ']', ')':
		s.close()
	case '?':
		// Several filters in one pair of brackets stand beside each other.
		if !s.inner() || s.filters[len(s.filters)-1] != len(s.open) {
			s.filters = append(s.filters, len(s.open))
		}
		s.counts.filters++
		s.filterDepth = max(s.filterDepth, len(s.filters))
	case '*', ':':
		s.many()
	case ',':
		// Between parentheses it separates arguments.
		if s.within('[') {
			s.many()
		}
	case '$':
		s.rooted = s.rooted || s.inner()
	}
}

func (s *surveyor) close() {
	if s.inner() && s.filters[len(s.filters)-1] == len(s.open) {
		s.filters = s.filters[:len(s.filters)-1]
	}
	s.open = s.open[:max(0, len(s.open)-1)]
}

func (s *surveyor) many() {
	if s.inner() {
		s.innerMany++
	}
}

func (s *surveyor) descent() {
	s.descents++
	if s.inner() {
		s.innerDescents++
	}
}

// closing returns the index of the quote that closes the text that begins at i.
func closing(text string, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case text[i]:
			return j
		}
	}
	return len(text)
}

// Singular tells whether the expression is definite: it selects one node at most (rule H5).
func (p *Path) Singular() bool {
	return p.query.Singular() != nil && !slices.ContainsFunc(p.query.Segments(), (*spec.Segment).IsDescendant)
}
