package openapi

import (
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// Files are the names of the files that a bundled document was joined from, those of examples among them, without the first.
func (s *Source) Files() []string {
	return slices.Concat(s.origins.files, s.others)
}

// Repairs are the warnings that only the texts of the files give rise to: what is compiled of the document does not tell them again.
func (s *Source) Repairs() []mockbase.FieldError {
	return slices.DeleteFunc(s.Warnings(), func(w mockbase.FieldError) bool {
		switch w.Code {
		case mockbase.FieldSyntax, mockbase.FieldDuplicateKey, mockbase.FieldLimit:
			return false
		default:
			return !ofFile(w)
		}
	})
}

// Place finds out where in its own file a fault of the document is. name is that of the first file.
func (s *Source) Place(name string, f mockbase.FieldError) mockbase.FilePlace {
	if f.Line == 0 {
		f = mockbase.LocateIn(s.tree.root, []mockbase.FieldError{f})[0]
	}
	at := mockbase.FilePlace{Line: f.Line, Column: f.Column}
	if at.File, at.Pointer = s.origins.Of(f.Pointer); at.File == "" {
		at.File = name
	}
	return at
}

// Placed gives the faults of a document that was joined from several files their places there; those of any other stay as they are.
func (s *Source) Placed(faults []mockbase.FieldError) []mockbase.FieldError {
	if len(s.Files()) == 0 {
		return faults
	}
	placed := slices.Clone(faults)
	for i := range placed {
		at := s.Place(s.name, placed[i])
		placed[i].Elsewhere, placed[i].Line, placed[i].Column = &at, at.Line, at.Column
	}
	return placed
}

// Findings are the warnings of the files themselves, and those of what was compiled of the document; a reference that leads nowhere
// is told once. The lines of the latter are those of [Source.JSON], and are left out.
func (s *Source) Findings(compiled []mockbase.FieldError) []mockbase.FieldError {
	list := s.Repairs()
	for _, w := range compiled {
		w.Line, w.Column = 0, 0
		list = append(list, w)
	}
	return s.Placed(toldOnce(list))
}

// toldOnce leaves out that a reference leads nowhere where it was told why.
func toldOnce(list []mockbase.FieldError) []mockbase.FieldError {
	broken := map[string]bool{}
	return slices.DeleteFunc(list, func(w mockbase.FieldError) bool {
		if w.Code != mockbase.FieldReference {
			return false
		}
		before := broken[w.Pointer]
		broken[w.Pointer] = before || ofFile(w)
		return before
	})
}

// ofFile tells whether a warning is about a file as a whole.
func ofFile(w mockbase.FieldError) bool { return strings.HasPrefix(w.Detail, "the file ") }

// Origins tell which files the parts of a bundled document come from. The zero value is a document of one file.
type Origins struct {
	// member is the one that holds the other files.
	member string
	files  []string
}

// Origins are those of the document.
func (s *Source) Origins() Origins { return s.origins }

// Of is the file that a place comes from, "" for the first one, and the place's pointer there. The value of an example that is a
// file of its own belongs to the file that names it.
func (o Origins) Of(pointer string) (file, within string) {
	rest, found := strings.CutPrefix(pointer, "#/"+o.member+"/")
	if !found || o.member == "" {
		return "", pointer
	}
	for _, name := range o.files {
		if below, ok := strings.CutPrefix(rest, mockbase.PointerToken(name)); ok && (below == "" || below[0] == '/') {
			return name, "#" + below
		}
	}
	return "", pointer
}
