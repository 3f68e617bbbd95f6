package mockbase

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// wantedPlace is a value of a JSON text that faults lead to, or that lies on the way to one.
type wantedPlace struct {
	// offset is where the value begins, -1 where it is not there.
	offset   int
	children map[string]*wantedPlace
}

func newWantedPlace() *wantedPlace { return &wantedPlace{offset: -1} }

// child is the place below, made when it is first asked for.
func (w *wantedPlace) child(token string) *wantedPlace {
	if w.children == nil {
		w.children = map[string]*wantedPlace{}
	}
	if w.children[token] == nil {
		w.children[token] = newWantedPlace()
	}
	return w.children[token]
}

// locateJSON is [Locate] for JSON: the text is scanned for the places that are wanted, and no tree is made of it. It reports false
// for what is no JSON, or needs the values themselves.
func locateJSON(src []byte, located []FieldError) bool {
	if !json.Valid(bytes.TrimPrefix(src, []byte("\ufeff"))) || slices.ContainsFunc(located, func(f FieldError) bool { return f.Inside != TextPlace{} }) {
		return false
	}
	s := &jsonPlaces{text: bytes.TrimPrefix(src, []byte("\ufeff"))}
	root := newWantedPlace()
	ways := make([][]*wantedPlace, len(located))
	for i := range located {
		if located[i].Line == 0 {
			ways[i] = wayTo(root, located[i].Pointer)
		}
	}
	s.value(s.blanks(0), root)
	s.number()
	for i, way := range ways {
		for _, w := range way {
			if w.offset < 0 {
				break
			}
			at := s.places[w.offset]
			located[i].Line, located[i].Column = at.Line, at.Column
		}
	}
	return true
}

// wayTo are the places that a pointer leads through.
func wayTo(root *wantedPlace, pointer string) []*wantedPlace {
	way := []*wantedPlace{root}
	if pointer == "#" {
		return way
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(pointer, "#"), "/"), "/") {
		way = append(way, way[len(way)-1].child(unPointerToken(token)))
	}
	return way
}

// jsonPlaces looks for places in a text that is JSON.
type jsonPlaces struct {
	text []byte
	// found are the offsets in their order, places are their lines and columns.
	found  []int
	places map[int]TextPlace
}

// value notes where a value begins and looks for what is wanted of it. It returns the offset behind it.
func (s *jsonPlaces) value(at int, w *wantedPlace) int {
	w.offset = at
	s.found = append(s.found, at)
	if len(w.children) == 0 {
		return s.skip(at)
	}
	switch s.text[at] {
	case '{':
		return s.members(at, w)
	case '[':
		return s.items(at, w)
	default:
		return s.skip(at)
	}
}

// members looks into an object. Of a key that is given twice the first one counts.
func (s *jsonPlaces) members(at int, w *wantedPlace) int {
	for at = s.blanks(at + 1); s.text[at] != '}'; {
		key := at
		at = s.skip(at)
		child := w.children[s.key(key, at)]
		at = s.blanks(s.blanks(at) + 1)
		if child != nil && child.offset < 0 {
			at = s.value(at, child)
		} else {
			at = s.skip(at)
		}
		at = s.next(at)
	}
	return at + 1
}

func (s *jsonPlaces) items(at int, w *wantedPlace) int {
	wanted := make(map[int]*wantedPlace, len(w.children))
	for token, child := range w.children {
		if i, err := strconv.Atoi(token); err == nil {
			wanted[i] = child
		}
	}
	at = s.blanks(at + 1)
	for i := 0; s.text[at] != ']'; i++ {
		if child := wanted[i]; child != nil {
			at = s.value(at, child)
		} else {
			at = s.skip(at)
		}
		at = s.next(at)
	}
	return at + 1
}

// next is where the next member or item begins behind a value, or the bracket that closes them.
func (s *jsonPlaces) next(at int) int {
	if at = s.blanks(at); s.text[at] == ',' {
		return s.blanks(at + 1)
	}
	return at
}

func (s *jsonPlaces) blanks(at int) int {
	for at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[at]) >= 0 {
		at++
	}
	return at
}

// key is the name in quotes between two offsets.
func (s *jsonPlaces) key(from, to int) string {
	quoted := s.text[from:to]
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var name string
	_ = json.Unmarshal(quoted, &name) // it is valid
	return name
}

// skip returns the offset behind a value.
func (s *jsonPlaces) skip(at int) int {
	depth := 0
	for at < len(s.text) {
		switch c := s.text[at]; {
		case c == '"':
			at = s.quoted(at)
		case c == '{' || c == '[':
			depth++
			at++
		case c == '}' || c == ']':
			depth--
			at++
		case depth > 0 && strings.IndexByte(",: \t\r\n", c) >= 0:
			at++
			continue
		default:
			at = s.word(at)
		}
		if depth == 0 {
			return at
		}
	}
	return at
}

// quoted returns the offset behind a text.
func (s *jsonPlaces) quoted(at int) int {
	for at++; s.text[at] != '"'; at++ {
		if s.text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// word returns the offset behind a number, true, false or null.
func (s *jsonPlaces) word(at int) int {
	for at < len(s.text) && strings.IndexByte(",]} \t\r\n", s.text[at]) < 0 {
		at++
	}
	return at
}

// number works out the lines and columns of what was found, in one go.
func (s *jsonPlaces) number() {
	s.places = make(map[int]TextPlace, len(s.found))
	slices.Sort(s.found)
	line, column, marked := 1, 1, 0
	for _, at := range s.found {
		passed := s.text[marked:at]
		if n := bytes.Count(passed, []byte{'\n'}); n > 0 {
			line, column = line+n, 1
			passed = passed[bytes.LastIndexByte(passed, '\n')+1:]
		}
		column += utf8.RuneCount(passed)
		marked = at
		s.places[at] = TextPlace{Line: line, Column: column}
	}
}
