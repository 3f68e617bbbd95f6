package openapi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/schemawork"
)

// The addresses of compiled schemas. The compiler takes time that grows with the square of what one text leads to, so that a
// reference leads to a stand-in within the text; the stand-ins are tied to their schemas once all are compiled. What has an address
// of json-schema.org is not held against the schema of schemas first, which takes as long as everything else: the translator writes
// nothing that it would refuse.
const (
	baseOfSchemas = "https://json-schema.org/mockbase/"
	standIns      = "$defs"
)

// mostTogether is how many schemas are compiled as one text; those within it that are more become texts of their own.
const mostTogether = 256

// address names a schema for one direction.
func (s *schema) address(d direction) string {
	return baseOfSchemas + strconv.Itoa(int(d)) + "/" + strconv.Itoa(s.number)
}

// standIn names the stand-in of a schema in the text of another.
func (s *schema) standIn() string { return "#/" + standIns + "/" + strconv.Itoa(s.number) }

// schemaLoader gives the compiler what addresses name. The schemas are locked while it compiles.
type schemaLoader struct {
	schemas *schemas
	// leads are the schemas that the text refers to, made counts those in it.
	leads []*schema
	made  int
}

// Load implements jsonschema.URLLoader.
func (l *schemaLoader) Load(address string) (any, error) {
	own, d, ok := l.schemas.addressed(address)
	if !ok {
		return nil, fmt.Errorf("load schema %q: it is no part of the document", address)
	}
	t := &translator{schemas: l.schemas, direction: d}
	made := t.schema(own.place, 0)
	l.leads, l.made = t.leads, t.made
	if text, object := made.(map[string]any); object && len(t.leads) > 0 {
		held := make(map[string]any, len(t.leads))
		for _, to := range t.leads {
			// A schema without any keyword would be taken for one that allows everything, and never look at what it is tied to.
			held[strconv.Itoa(to.number)] = map[string]any{"$comment": ""}
		}
		text[standIns] = held
	}
	return made, nil
}

func (s *schemas) addressed(address string) (*schema, direction, bool) {
	rest, ok := strings.CutPrefix(address, baseOfSchemas)
	way, number, cut := strings.Cut(rest, "/")
	d, err := strconv.ParseUint(way, 10, 2)
	n, failed := strconv.Atoi(number)
	if !ok || !cut || err != nil || failed != nil || d > uint64(toClient) || n < 0 || n >= len(s.list) {
		return nil, 0, false
	}
	return s.list[n], direction(d), true
}

// validator compiles the schema for a direction, once.
func (s *schema) validator(d direction) (*schemawork.Schema, error) {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	if s.compiled[d] == nil && s.failed[d] == nil {
		s.owner.compile(s, d)
		if s.failed[d] == nil {
			own, work := s.owner.family.Of(s.text[d])
			s.compiled[d] = own
			s.owner.steps.Add(int64(work))
		}
	}
	return s.compiled[d], s.failed[d]
}

// tie is a stand-in in the text of one schema, and the schema that it stands for.
type tie struct {
	from *jsonschema.Schema
	to   *schema
}

// compile compiles a schema and all that it leads to, each once. Those that were compiled before are tied already, so that
// nothing that is in use changes.
func (s *schemas) compile(first *schema, d direction) {
	var links []tie
	for list := []*schema{first}; len(list) > 0; {
		own := list[len(list)-1]
		list = list[:len(list)-1]
		if own.text[d] != nil || own.failed[d] != nil {
			continue
		}
		made, err := s.compileOne(own, d)
		if err != nil {
			own.failed[d] = err
			s.source.notes.add(own.place, mockbase.FieldSyntax, "the schema cannot be compiled, so nothing is checked by it: "+err.Error())
			continue
		}
		for _, l := range made {
			list = append(list, l.to)
		}
		links = append(links, made...)
	}
	for _, l := range links {
		l.from.Ref = l.to.text[d]
	}
}

// compileOne compiles the text of one schema. The compiler keeps all texts that it has seen, so that each has its own.
func (s *schemas) compileOne(own *schema, d direction) ([]tie, error) {
	loader := &schemaLoader{schemas: s}
	compiler := newCompiler(s.source, loader)
	made, err := compiler.Compile(own.address(d))
	if err != nil {
		return nil, err
	}
	s.texts, s.longest = s.texts+1, max(s.longest, loader.made)
	own.text[d] = made
	links := make([]tie, 0, len(loader.leads))
	for _, to := range loader.leads {
		between, err := compiler.Compile(own.address(d) + to.standIn())
		if err != nil {
			return nil, err
		}
		links = append(links, tie{between, to})
	}
	return links, nil
}

func newCompiler(s *source, loader *schemaLoader) *jsonschema.Compiler {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseLoader(loader)
	compiler.UseRegexpEngine(s.lenientRegexp)
	registerFormats(compiler)
	return compiler
}
