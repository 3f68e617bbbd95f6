package openapi

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// The bounds of texts that are made of patterns.
const (
	mostTries   = 40
	mostPattern = 20_000
)

// patterned makes a text that meets all patterns and the length.
func (g *generator) patterned(s *shape) (*mockbase.Node, error) {
	meets := func(text string) bool {
		return s.fits(text) && s.matches(text)
	}
	if text := g.formatted(s.format); text != "" && meets(text) {
		return textNode(text), nil
	}
	formal := func(text string) bool { return meets(text) && g.schemas.formal(s.format, text) }
	if list := g.family(s.format); slices.ContainsFunc(list, formal) {
		return textNode(list[slices.IndexFunc(list, formal)]), nil
	}
	return g.ofPattern(s, formal)
}

// ofPattern makes a text of one of the patterns, alone or together with the format.
func (g *generator) ofPattern(s *shape, formal func(text string) bool) (*mockbase.Node, error) {
	var trees []*syntax.Regexp
	for i, pattern := range s.patterns {
		tree, err := syntax.Parse(translatedPattern(pattern), syntax.Perl)
		if err != nil {
			continue
		}
		trees = append(trees, tree)
		if text, ok := g.written(tree, s.minLength, joining(s.patterns, i, formal)); ok {
			return textNode(text), nil
		}
	}
	for _, tree := range trees {
		for extra := range mostDynamic {
			if text, ok := g.spliced(s.format, (&writer{random: g, extra: extra, tree: tree}).write(0), formal); ok {
				return textNode(text), nil
			}
		}
	}
	return nil, errUnmet
}

// matches tells whether a text matches all patterns, as far as they can be compiled.
func (s *shape) matches(text string) bool {
	return !slices.ContainsFunc(s.patterns, func(pattern string) bool {
		re, err := s.source.pattern(pattern)
		return err == nil && !re.MatchString(text)
	})
}

// joining lets a text of one pattern stand beside texts of the others: many patterns speak of the beginning or the end alone.
func joining(patterns []string, own int, meets func(text string) bool) func(text string) (string, bool) {
	var others []string
	g := &generator{}
	for i, pattern := range patterns {
		if tree, err := syntax.Parse(translatedPattern(pattern), syntax.Perl); err == nil && i != own {
			others = append(others, (&writer{random: g, tree: tree}).write(0))
		}
	}
	return func(text string) (string, bool) {
		if meets(text) {
			return text, true
		}
		for _, other := range others {
			for _, joined := range []string{text + other, other + text} {
				if meets(joined) {
					return joined, true
				}
			}
		}
		return "", false
	}
}

// written makes texts of a pattern, longer and longer ones, until one meets everything.
func (g *generator) written(tree *syntax.Regexp, minLength int, meets func(text string) (string, bool)) (string, bool) {
	for try := range mostTries {
		text := g.writtenOnce(tree, minLength, try)
		if found, ok := meets(text); ok {
			return found, true
		}
		short := minLength - utf8.RuneCountInString(text)
		if short <= 0 {
			continue
		}
		// What the pattern leaves open at its ends may be filled up.
		filling := strings.Repeat("a", short)
		for _, filled := range []string{text + filling, filling + text, text + " " + filling} {
			if found, ok := meets(filled); ok {
				return found, true
			}
		}
	}
	return "", false
}

// writtenOnce makes one text. Variants differ by the characters that the pattern leaves open, else by its repetitions.
func (g *generator) writtenOnce(tree *syntax.Regexp, minLength, extra int) string {
	w := &writer{random: g, extra: extra, variant: g.variant, tree: tree}
	text := w.write(minLength)
	if w.variant == 0 {
		return text
	}
	again := &writer{random: g, extra: extra + w.variant, variant: g.variant, tree: tree}
	if other := again.write(minLength); other != text {
		return other
	}
	// The pattern has no choice, but may leave its end open.
	return text + strconv.Itoa(g.variant)
}

// writer makes a text of one pattern. Repetitions are as short as the pattern allows, plus extra where that is allowed.
type writer struct {
	random *generator
	extra  int
	// variant is what is left of the number of the text, after each choice.
	variant int
	tree    *syntax.Regexp
	out     strings.Builder
}

func (w *writer) write(minLength int) string {
	if w.extra > 1 && minLength > 0 {
		// One long repetition reaches a length sooner than many tries.
		w.extra = max(w.extra, minLength-mostTries/2+w.extra)
	}
	w.node(w.tree)
	return w.out.String()
}

func (w *writer) node(re *syntax.Regexp) {
	if w.out.Len() > mostPattern {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		w.out.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		w.out.WriteRune(w.oneOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.out.WriteByte('a')
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			w.node(sub)
		}
	case syntax.OpAlternate:
		w.node(re.Sub[w.pick(len(re.Sub))])
	default:
		w.repeated(re)
	}
}

// repeated writes repetitions. Anchors and boundaries take no text.
func (w *writer) repeated(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpStar:
		w.repeat(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		w.repeat(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		w.repeat(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		w.repeat(re.Sub[0], re.Min, re.Max)
	default:
	}
}

func (w *writer) pick(n int) int {
	if w.random.random != nil {
		return w.random.random.IntN(n)
	}
	at := (w.extra + w.variant) % n
	w.variant /= n
	return at
}

func (w *writer) repeat(re *syntax.Regexp, least, most int) {
	count := least + w.extra
	if w.random.random != nil && w.extra < mostDynamic {
		count += w.random.random.IntN(mostDynamic)
	}
	if most >= 0 {
		count = min(count, most)
	}
	for range count {
		if w.out.Len() > mostPattern {
			return
		}
		w.node(re)
	}
}

// oneOf picks a character of a class: the first one that reads well, or a random one.
func (w *writer) oneOf(ranges []rune) rune {
	if len(ranges) == 0 {
		return 'a'
	}
	inside := func(r rune) bool {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				return true
			}
		}
		return false
	}
	if w.random.random != nil {
		if list := readable(ranges, inside); len(list) > 0 {
			return list[w.random.random.IntN(len(list))]
		}
		at := 2 * w.random.random.IntN(len(ranges)/2)
		if span := ranges[at+1] - ranges[at]; span < utf8.RuneSelf {
			return ranges[at] + w.random.random.Int32N(span+1)
		}
	}
	first := ranges[0]
	for _, wanted := range "0aA1bB_- " {
		if inside(wanted) {
			first = wanted
			break
		}
	}
	return w.another(first, inside)
}

// plainCharacters read well in every text.
const plainCharacters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// readable are the plain characters of a class that was not written to list them, such as one of everything but blanks, which has
// control characters too, or one of all letters. There are none of any other class.
func readable(ranges []rune, inside func(r rune) bool) []rune {
	const control, many = 1, 2 * 20
	if !inside(control) && len(ranges) < many {
		return nil
	}
	var list []rune
	for _, r := range plainCharacters {
		if inside(r) {
			list = append(list, r)
		}
	}
	for r := '!'; r <= '~' && len(list) == 0 || r <= '~' && !strings.ContainsRune(plainCharacters, list[0]); r++ {
		if inside(r) {
			list = append(list, r)
		}
	}
	return list
}

// another is the character of the variant, beginning with the first one.
func (w *writer) another(first rune, inside func(r rune) bool) rune {
	if w.variant == 0 || w.random.random != nil {
		return first
	}
	list := []rune{first}
	for _, r := range plainCharacters {
		if r != first && inside(r) {
			list = append(list, r)
		}
	}
	at := w.variant % len(list)
	w.variant /= len(list)
	return list[at]
}
