package interchange

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxStubSteps bounds the stubs that one sequence becomes.
const maxStubSteps = 200

// started is the state in which a scenario of WireMock begins.
const started = "Started"

// wiremockWriter writes a project as WireMock's stub mappings. docs/exporting.md has the table.
type wiremockWriter struct {
	*exporter

	stubs []*stub
	// told holds what was told of once and for all.
	told map[string]bool
}

// stub is one stub mapping.
type stub struct {
	doc      doc
	metadata doc
	// mock, methods and pattern say where it answers; level is its priority, from 1.
	mock    *exportedMock
	answer  int
	methods string
	level   int
}

// wiremock writes the project as {"mappings": […]}.
func (e *exporter) wiremock() (*mockbase.Node, error) {
	w := &wiremockWriter{exporter: e, told: map[string]bool{}}
	ordered := slices.Clone(e.mocks)
	slices.SortStableFunc(ordered, before)
	for _, m := range ordered {
		if err := e.stopped(); err != nil {
			return nil, err
		}
		x, err := e.mock(m)
		if err != nil {
			return nil, err
		}
		if x != nil {
			w.mock(x)
			x.done()
		}
	}
	w.surroundings()
	if err := w.rank(); err != nil {
		return nil, err
	}
	w.sortLosses()
	items := make([]*mockbase.Node, 0, len(w.stubs))
	for _, s := range w.stubs {
		items = append(items, w.finished(s))
	}
	root := &doc{}
	root.set("mappings", listNode(items...))
	root.set("meta", with("total", numberNode(int64(len(items)))).node())
	return root.node(), nil
}

// sortLosses puts what is told of a mock in the order of the mocks, which were written in the order in which they answer.
func (e *exporter) sortLosses() {
	place := map[string]int{}
	for i, m := range e.mocks {
		place[m.Name] = i + 1
	}
	slices.SortStableFunc(e.out.warnings, func(a, b Warning) int { return place[a.File] - place[b.File] })
}

// mock writes the stubs of one mock: one for each answer, each alternative of its conditions, each method and each state.
func (w *wiremockWriter) mock(x *exportedMock) {
	if x.doc.member("rateLimit").text() == "none" {
		x.doc.skip("rateLimit")
	}
	x.doc.skip("select", "onEnd", "draw", "times", "scenario", "state", "priority", "description", "folder", "tags", "headCounts", "readBody")
	switch {
	case x.Select == mockbase.SelectSequence && !x.remembers():
		w.sequence(x, x.responses)
		return
	case x.Times > 0 && len(x.responses) == 1 && !x.remembers():
		w.sequence(x, x.responses)
		return
	case x.Times > 0:
		w.lost(x.doc.get("times"), "the mock stops after %d calls, which cannot be said beside its states or answers: the stub answers without end", x.Times)
	}
	answers := x.responses
	switch x.Select {
	case mockbase.SelectSequence:
		w.lost(x.doc.get("select"), "a sequence beside a scenario cannot be said: the first answer is taken")
		answers = answers[:1]
	case mockbase.SelectWeighted:
		w.lost(x.doc.get("select"), "answers by chance cannot be said: the heaviest is taken")
		answers = []*exportedResponse{heaviest(answers)}
	case mockbase.SelectRules:
	}
	x.skipChoosing(answers)
	for i, r := range answers {
		w.answer(r, i, step{from: x.States, to: r.SetState, scenario: x.Scenario})
	}
}

// remembers tells whether the mock uses a scenario of its own.
func (x *exportedMock) remembers() bool {
	return x.Scenario != "" || len(x.States) > 0 || slices.ContainsFunc(x.responses, func(r *exportedResponse) bool { return r.SetState != "" })
}

// skipChoosing passes over what chose among the answers, and over the answers that are not written.
func (x *exportedMock) skipChoosing(written []*exportedResponse) {
	for _, r := range x.responses {
		r.doc.skip("weight", "times")
		if !slices.Contains(written, r) {
			for _, e := range r.doc.entries() {
				r.doc.skip(e.key)
			}
		}
	}
}

// heaviest is the answer with the largest weight, the first of several.
func heaviest(list []*exportedResponse) *exportedResponse {
	weight := func(r *exportedResponse) float64 {
		if r.Weight == "" {
			return 1
		}
		f, _ := r.Weight.Float64() // a weight that was decoded is a number
		return f
	}
	return slices.MaxFunc(list, func(a, b *exportedResponse) int { return cmp.Compare(weight(a), weight(b)) })
}

// step is what an answer has to do with the states of a scenario.
type step struct {
	scenario string
	// from are the states in which it answers, none for every one; to is the state that follows, "" for the same.
	from []string
	to   string
	// own tells that the scenario was made for the mock and is none of the project's.
	own bool
}

// sequence writes a sequence as a scenario of its own, in which each call is a state.
func (w *wiremockWriter) sequence(x *exportedMock, answers []*exportedResponse) {
	var calls []*exportedResponse
	for _, r := range answers {
		r.doc.skip("times", "weight")
		calls = append(calls, slices.Repeat([]*exportedResponse{r}, min(max(r.Times, 1), maxStubSteps))...)
	}
	endless := x.Times == 0 && x.OnEnd != mockbase.OnEndUnmatched
	if x.Times > 0 {
		calls = append(calls, slices.Repeat([]*exportedResponse{calls[len(calls)-1]}, max(0, min(x.Times, maxStubSteps+1)-len(calls)))...)
		calls = calls[:min(len(calls), x.Times)]
	}
	if len(calls) > maxStubSteps {
		w.lost(x.doc.get("responses"), "the sequence has more than %d calls: the rest is left out", maxStubSteps)
		calls = calls[:maxStubSteps]
	}
	state := func(i int) string {
		if i == 0 {
			return started
		}
		return "call " + strconv.Itoa(i+1)
	}
	for i, r := range calls {
		s := step{scenario: x.Name + " calls", from: []string{state(i)}, to: state(i + 1), own: true}
		if i == len(calls)-1 && endless {
			s.to = ""
			if x.OnEnd == mockbase.OnEndLoop {
				s.to = started
			}
		}
		w.answer(r, i, s)
	}
}

// answer writes the stubs of one answer.
func (w *wiremockWriter) answer(r *exportedResponse, number int, s step) {
	r.doc.skip("when", "setState")
	response := w.response(r)
	if response == nil {
		return
	}
	for _, b := range r.mock.branches(r) {
		states := s.from
		b, states, possible := w.states(b, states)
		if !possible {
			continue
		}
		request := w.request(r.mock, b, r.doc.value)
		if request == nil {
			continue
		}
		for _, method := range r.mock.methods() {
			for _, state := range orNone(states) {
				w.add(r, number, method, state, s, request, response)
			}
		}
	}
}

// orNone is a list that has at least one entry, which is empty when there is none.
func orNone(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// states takes the conditions on states out of a branch. It is not possible when no state fits all of them.
func (w *wiremockWriter) states(b branch, from []string) (rest branch, states []string, possible bool) {
	for _, a := range b {
		switch {
		case a.place != "state":
			rest = append(rest, a)
		case a.not:
			w.lost(a.at, "a state that must not be cannot be said: the answer is left out, as it would answer too much")
			return nil, nil, false
		case len(from) == 0 || slices.Contains(from, a.at.text()):
			from = []string{a.at.text()}
		default:
			return nil, nil, false
		}
	}
	return rest, from, true
}

// add adds a stub for one method and one state.
func (w *wiremockWriter) add(r *exportedResponse, number int, method, state string, s step, request, response *doc) { //nolint:revive // all of them differ from stub to stub
	one := &stub{mock: r.mock, answer: number, methods: method}
	one.doc.set("name", textNode(r.title()))
	asked := with("method", textNode(method))
	asked.members = append(asked.members, request.members...)
	one.doc.set("request", asked.node())
	one.doc.set("response", response.node())
	if s.scenario != "" {
		w.inScenario(one, s, state)
	}
	if hooks := w.webhooks(r); len(hooks) > 0 {
		one.doc.list("serveEventListeners", hooks)
	}
	one.metadata.text("description", r.mock.Description)
	own := &doc{}
	own.set("mock", textNode(r.mock.Name))
	if len(r.mock.responses) > 1 {
		own.set("response", textNode(r.Name))
	}
	own.text("folder", r.mock.Folder)
	var tags []*mockbase.Node
	for _, tag := range r.mock.Tags {
		tags = append(tags, textNode(tag))
	}
	own.list("tags", tags)
	one.metadata.doc("mockbase", own)
	w.stubs = append(w.stubs, one)
}

// inScenario writes the states of a stub. Scenarios of WireMock begin in one state, whatever it is called here.
func (w *wiremockWriter) inScenario(one *stub, s step, state string) {
	initial := started
	for _, known := range w.config.Scenarios {
		if known.Name != s.scenario || s.own {
			continue
		}
		initial = cmp.Or(known.Initial, started)
		if len(known.Keys) > 0 && !w.told["scenario "+known.Name] {
			w.told["scenario "+known.Name] = true
			w.lostSection("scenarios/"+known.Name+"/key", "a state for each key cannot be said: the scenario has one state for all requests")
		}
	}
	called := func(state string) *mockbase.Node {
		switch state {
		case initial:
			state = started
		case started:
			state = started + " again"
		}
		return textNode(state)
	}
	one.doc.set("scenarioName", textNode(s.scenario))
	if state != "" {
		one.doc.set("requiredScenarioState", called(state))
	}
	if s.to != "" {
		one.doc.set("newScenarioState", called(s.to))
	}
}

// finished puts a stub together. What is told of it stands in its metadata, too, so that it travels with the file.
func (w *wiremockWriter) finished(s *stub) *mockbase.Node {
	d := &doc{}
	d.set("id", textNode(w.id(s)))
	d.set("name", s.doc.get("name"))
	if s.level > 0 {
		d.set("priority", numberNode(int64(s.level)))
	}
	for _, m := range s.doc.members {
		if m.Key != "name" {
			d.set(m.Key, m.Value)
		}
	}
	if s.mock != nil {
		w.tell(s)
	}
	d.doc("metadata", &s.metadata)
	return d.node()
}

// tell writes what the format cannot say of a mock into the metadata of its first stub.
func (w *wiremockWriter) tell(s *stub) {
	if w.told["mock "+s.mock.Name] {
		return
	}
	w.told["mock "+s.mock.Name] = true
	var list []*mockbase.Node
	for _, warning := range w.out.warnings {
		if warning.File == s.mock.Name {
			list = append(list, textNode(warning.Pointer+": "+warning.Detail))
		}
	}
	own := s.metadata.get("mockbase")
	if len(list) > 0 && own != nil {
		inner := &doc{members: own.Members}
		inner.list("warnings", list)
		s.metadata.set("mockbase", inner.node())
	}
}

// id is the same for the same stub at every export, so that importing a file again changes stubs instead of doubling them.
func (w *wiremockWriter) id(s *stub) string {
	const uuidBytes, version, variant = 16, 6, 8
	hash := sha256.Sum256([]byte(w.project.Slug + "\x00" + string(s.doc.node().JSON())))
	b := hash[:uuidBytes]
	b[version] = b[version]&0x0f | 0x80
	b[variant] = b[variant]&0x3f | 0x80
	text := hex.EncodeToString(b)
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// settings tells of the options of a project that the format does not have, save those that are known to it.
func (e *exporter) settings(known ...string) {
	settings := e.out.object(value{node: parsedOr(e.config.Source["settings"]), pointer: "#/settings"})
	settings.skip(known...)
	settings.skip("seed", "browserSandbox")
	for _, entry := range settings.entries() {
		if !settings.read[entry.key] && entry.ok() {
			e.lost(entry.value, "the setting %s has no equivalent: it is left out", quoted(entry.key))
		}
	}
	defaults := e.out.object(value{node: parsedOr(e.config.Source["defaults"]), pointer: "#/defaults"})
	defaults.skip("template", "headers")
	if slices.Contains(known, "delay") {
		defaults.skip("delay")
	}
	defaults.done()
}

// surroundings writes what answers when no mock does, and tells of the parts of a project that have no equivalent.
func (w *wiremockWriter) surroundings() {
	whole := w.options.Mock == "" && w.options.Tag == ""
	if p := w.config.Settings.Fallback; p != nil && whole {
		one := &stub{}
		one.doc.set("name", textNode("fallback"))
		one.doc.set("request", &mockbase.Node{Kind: mockbase.NodeObject, Members: []mockbase.Member{
			{Key: "method", Value: textNode("ANY")}, {Key: "urlPattern", Value: textNode(".*")},
		}})
		answer := &doc{}
		proxyTo(p, answer, textNode)
		one.doc.set("response", answer.node())
		w.stubs = append(w.stubs, one)
	}
	if !whole {
		return
	}
	w.settings("trailingSlash", "pathCase", "fallback", "delay")
	for _, c := range w.config.Collections {
		w.lostSection("collections/"+c.Name, "a collection that creates, changes and deletes has no equivalent: it is left out")
	}
	for i, d := range w.config.Documents {
		w.lostSection("documents/"+strconv.Itoa(i), "the operations of the document %s are no stubs: import the document into the other tool", quoted(d.Name))
	}
}
