package mockbase

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a mock (mock format, section 6).
const (
	maxDescription = 4000
	maxFolder      = 200
	maxFolderDepth = 6
	maxTags        = 20
	maxPriority    = 1000
	maxResponses   = 50
)

// readOnlyMembers are what the API adds to a mock's document (rules M-8 and M-62).
func readOnlyMembers() []string {
	return []string{
		"id", "project", "version", "createdAt", "updatedAt", "updatedBy", "source", "readOnly", "urls", "warnings", "stats",
	}
}

// decodeMock reads a mock; the name that it may lack is given later. readOnly names members that are ignored.
func decodeMock(at place, readOnly ...string) *Mock {
	f := at.fields()
	m := newMock()
	m.Line, m.Column = at.Line, at.Column
	f.slug("name", &m.Name)
	m.NameGenerated = !f.Has("name")
	f.short("description", &m.Description, maxDescription)
	decodeFolder(f, &m.Folder)
	m.Tags = distinct(f.list("tags", 0, maxTags), place.checkSlug)
	f.negated("enabled", &m.Disabled)
	f.Int("priority", &m.Priority, -maxPriority, maxPriority)
	if request, ok := f.at("request"); ok {
		decodeRequest(request, &m.Request)
	}
	f.slug("scenario", &m.Scenario)
	if state, ok := f.at("state"); ok {
		m.States = decodeStates(state)
	}
	f.Int("times", &m.Times, 1, math.MaxInt)
	decodeChoice(f, m, decodeResponses(f, m))
	if limit, ok := f.at("rateLimit"); ok {
		m.RateLimit = decodeRateLimit(limit)
	}
	f.negated("headCounts", &m.HeadIsFree)
	f.negated("readBody", &m.LeaveBody)
	if expect, ok := f.at("expect"); ok {
		m.Expect = decodeExpect(expect)
	}
	f.Required("request")
	f.ReadOnly(readOnly...)
	f.Done()
	checkMock(f, m)
	m.setDocument(at.Node, readOnly)
	m.settle()
	return m
}

// newMock makes a mock with room for the only response that most mocks have.
func newMock() *Mock {
	var made struct {
		Mock

		response [1]Response
	}
	made.Responses = made.response[:0]
	return &made.Mock
}

// Copy returns a copy whose own members may be set. The only response that most mocks have comes along: the copy does not keep
// the original in memory.
func (m *Mock) Copy() *Mock {
	if len(m.Responses) != 1 {
		made := *m
		return &made
	}
	made := newMock()
	response := append(made.Responses, m.Responses[0])
	*made = *m
	made.Responses = response
	return made
}

// settle moves the texts that nearly every mock has to memory of their own. What answers requests lies together then, and a
// mock that has no other texts lets go of what it was read from.
func (m *Mock) settle() {
	text := m.Name + m.Request.Path
	m.Name, m.Request.Path = text[:len(m.Name)], text[len(m.Name):]
	for i, name := range m.Request.Methods {
		for _, usual := range [...]string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", MethodAny} {
			if name == usual {
				m.Request.Methods[i] = usual
			}
		}
	}
}

func decodeFolder(f *Fields, to *string) {
	if f.short("folder", to, maxFolder) && strings.Count(strings.Trim(*to, "/"), "/") >= maxFolderDepth {
		f.Fault("folder", FieldLimit, "has more than %d levels", maxFolderDepth)
	}
}

// decodeStates reads one state or a list of them.
func decodeStates(at place) []string {
	if at.Kind == NodeText {
		if at.Text == "" {
			at.fault(FieldRange, "must not be empty")
			return nil
		}
		return []string{at.Text}
	}
	if at.Kind != NodeList {
		at.fault(FieldType, "must be a text or a list of texts, found %s", at.describe())
		return nil
	}
	return distinct(at.items(1, math.MaxInt), func(at place, text string) bool {
		if text == "" {
			at.fault(FieldRange, "must not be empty")
		}
		return text != ""
	})
}

// decodeResponses reads response or responses and returns where each stands.
func decodeResponses(f *Fields, m *Mock) []place {
	single, hasSingle := f.at("response")
	several, hasSeveral := f.at("responses")
	m.SingleResponse = hasSingle
	var list []place
	switch {
	case hasSingle && hasSeveral:
		f.Fault(laterKey(f, "response", "responses"), FieldConflict, "excludes the other: write response or responses")
		return nil
	case hasSingle:
		list = []place{single}
	case hasSeveral:
		list = several.items(1, maxResponses)
	default:
		f.missing("response", "is missing: a mock has response or responses")
	}
	m.Responses = slices.Grow(m.Responses, len(list))[:len(list)]
	for i, at := range list {
		decodeResponse(at, &m.Responses[i])
	}
	nameResponses(list, m.Responses)
	return list
}

// laterKey returns the one of two keys that stands later in the text.
func laterKey(f *Fields, a, b string) string {
	for _, m := range slices.Backward(f.node.Members) {
		if m.Key == a || m.Key == b {
			return m.Key
		}
	}
	return b
}

// nameResponses gives each response without a name its default, and notes names that come twice.
func nameResponses(list []place, responses []Response) {
	taken := make(map[string]bool, len(list))
	for i, at := range list {
		if at.Find("name") == nil {
			responses[i].Name = "r" + strconv.Itoa(i+1)
			taken[responses[i].Name] = true
		}
	}
	for i, at := range list {
		given, name := at.Find("name"), responses[i].Name
		if given == nil || name == "" {
			continue
		}
		if taken[name] {
			at.faults.Add(given, childPointer(at.pointer, "name"), FieldUnique, "another response of the mock is called %s", quote(name))
		}
		taken[name] = true
	}
}

// decodeChoice reads how a mock chooses among its responses, and holds the responses to it.
func decodeChoice(f *Fields, m *Mock, responses []place) {
	chosen := oneOf(f, "select", &m.Select, SelectRules, SelectSequence, SelectWeighted)
	oneOf(f, "onEnd", &m.OnEnd, OnEndLast, OnEndLoop, OnEndUnmatched)
	oneOf(f, "draw", &m.Draw, DrawSeeded, DrawExact)
	if !chosen && f.Has("select") {
		return // nobody knows what it was to be
	}
	if f.Has("onEnd") && m.Select != SelectSequence {
		f.Fault("onEnd", FieldConflict, "needs select: sequence")
	}
	if f.Has("draw") && m.Select != SelectWeighted {
		f.Fault("draw", FieldConflict, "needs select: weighted")
	}
	var hasDefault bool
	for i, at := range responses {
		checkChoice(at, m, &m.Responses[i])
		if !isDefault(at, m) {
			continue
		}
		if hasDefault {
			at.fault(FieldConflict, "a response before it has no when either: with select: rules at most one is the default")
		}
		hasDefault = true
	}
}

// isDefault tells whether a response answers when no other does.
func isDefault(at place, m *Mock) bool {
	return at.Kind == NodeObject && at.Find("when") == nil && (m.Select == "" || m.Select == SelectRules)
}

// checkChoice holds one response to its mock's way of choosing.
func checkChoice(at place, m *Mock, r *Response) {
	misplaced := func(name string, want Select) {
		at.faults.Add(at.Find(name), childPointer(at.pointer, name), FieldConflict, "needs select: %s", want)
	}
	if at.Find("when") != nil && m.Select != "" && m.Select != SelectRules {
		misplaced("when", SelectRules)
	}
	if at.Find("times") != nil && m.Select != SelectSequence {
		misplaced("times", SelectSequence)
	}
	if weight := at.Find("weight"); weight != nil {
		if m.Select != SelectWeighted {
			misplaced("weight", SelectWeighted)
		}
		if _, isWhole, _ := wholeNumber(string(r.Weight)); m.Draw == DrawExact && r.Weight != "" && !isWhole {
			at.faults.Add(weight, childPointer(at.pointer, "weight"), FieldConflict, "must be a whole number with draw: exact, found %s", r.Weight)
		}
	}
}

// checkMock notes what the members of a mock demand of one another.
func checkMock(f *Fields, m *Mock) {
	if reason := m.needsScenario(); reason != "" && !f.Has("scenario") {
		f.missing("scenario", "is missing: %s needs it", reason)
	}
	if m.LeaveBody && m.matchesBody() {
		f.Fault("readBody", FieldConflict, "must be true, as the mock has a condition on the body")
	}
}

// needsScenario names what makes a scenario necessary, "" if nothing does.
func (m *Mock) needsScenario() string {
	usesState := func(c *Condition) bool { return len(c.States) > 0 }
	if len(m.States) > 0 || m.Request.anyCondition(usesState) {
		return "state"
	}
	for i := range m.Responses {
		switch r := &m.Responses[i]; {
		case r.SetState != "":
			return "setState"
		case r.When.any(usesState):
			return "state"
		}
	}
	return ""
}

func (m *Mock) matchesBody() bool {
	usesBody := func(c *Condition) bool { return c.Body != nil }
	return m.Request.Body != nil || m.Request.anyCondition(usesBody) ||
		slices.ContainsFunc(m.Responses, func(r Response) bool { return r.When.any(usesBody) })
}

// setDocument keeps the mock as it was given, without the members that are not its own.
func (m *Mock) setDocument(n *Node, readOnly []string) {
	own := &Node{Kind: NodeObject, Members: make([]Member, 0, len(n.Members)+1)}
	for _, member := range n.Members {
		if !slices.Contains(readOnly, member.Key) {
			own.Members = append(own.Members, member)
		}
	}
	if m.NameGenerated {
		m.Name = DefaultMockName(strings.Join(m.Request.Methods, "-"), m.Request.place())
		own.Members = slices.Insert(own.Members, 0, Member{Key: "name", Value: &Node{Kind: NodeText, Text: m.Name}})
	}
	m.Document = own.JSON()
}

// WithName returns the mock under another name, in its document too. It is for a mock whose own name is taken.
func (m *Mock) WithName(name string) *Mock {
	named := *m
	named.Name = name
	root, err := ParseNode(m.Document, FormatJSON, ParseLimits{})
	if err != nil || root.Kind != NodeObject {
		return &named
	}
	value := &Node{Kind: NodeText, Text: name}
	if i := slices.IndexFunc(root.Members, func(member Member) bool { return member.Key == "name" }); i >= 0 {
		root.Members[i].Value = value
	} else {
		root.Members = slices.Insert(root.Members, 0, Member{Key: "name", Value: value})
	}
	named.Document = root.JSON()
	return &named
}
