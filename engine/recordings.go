package engine

import (
	"net/http"
	"slices"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/proxy"
	"github.com/mockbase/mockbase/engine/tape"
)

// MockRecorder makes mocks of what passes through proxies (rule T15). Record must not block; its error says why the
// exchange is not recorded.
type MockRecorder interface {
	Record(t *tape.Take) error
}

// The values of record in a proxy; everything else records nothing.
const (
	recordNew = "new"
	recordAll = "all"
)

// recordRules are those of a proxy that records; nil is one that does not.
type recordRules struct {
	rules   tape.Rules
	onlyNew bool
}

func compileRecord(from *mockbase.Proxy) *recordRules {
	if from.Record != recordNew && from.Record != recordAll {
		return nil
	}
	return &recordRules{rules: tape.Rules{Headers: from.RecordHeaders, Secret: mockbase.IsSecretName}, onlyNew: from.Record == recordNew}
}

// recordsAll tells whether some proxy of the project records everything. Recorded mocks step aside then, so that what they
// could answer is passed on and recorded again (rule T17).
func (p *program) recordsAll() bool {
	return recordsEverything(p.project.Config.Settings.Fallback) ||
		slices.ContainsFunc(p.entries, func(e entry) bool { return e.recordsAll })
}

func recordsEverything(p *mockbase.Proxy) bool { return p != nil && p.Record == recordAll }

// isRecorded tells whether a mock was recorded.
func isRecorded(m *mockbase.Mock) bool { return slices.Contains(m.Tags, tape.Tag) }

// keepFor is how much of an upstream's answer is kept: what is recorded must be whole.
func (c *call) keepFor(p *passing) int {
	if p.record == nil || c.engine.options.Mocks == nil {
		return c.engine.options.RecordCap
	}
	return max(c.engine.options.RecordCap, tape.MaxBody)
}

// takeRecording notes what is to be recorded, as soon as the exchange itself is.
func (c *call) takeRecording(p *passing, header http.Header, result *proxy.Result) {
	if p.record == nil || c.engine.options.Mocks == nil {
		return
	}
	why := ""
	switch {
	case result.Aborted || result.Broken != nil:
		why = "the answer is not whole"
	case result.Tunnelled:
		why = "the connection became a tunnel"
	case result.BodySize > int64(len(result.Body)):
		why = "the answer is too long"
	case c.outcome.unread, c.outcome.receivedSize > int64(len(c.outcome.received)):
		why = "the request body was not kept whole"
	}
	if why != "" {
		c.note("not recorded as a mock: " + why)
		return
	}
	c.taped = &tape.Take{
		ProjectID: c.program.project.ID, Rules: p.record.rules, OnlyNew: p.record.onlyNew, Known: c.program.snapshot,
		Exchange: &tape.Exchange{
			Method: c.request.Method, Path: c.target.path, Query: c.rawQuery, Header: c.header, Body: c.outcome.received,
			Status: result.Status, AnswerHeader: header, AnswerBody: result.Body,
		},
	}
}

// handRecording hands the exchange over to be made a mock of.
func (c *call) handRecording() {
	if c.taped == nil {
		return
	}
	amender, ok := c.engine.options.Journal.(Amender)
	if c.recording != nil && ok {
		projectID, id := c.program.project.ID, c.id()
		c.taped.Failed = func(err error) {
			amender.Amend(projectID, id, func(x *mockbase.Exchange) {
				x.Warnings = append(slices.Clip(x.Warnings), "not recorded as a mock: "+err.Error())
			})
		}
	}
	if err := c.engine.options.Mocks.Record(c.taped); err != nil && c.taped.Failed != nil {
		c.taped.Failed(err)
	}
}
