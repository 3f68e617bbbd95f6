package engine

import (
	"encoding/json"
	"errors"
	"maps"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/template"
)

// veilMask stands in the place of a secret's value.
const veilMask = "********"

// errVeiled stands for a message that is not told.
var errVeiled = errors.New("why is left out, as it would show the value of a secret variable")

// veil masks the secrets among variables; nil where there are none. What is rendered from it holds no secret, whatever the
// functions are that it goes through.
func veil(p *mockbase.Project, variables map[string]json.RawMessage) map[string]json.RawMessage {
	var veiled map[string]json.RawMessage
	for name := range variables {
		if !p.NoteOf(name).Secret {
			continue
		}
		if veiled == nil {
			veiled = maps.Clone(variables)
		}
		veiled[name] = json.RawMessage(`"` + veilMask + `"`)
	}
	return veiled
}

// secretive tells whether what a text is rendered to may hold secrets that the call does not hide anyway.
func (s *script) secretive(c *call) bool {
	return !c.veiled && c.program.veiled != nil && s.template.Uses().Has(template.UsesVariables)
}

// noteVeil notes that a secret was hidden from who asks.
func (s *script) noteVeil(c *call) {
	c.veilUsed = c.veilUsed || c.veiled && c.program.veiled != nil && s.template.Uses().Has(template.UsesVariables)
}

// behindVeil renders the text as if the secrets were masks. What is told of a failure comes from here, so that it holds none
// of them in whatever form.
func (s *script) behindVeil(c *call) (string, error) {
	kept := c.scope()
	c.veiled = true
	defer func() { c.veiled, c.rendering = false, kept }()
	c.rendering = kept.Again(c.variables())
	out, err := s.template.Append(c.request.Context(), nil, c.rendering)
	return string(out), err
}

// shown is what a text was rendered to as it may be shown, "" where that is the text itself.
func (s *script) shown(c *call, text string) string {
	if !s.secretive(c) {
		return ""
	}
	veiled, err := s.behindVeil(c)
	switch {
	case err != nil:
		return veilMask
	case veiled == text:
		return ""
	default:
		return veiled
	}
}

// harmless is an error of a rendering as it may be told to everybody.
func (s *script) harmless(c *call, err error) error {
	if !s.secretive(c) {
		return err
	}
	if _, again := s.behindVeil(c); again != nil {
		return again
	}
	told := &template.ExecError{Line: 1, Message: errVeiled.Error()}
	if failed, ok := errors.AsType[*template.ExecError](err); ok {
		told.Pointer, told.Function, told.Line = failed.Pointer, failed.Function, failed.Line
	}
	return told
}

// readText renders a text and reads it. What cannot be read is told without secrets.
func readText[T any](c *call, s *script, parse func(text string) (T, error)) (T, *failure) {
	var none T
	text, failed := s.text(c)
	if failed != nil {
		return none, failed
	}
	read, err := parse(text)
	if err == nil {
		return read, nil
	}
	if s.secretive(c) {
		veiled, again := s.behindVeil(c)
		if again == nil {
			_, again = parse(veiled)
		}
		if err = again; err == nil {
			err = errVeiled
		}
	}
	return none, badValue(s.what, err)
}
