package engine

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/template"
)

// script is a compiled text of a response, or its JSON document.
type script struct {
	template *template.Template
	// what names the text to a person, such as "header X".
	what string
}

// render appends the output. A failure stops the answer (rule P7).
func (s *script) render(c *call, to []byte) ([]byte, *failure) {
	s.noteVeil(c)
	out, err := s.template.Append(c.request.Context(), to, c.scope())
	if err == nil {
		return out, nil
	}
	err = s.harmless(c, err)
	f := &failure{
		status: http.StatusInternalServerError, code: mockbase.CodeAnswerFailed, title: "The answer cannot be made", own: true,
		detail: "The template of the " + s.what + " fails: " + err.Error() + ".",
	}
	if failed, ok := errors.AsType[*template.ExecError](err); ok {
		f.template = &failedTemplate{Function: failed.Function, Line: failed.Line, Message: failed.Message}
	}
	return nil, f
}

func (s *script) text(c *call) (string, *failure) {
	out, failed := s.render(c, nil)
	return string(out), failed
}

// failedTemplate says in an answer what of a template failed (rule P7).
type failedTemplate struct {
	Function string `json:"function,omitempty"`
	Line     int    `json:"line"`
	Message  string `json:"message"`
}

// scripts are compiled templates by their source, so that the same text is compiled once, and a mock that was checked is
// compiled already when it is published (rule P16).
type scripts struct {
	mu    sync.Mutex
	known map[scriptKey]*template.Template
	bytes int
}

type scriptKey struct {
	source string
	isJSON bool
}

// maxScripts bounds the sources that are kept, in bytes. Templates in use live on without it.
const maxScripts = 16 << 20

func (s *scripts) compile(key scriptKey) (*template.Template, error) {
	s.mu.Lock()
	known := s.known[key]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	compiled, err := compileScript(key)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes += len(key.source); s.known == nil || s.bytes > maxScripts {
		s.known, s.bytes = map[scriptKey]*template.Template{}, len(key.source)
	}
	s.known[key] = compiled
	return compiled, nil
}

// syntaxFault is the fault of a text that is no template.
func syntaxFault(pointer string, err error) mockbase.FieldError {
	fault := mockbase.FieldError{Pointer: pointer, Code: mockbase.FieldSyntax, Detail: err.Error()}
	if wrong, ok := errors.AsType[*template.SyntaxError](err); ok {
		fault.Pointer += wrong.Pointer
		fault.Inside = mockbase.TextPlace{Line: wrong.Line, Column: wrong.Column}
	}
	return fault
}

func compileScript(key scriptKey) (*template.Template, error) {
	if key.isJSON {
		return template.CompileJSON([]byte(key.source))
	}
	return template.Compile(key.source)
}

// script compiles a text of the response, if it is one that is rendered and holds an action; nil otherwise. The pointer is
// relative to the response.
func (w *workbench) script(text, pointer, what string) *script {
	return w.compileScript(scriptKey{source: text}, pointer, what)
}

func (w *workbench) compileScript(key scriptKey, pointer, what string) *script {
	if !w.renders || !strings.Contains(key.source, "{{") {
		return nil
	}
	compiled, err := w.settings.scripts.compile(key)
	if err != nil {
		w.faults.Append(syntaxFault(w.at+pointer, err))
		return nil
	}
	w.uses |= compiled.Uses()
	return &script{template: compiled, what: what}
}
