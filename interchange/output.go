package interchange

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// codeNotTranslated marks what has no equivalent and what was left out because of it.
const codeNotTranslated = mockbase.WarningNotTranslated

const (
	// maxMocks is the most mocks of a project by default (mock format, section 6).
	maxMocks = 10_000
	// maxWarnings bounds what one import tells: whoever reads a thousand knows.
	maxWarnings = 1000
	// checkEvery is how many entries pass between two looks at the context.
	checkEvery = 64
)

// output collects what a translation makes.
type output struct {
	ctx    context.Context //nolint:containedctx // It lives as long as one call of Import, whose context it is.
	prefix string
	// title is what the source calls itself; found counts its entries.
	title string
	found int

	mocks []made
	// precedents are mocks and collections in the order of a tool that has one, as ranked tells.
	precedents []*precedent
	ranked     bool
	warnings   []Warning
	silenced   int
	// sections are the other parts of the definition, by key.
	sections map[string]*doc
	sources  map[string]value
	// names holds every name that is taken, with the next number to try behind it.
	names     map[string]int
	scenarios map[string]string
	// judged is the mock whose conditions are being read, nil outside of conditions.
	judged *mock
}

// made is a finished mock and the entry that it came from.
type made struct {
	doc  *mockbase.Node
	from value
}

func newOutput(ctx context.Context, prefix string) *output {
	return &output{
		ctx: ctx, prefix: prefix, sections: map[string]*doc{}, sources: map[string]value{}, names: map[string]int{}, scenarios: map[string]string{},
	}
}

// warn notes something about a value of the source.
func (o *output) warn(v value, code mockbase.Code, format string, args ...any) {
	if len(o.warnings) >= maxWarnings {
		o.silenced++
		return
	}
	w := Warning{File: v.file, FieldError: mockbase.FieldError{Pointer: v.pointer, Code: code, Detail: fmt.Sprintf(format, args...)}}
	if v.node != nil {
		w.Line, w.Column = v.node.Line, v.node.Column
	}
	o.warnings = append(o.warnings, w)
}

// lost warns of a value that has no equivalent.
func (o *output) lost(v value, format string, args ...any) {
	o.warn(v, codeNotTranslated, format, args...)
}

// stopped tells whether the import has to end, which a translation asks before each entry.
func (o *output) stopped() bool {
	return o.found%checkEvery == 0 && o.ctx.Err() != nil
}

// section adds an entry of another section of the definition: variables, collections, scenarios, rateLimits.
func (o *output) section(section string, from value, name string, n *mockbase.Node) {
	d := o.sections[section]
	if d == nil {
		d = &doc{}
		o.sections[section] = d
	}
	d.set(name, n)
	o.sources[section+"/"+name] = from
}

// scenario returns the name that a scenario of the source has in the definition.
func (o *output) scenario(name string) string {
	if slug, ok := o.scenarios[name]; ok {
		return slug
	}
	taken := slices.Collect(maps.Values(o.scenarios))
	slug := mockbase.UniqueName(slugOr(name, "scenario"), func(s string) bool { return slices.Contains(taken, s) })
	o.scenarios[name] = slug
	return slug
}

// slugOr makes a slug of any text, or takes the other one when nothing of the text can stay.
func slugOr(text, otherwise string) string {
	const none = "mock"
	slug := mockbase.DefaultMockName("", text)
	if slug == none && !strings.Contains(strings.ToLower(text), none) {
		return otherwise
	}
	return slug
}

// unique returns a name that no mock has yet.
func (o *output) unique(base string) string {
	name := base
	for n := max(o.names[base], 1); ; {
		if _, taken := o.names[name]; !taken {
			o.names[base], o.names[name] = n, max(o.names[name], 1)
			return name
		}
		n++
		suffix := "-" + strconv.Itoa(n)
		const longest = 64
		name = strings.TrimRight(base[:min(len(base), longest-len(suffix))], "-") + suffix
	}
}

// mock is a mock in the making.
type mock struct {
	doc
	out *output
	// from is the entry of the source.
	from    value
	request doc
	// conditions are those that need a place of their own, as the request has already one of the kind.
	conditions []*mockbase.Node
	responses  []*mockbase.Node
	unmetOnes  []string
	// strength is what decides in the tool between mocks of equal priority, before their order.
	strength int
}

// mock begins a mock for an entry of the source.
func (o *output) mock(from value) *mock { return &mock{out: o, from: from} }

// named gives the mock a name made of any text. Without a name it gets one from its request line.
func (m *mock) named(text string) {
	if slug := slugOr(text, ""); slug != "" {
		m.set("name", textNode(slug))
	}
}

// unmet notes a condition that has no equivalent. The mock is imported disabled: without the condition it would answer
// what it must not.
func (m *mock) unmet(v value, format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	m.out.lost(v, "%s: the mock is imported disabled, as without this it would answer too much", reason)
	m.unmetOnes = append(m.unmetOnes, reason)
}

// needs adds a condition, an object such as {headers: {…}}, beside those that are there.
func (m *mock) needs(condition *mockbase.Node) { m.conditions = append(m.conditions, condition) }

// place sets where the mock answers: a path pattern, a regular expression for paths, or a raw target.
func (m *mock) place(key, text string) {
	if prefix := m.out.prefix; prefix != "" {
		if key == "pathMatches" {
			text = regexp.QuoteMeta(prefix) + "(?:" + text + ")"
		} else {
			text = prefix + text
		}
	}
	m.request.set(key, textNode(text))
}

// expression checks that a regular expression compiles here, and notes the condition as unmet when it does not.
func (m *mock) expression(v value, pattern string) bool {
	if err := checkExpression(pattern); err != nil {
		m.unmet(v, "the regular expression %s does not compile as RE2 (%v)", quoted(pattern), err)
		return false
	}
	return true
}

func checkExpression(pattern string) error {
	_, err := syntax.Parse(pattern, syntax.Perl)
	return err //nolint:wrapcheck // it is put into a sentence
}

// quoted shows a text in a warning, shortened.
func quoted(s string) string {
	const longest = 60
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest-1]) + "…"
	}
	return strconv.Quote(s)
}

// respond adds a response.
func (m *mock) respond(r *doc) { m.responses = append(m.responses, r.ordered().node()) }

// add finishes a mock. One that the decoder refuses becomes a warning.
func (o *output) add(m *mock) {
	if len(o.mocks) >= maxMocks {
		o.lost(m.from, "the entry is left out: a project has at most %d mocks", maxMocks)
		return
	}
	node := m.finish()
	decoded, err := mockbase.DecodeMock(node.JSON(), mockbase.FormatJSON)
	if err != nil {
		o.refused(m.from, fieldsOf(err))
		return
	}
	o.mocks = append(o.mocks, made{node, m.from})
	if o.ranked && len(m.unmetOnes) == 0 {
		o.precedent(node, decoded, m.from, m.strength)
	}
}

// refused warns of an entry whose mock has faults.
func (o *output) refused(from value, faults []mockbase.FieldError) {
	const shown = 3
	reasons := make([]string, 0, shown)
	for _, f := range faults[:min(len(faults), shown)] {
		reasons = append(reasons, strings.TrimPrefix(f.Pointer, "#/")+": "+f.Detail)
	}
	code := codeNotTranslated
	if len(faults) > 0 {
		code = faults[0].Code
	}
	o.warn(from, code, "the entry is left out, as its mock would not be valid: %s", strings.Join(reasons, "; "))
}

// finish puts the parts together in the order of the format.
func (m *mock) finish() *mockbase.Node {
	d := &doc{}
	if name := m.get("name"); name != nil {
		d.set("name", textNode(m.out.unique(name.Text)))
	}
	m.describe()
	for _, member := range m.members {
		if member.Key != "name" {
			d.set(member.Key, member.Value)
		}
	}
	if len(m.unmetOnes) > 0 {
		d.set("enabled", falseNode())
	}
	if len(m.conditions) > 0 {
		m.request.list("allOf", m.conditions)
	}
	d.set("request", m.request.node())
	if len(m.responses) == 1 && d.get("select") == nil {
		d.set("response", m.responses[0])
	} else {
		d.list("responses", m.responses)
	}
	return d.node()
}

// describe tells in the description why the mock is disabled.
func (m *mock) describe() {
	if len(m.unmetOnes) == 0 {
		return
	}
	const longest = 4000
	text := "Imported disabled. Without equivalent: " + strings.Join(m.unmetOnes, "; ")
	if old := m.get("description"); old != nil && old.Text != "" {
		text = old.Text + "\n\n" + text
	}
	if r := []rune(text); len(r) > longest {
		text = string(r[:longest])
	}
	m.set("description", textNode(text))
}

// cleanText drops from a text, if there is one, what cannot be shown: our own mocks may not hold it.
func cleanText(text *mockbase.Node, clean func(string) string) {
	if text != nil && text.Kind == mockbase.NodeText {
		text.Text = clean(text.Text)
	}
}

// definition puts the document together.
func (o *output) definition() *mockbase.Node {
	d := &doc{}
	d.set("version", numberNode(1))
	for _, section := range []string{"variables", "settings", "scenarios", "rateLimits"} {
		d.doc(section, o.sections[section])
	}
	mocks := make([]*mockbase.Node, len(o.mocks))
	for i, m := range o.mocks {
		cleanText(m.doc.Find("description"), mockbase.CleanProse)
		cleanText(m.doc.Find("folder"), mockbase.CleanLine)
		mocks[i] = m.doc
	}
	d.set("mocks", listNode(mocks...))
	d.doc("collections", o.sections["collections"])
	return d.node()
}

// drop leaves out the parts that faults name.
func (o *output) drop(faults []mockbase.FieldError) bool {
	byMock := map[int][]mockbase.FieldError{}
	dropped := false
	for _, f := range faults {
		section, name, rest := splitPointer(f.Pointer)
		if i, err := strconv.Atoi(name); section == "mocks" && err == nil {
			f.Pointer = "#/" + rest
			byMock[i] = append(byMock[i], f)
			continue
		}
		dropped = o.dropEntry(section, name, f) || dropped
	}
	kept := o.mocks[:0:0]
	for i, m := range o.mocks {
		if faults := byMock[i]; len(faults) > 0 {
			o.refused(m.from, faults)
			dropped = true
			continue
		}
		kept = append(kept, m)
	}
	o.mocks = kept
	return dropped
}

// dropEntry leaves out an entry of a section that is no mock.
func (o *output) dropEntry(section, name string, f mockbase.FieldError) bool {
	d := o.sections[section]
	if d == nil || d.get(name) == nil {
		return false
	}
	d.remove(name)
	o.warn(o.sources[section+"/"+name], f.Code, "%s is left out of %s: %s", strconv.Quote(name), section, f.Detail)
	return true
}

// splitPointer takes the first two names from a pointer.
func splitPointer(pointer string) (section, name, rest string) {
	section, rest, _ = strings.Cut(strings.TrimPrefix(pointer, "#/"), "/")
	name, rest, _ = strings.Cut(rest, "/")
	return section, strings.NewReplacer("~1", "/", "~0", "~").Replace(name), rest
}
