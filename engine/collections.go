package engine

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/chance"
	"github.com/mockbase/mockbase/engine/collection"
	"github.com/mockbase/mockbase/engine/session"
)

// The names of path parameters in the routes of collections.
const parameterID = "id"

// behindMocks ends the precedence of a collection's routes, so that a mock of equal path and priority wins (rule V1).
const behindMocks = "\x00"

// collect compiles the collections of the project to routes like those of mocks (group V). What former has compiled of
// the same collections is taken over.
func (p *program) collect(former *program) error {
	list := p.project.Config.Collections
	if former != nil && former.settings == p.settings && len(former.lost) == 0 && reflect.DeepEqual(former.project.Config.Collections, list) {
		p.collections, p.collected = former.collections, former.collected
		return nil
	}
	var faults mockbase.Faults
	list, lost := p.settings.seeded(list)
	p.lost, p.collections = lost, collection.Compile(list, &faults)
	b := &collector{lost: lost, set: p.collections, config: &p.project.Config, settings: p.settings, compress: p.project.Config.Settings.Compress, faults: &faults}
	for _, name := range p.collections.Names() {
		b.add(name)
	}
	p.collected = b.routes
	if err := faults.Err(); err != nil {
		return fmt.Errorf("compile collections: %w", err)
	}
	return nil
}

// collector makes the routes of collections.
type collector struct {
	set      *collection.Set
	config   *mockbase.Config
	settings *settings
	compress bool
	faults   *mockbase.Faults
	routes   []*route
	// lost is the sample data that could be read when the definition was saved, and now can't: its collections answer that,
	// and everything else answers as ever.
	lost []seedFault
	// limits are those of the collection under work: all its routes share them.
	limits *limits
}

// add makes the routes of one collection.
func (b *collector) add(name string) {
	c, _ := b.set.Definition(name)
	b.limits = compileCollectionLimits(b.config, b.settings, c, b.faults)
	if c.Singular {
		b.route(c, collection.Resource{Kind: collection.Single, Collection: name}, c.Path)
		return
	}
	one := strings.TrimSuffix(c.Path, "/") + "/{" + parameterID + "}"
	b.route(c, collection.Resource{Kind: collection.All, Collection: name}, c.Path)
	b.route(c, collection.Resource{Kind: collection.One, Collection: name}, one)
	for _, child := range b.set.Children(name) {
		b.route(c, collection.Resource{Kind: collection.Related, Collection: name, Child: child}, one+"/"+child)
	}
}

// route makes the route of one kind of resource. To the rest of the engine it is a mock that stands behind all others. The
// project's defaults are for mocks alone.
func (b *collector) route(c *mockbase.Collection, res collection.Resource, path string) {
	m := &mockbase.Mock{
		ID: "collection/" + c.Name + path, Name: "collection/" + c.Name, Priority: c.Priority,
		Request:   mockbase.RequestMatcher{Methods: res.Kind.Methods(), Path: path},
		Responses: []mockbase.Response{{Name: c.Name, Delay: c.Delay}}, SingleResponse: true,
	}
	var own mockbase.Faults
	r := compileRoute(&mockbase.Config{}, b.settings, m, &own)
	if own.Len() > 0 {
		b.faults.Append(mockbase.FieldError{
			Pointer: "#/collections/" + mockbase.PointerToken(c.Name) + "/path", Code: mockbase.FieldSyntax, Detail: own.Err().Error(),
		})
		return
	}
	// Collections have names and no ids of their own.
	r.ref.ID, r.by, r.readsBody = "", mockbase.AnsweredByCollection, true
	if b.limits != nil {
		r.terms = &terms{limits: b.limits}
	}
	r.precedence += behindMocks
	r.responses[0].reply = &collected{resource: res, settings: b.settings, compress: b.compress, lost: b.lossOf(c.Name)}
	b.routes = append(b.routes, r)
}

// lossOf is why a collection has no sample data to answer with; nil where it has.
func (b *collector) lossOf(name string) *failure {
	for _, f := range b.lost {
		if f.collection == name {
			return badFile("no sample data", "The sample data of collection "+quoted(name)+" is missing: "+f.detail)
		}
	}
	return nil
}

// collected is the reply of a collection. The data is read and written when it is prepared, as states are moved before a
// delay (rule R2).
type collected struct {
	resource collection.Resource
	settings *settings
	compress bool
	// lost is why there is no data; nil where there is.
	lost *failure
}

var _ reply = (*collected)(nil)

func (r *collected) prepare(c *call) (sending, *failure) {
	if r.lost != nil {
		return nil, r.lost
	}
	res := r.resource
	for _, p := range c.pathParameters() {
		if p.name == parameterID {
			res.ID = p.value
		}
	}
	decoded, err := c.bodyMessage().Decoded()
	if err != nil {
		return r.refuse(c, &mockbase.Error{Code: mockbase.CodeUnsupportedMediaType, Message: "the body cannot be decoded: " + err.Error()}), nil
	}
	a := c.data().Serve(res, &collection.Request{
		Method: c.asGet(), Header: c.header, Query: c.parameterPairs(), Body: decoded, Base: c.base(),
		Context: c.request.Context(),
	})
	if a.Problem != nil {
		return r.refuse(c, a.Problem), nil
	}
	return r.compile(a.Status, a.Header, a.Body, "application/json"), nil
}

// compile lays an answer out like that of a mock.
func (r *collected) compile(status int, h http.Header, text []byte, mediaType string) *answer {
	d := draft{
		status: status, kind: mockbase.BodyText, body: text, mediaType: mediaType,
		compress: r.compress, decision: r.settings.decision("collection/" + r.resource.Collection),
	}
	if len(text) == 0 {
		d.kind = mockbase.BodyNone
	}
	for name, values := range h {
		d.headers = append(d.headers, mockbase.Header{Name: name, Values: values})
	}
	return d.compile(r.settings)
}

// refuse answers with a problem. A refusal is what a real server would say, so it is no failure of the answer.
func (r *collected) refuse(c *call, e *mockbase.Error) *answer {
	page, _ := mockbase.ProblemOf(e.Code)
	text := encodeProblem(&problem{
		Type: c.engine.problemType(e.Code), Title: page.Title, Status: page.Status, Detail: sentence(e.Message), Instance: c.id(), Code: e.Code,
		Errors: e.Fields,
	})
	return r.compile(page.Status, http.Header{"Cache-Control": {"no-store"}}, text, "application/problem+json")
}

// sentence begins a message with a capital and ends it with a full stop.
func sentence(message string) string {
	if message == "" {
		return ""
	}
	return strings.ToUpper(message[:1]) + message[1:] + "."
}

// asGet is the method, GET for a HEAD that is derived from it (rule L1).
func (c *call) asGet() string {
	if c.method.name == http.MethodHead {
		return http.MethodGet
	}
	return c.method.name
}

func (c *call) parameterPairs() []collection.Parameter {
	pairs := c.pairs()
	list := make([]collection.Parameter, len(pairs))
	for i, p := range pairs {
		list[i] = collection.Parameter{Name: p.name, Value: p.value}
	}
	return list
}

// base is what the client writes before the paths of mocks: base path, project and session.
func (c *call) base() string {
	location, _, _ := strings.Cut(originForm(rawTarget(c.request)), "?")
	return strings.TrimSuffix(strings.TrimSuffix(location, c.target.path), "/")
}

// dataKey is what sessions keep the data of collections under.
type dataKey struct{}

// sessionData is the data of collections in one session.
type sessionData struct {
	*collection.Data

	// kept tells that the data outlives the session, which ends with the engine.
	kept bool
}

var _ session.Attachment = sessionData{}

// Reset returns to the sample data if that is among the levels (rule R7).
func (d sessionData) Reset(what session.Levels) {
	if what&session.Data != 0 {
		d.Data.Reset()
	}
}

// End lets go of the data.
func (d sessionData) End() {
	if !d.kept {
		d.Data.Reset()
	}
}

// data is the data of the request's session, at the state of the request's program.
func (c *call) data() *collection.Data { return c.program.dataOf(c.session) }

func (p *program) dataOf(s *session.Session) *collection.Data {
	attached := s.Attached(dataKey{}, func() session.Attachment {
		data := collection.NewData(p.collections, func(name string, n int64) string {
			return chance.UUID(chance.Key{Seed: s.Seed(), Session: s.Name(), Mock: name, Purpose: "id", Call: n}.Rand())
		}, s.Clock().Now)
		kept := p.keeper != nil && s.IsDefault()
		if kept {
			projectID, keeper := p.project.ID, p.keeper
			data.Watch(func(name string) { keeper.changed(projectID, data, name) })
		}
		return sessionData{data, kept}
	})
	own, _ := attached.(sessionData)
	own.Adopt(p.collections, p.project.Revision)
	return own.Data
}
