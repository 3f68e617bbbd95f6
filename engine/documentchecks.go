package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// checkDocuments lists what of documents this engine cannot act on, or cannot read.
func (e *Engine) checkDocuments(u *refusals, c *mockbase.Config) {
	list := c.Documents
	if e.options.Describe == nil {
		u.refuseIf(len(list) > 0, "#/documents")
		return
	}
	for i := range list {
		at, d := "#/documents/"+strconv.Itoa(i), &list[i]
		u.refuseIf(d.URL != "", at+"/url")
		e.checkDocumentLimits(u, c, i)
		if d.URL != "" || d.File == "" && len(d.Inline) == 0 {
			continue // it is refused above, or could not be read
		}
		if _, err := e.describe(d); err != nil {
			for _, f := range documentFaults(at, d, err) {
				u.faults.Append(f)
			}
		}
	}
}

// checkDocumentLimits notes what is wrong with the limits of a document.
func (e *Engine) checkDocumentLimits(u *refusals, c *mockbase.Config, i int) {
	at, own := "#/documents/"+strconv.Itoa(i), &c.Documents[i]
	limits := append([]mockbase.DocumentOperation{{RateLimit: own.RateLimit}}, own.Operations...)
	s, err := e.compileSettings(c, &mockbase.Faults{})
	for n, l := range limits {
		pointer := at + "/rateLimit"
		if n > 0 {
			pointer = at + "/operations/" + mockbase.PointerToken(l.Name) + "/rateLimit"
		}
		if err == nil {
			u.refuseIf(limited(l.RateLimit) && s.limits == nil, pointer)
			b := &limitsBuilder{config: c, settings: s, owner: "document", name: own.Name, faults: &u.faults}
			b.build(l.RateLimit, pointer)
		}
		if l.RateLimit != nil {
			// Limits are asked before the document sees the request.
			u.refuseIf(slices.ContainsFunc(l.RateLimit.Limits, func(l mockbase.Limit) bool {
				return l.Policy != nil && l.Policy.AfterAuth
			}), pointer+"/after")
		}
	}
}

// documentWarnings lists what is odd about the documents of a configuration.
func (e *Engine) documentWarnings(list []mockbase.Document) []mockbase.FieldError {
	var found []mockbase.FieldError
	if e.options.Describe == nil {
		return nil
	}
	for i := range list {
		at := "#/documents/" + strconv.Itoa(i)
		if list[i].File != "" {
			found = append(found, e.fileWarnings(at, &list[i])...)
			continue
		}
		d, err := e.describe(&list[i])
		if err != nil {
			continue
		}
		found = append(found, unknownOperations(at, &list[i], d)...)
		for _, w := range d.Warnings() {
			w.Pointer, w.Line, w.Column = at+"/inline"+strings.TrimPrefix(w.Pointer, "#"), 0, 0
			found = append(found, w)
		}
	}
	return found
}

// unknownOperations warns of options for operations that a document does not have.
func unknownOperations(at string, source *mockbase.Document, d Description) []mockbase.FieldError {
	if len(source.Operations) == 0 {
		return nil
	}
	names := make([]string, d.Operations())
	for op := range names {
		names[op] = d.Name(op)
	}
	var found []mockbase.FieldError
	for _, own := range source.Operations {
		if slices.Contains(names, own.Name) {
			continue
		}
		f := mockbase.FieldError{
			Pointer: at + "/operations/" + mockbase.PointerToken(own.Name), Code: mockbase.WarningUnused, Suggestion: mockbase.Suggest(own.Name, names),
			Detail: "the document has no operation " + quoted(own.Name) + ": its options have no effect",
		}
		if f.Suggestion != "" {
			f.Detail += ", did you mean " + quoted(f.Suggestion) + "?"
		}
		found = append(found, f)
	}
	return found
}

// fileWarnings lists what is odd about a document below the files root. A reference that leads nowhere is told once.
func (e *Engine) fileWarnings(at string, source *mockbase.Document) []mockbase.FieldError {
	joined, err := e.joinDocument(source.File)
	if err != nil {
		return nil
	}
	d, err := e.describeText(source, joined.Text)
	if err != nil {
		return nil
	}
	found := unknownOperations(at, source, d)
	broken := map[string]bool{}
	for _, w := range joined.Warnings {
		broken[w.Pointer] = broken[w.Pointer] || w.Code == mockbase.FieldReference
		found = append(found, fileFault(at, w.Code, joined.Place(w), w.Detail))
	}
	for _, w := range d.Warnings() {
		if w.Code != mockbase.FieldReference || !broken[w.Pointer] {
			w.Line, w.Column = 0, 0
			found = append(found, fileFault(at, w.Code, joined.Place(w), w.Detail))
		}
	}
	return found
}
