package management

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// longBody is the size in bytes from which a response's body is cut in a list (M-140).
const longBody = 4 << 10

// mockExtra are the members that the server adds to a mock's document (rule M-62).
type mockExtra struct {
	ID        string    `json:"id"`
	Project   string    `json:"project"`
	Version   int64     `json:"version"`
	CreatedAt string    `json:"createdAt"`
	UpdatedAt string    `json:"updatedAt"`
	UpdatedBy *string   `json:"updatedBy"`
	Source    *string   `json:"source"`
	ReadOnly  bool      `json:"readOnly"`
	URLs      urls      `json:"urls"`
	Warnings  []warning `json:"warnings"`
	Stats     statsView `json:"stats"`
	Truncated bool      `json:"truncated,omitempty"`
}

type warning struct {
	Code    mockbase.Code `json:"code"`
	Detail  string        `json:"detail"`
	Pointer string        `json:"pointer,omitempty"`
}

type statsView struct {
	Calls      int     `json:"calls"`
	Calls24h   int     `json:"calls24h"`
	LastCallAt *string `json:"lastCallAt"`
}

// mockStats is what was recorded of a mock.
type mockStats struct {
	calls, calls24h int
	last            time.Time
}

// add counts one exchange. They come newest first.
func (m *mockStats) add(at, dayAgo time.Time) {
	m.calls++
	if at.After(dayAgo) {
		m.calls24h++
	}
	if at.After(m.last) {
		m.last = at
	}
}

// stats counts the recorded calls of each mock of a project, by id. It looks at the journal once, whatever the number of
// mocks.
func (s *Server) stats(projectID string) map[string]mockStats {
	return s.countCalls(projectID, mockbase.TrafficFilter{})
}

// statsOf counts the recorded calls of one mock.
func (s *Server) statsOf(m *mockbase.Mock) mockStats {
	return s.countCalls(m.ProjectID, mockbase.TrafficFilter{Mock: m.ID})[m.ID]
}

func (s *Server) countCalls(projectID string, f mockbase.TrafficFilter) map[string]mockStats {
	counts := map[string]mockStats{}
	dayAgo := s.clock().Add(-24 * time.Hour)
	for _, x := range s.Traffic.Traffic(projectID, f, "", math.MaxInt).Items {
		if x.Mock.ID != "" {
			one := counts[x.Mock.ID]
			one.add(x.At, dayAgo)
			counts[x.Mock.ID] = one
		}
	}
	return counts
}

// extra is what the server says of a mock.
func (s *Server) extra(c *call, in *mockbase.Snapshot, m *mockbase.Mock, stats mockStats) mockExtra {
	source := m.Owner
	if m.Origin != "" {
		source = m.Origin
	}
	extra := mockExtra{
		ID: m.ID, Project: in.Project.Slug, Version: m.Version, CreatedAt: timeText(m.CreatedAt), UpdatedAt: timeText(m.UpdatedAt),
		UpdatedBy: maybeText(m.UpdatedBy), Source: maybeText(source), ReadOnly: m.Origin != "",
		URLs: s.urlsOf(c.Request(), in.Project.Slug, pathURL(m.Request.Path)), Warnings: []warning{},
		Stats: statsView{Calls: stats.calls, Calls24h: stats.calls24h, LastCallAt: maybeTime(stats.last)},
	}
	for _, w := range s.warnings(in, m) {
		extra.Warnings = append(extra.Warnings, warning{Code: w.Code, Detail: w.Detail, Pointer: w.Pointer})
	}
	return extra
}

// warnings are those of a mock alone and those beside its neighbours and documents (rule M-62). What both tell is told once.
func (s *Server) warnings(snapshot *mockbase.Snapshot, m *mockbase.Mock) []mockbase.FieldError {
	all := m.Warnings(&snapshot.Project.Config)
	if s.Warnings == nil {
		return all
	}
	own := all
	for _, w := range s.Warnings(snapshot, m) {
		if !slices.ContainsFunc(own, func(old mockbase.FieldError) bool { return old.Code == w.Code && old.Pointer == w.Pointer }) {
			all = append(all, w)
		}
	}
	return all
}

// mockInList is a mock as a list shows it: with the bodies of its responses cut.
func (s *Server) mockInList(c *call, m *mockbase.Mock, stats mockStats) json.RawMessage {
	extra := s.extra(c, c.project, m, stats)
	document := m.Document
	if len(document) > longBody {
		document, extra.Truncated = shortened(document)
	}
	return appendMembers(document, encode(extra))
}

// answerMock answers with one mock as JSON or YAML, whichever the client prefers.
func (s *Server) answerMock(c *call, m *mockbase.Mock) error {
	a, err := s.mockAnswer(c, s.freshProject(c), m, s.statsOf(m))
	if err != nil {
		return err
	}
	return c.give(a)
}

// freshProject is the project as it is now, so that the warnings of a mock that was just saved are those beside its new
// neighbours.
func (s *Server) freshProject(c *call) *mockbase.Snapshot {
	if fresh, ok := s.Catalog.Project(c.project.Project.ID); ok {
		return fresh
	}
	return c.project
}

// mockAnswer shows one mock of a project.
func (s *Server) mockAnswer(c *call, in *mockbase.Snapshot, m *mockbase.Mock, stats mockStats) (*answer, error) {
	a := (&answer{status: http.StatusOK, mediaType: typeJSON, header: http.Header{}}).versioned(m.Version)
	body := appendMembers(m.Document, encode(s.extra(c, in, m, stats)))
	if c.offer != typeYAML {
		a.body = append(body, '\n')
		return a, nil
	}
	var err error
	a.mediaType = typeYAML
	a.body, err = mockbase.EncodeMockYAML(body)
	return a, err
}

// shortened cuts the long bodies of a mock's responses, and tells whether there were any. Text and base64 are cut, a
// JSON body that is too long is left out: part of it would be none.
func shortened(document json.RawMessage) (json.RawMessage, bool) {
	node, err := stored(document)
	if err != nil {
		return document, false
	}
	cut := false
	for _, name := range []string{"response", "responses"} {
		answers := node.Find(name)
		switch {
		case answers == nil:
		case answers.Kind == mockbase.NodeList:
			for _, answer := range answers.Items {
				cut = shortenResponse(answer) || cut
			}
		default:
			cut = shortenResponse(answers) || cut
		}
	}
	return node.JSON(), cut
}

func shortenResponse(answer *mockbase.Node) bool {
	cut := false
	kept := answer.Members[:0]
	for _, m := range answer.Members {
		switch {
		case m.Key == "json" && len(m.Value.JSON()) > longBody:
			cut = true
			continue
		case (m.Key == "text" || m.Key == "base64") && len(m.Value.Text) > longBody:
			m.Value = &mockbase.Node{Kind: mockbase.NodeText, Text: cutText(m.Value.Text)}
			cut = true
		}
		kept = append(kept, m)
	}
	answer.Members = kept
	return cut
}

// cutText is the beginning of a text, without half a character at the end.
func cutText(text string) string {
	text = text[:longBody]
	for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	if r, _ := utf8.DecodeLastRuneInString(text); r == utf8.RuneError {
		text = text[:len(text)-1]
	}
	return text
}
