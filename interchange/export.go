package interchange

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// ExportOptions say what of a project is exported, and how.
type ExportOptions struct {
	// Format is one of [ExportFormats].
	Format Format
	// As is the notation; "" is the usual one of the format. [ExportNotations] says which a format has.
	As mockbase.Format
	// Tag and Mock leave out the mocks without this tag or with another name; "" leaves out none.
	Tag, Mock string
	// BaseURL is where the mocks answer, such as "http://127.0.0.1:8080/m/shop"; formats that name a server name it.
	BaseURL string
}

// Exported is a project in another form.
type Exported struct {
	Text []byte
	// MediaType is that of the text, FileName a name that is safe in every file system.
	MediaType, FileName string
	// Losses are in the order of the mocks.
	Losses []Loss
}

// Loss is something of a project that an export leaves out, changes, or can say in parts only.
type Loss struct {
	// Mock is the name of the mock, "" for something of the project itself.
	Mock string `json:"mock,omitempty"`
	// Pointer is the place in the mock's document, or in the definition.
	Pointer string        `json:"pointer"`
	Code    mockbase.Code `json:"code"`
	Detail  string        `json:"detail"`
}

// ExportFormats lists the formats that a definition can be exported in.
func ExportFormats() []Format {
	return []Format{FormatMockBase, FormatOpenAPI, FormatPostman, FormatWireMock}
}

// ExportNotations lists the notations of a format, the usual one first.
func ExportNotations(f Format) []mockbase.Format {
	switch f {
	case FormatMockBase, FormatOpenAPI:
		return []mockbase.Format{mockbase.FormatYAML, mockbase.FormatJSON}
	default:
		return []mockbase.Format{mockbase.FormatJSON}
	}
}

// Export writes a project in another form (rule M-163). What the form cannot say is a loss, never silence, and no mock
// becomes more general by a condition that is left out. The error is a [*mockbase.Error]: of CodeValidationFailed when the
// options name what there is not, of CodeUnavailable when the context ends.
func Export(ctx context.Context, s *mockbase.Snapshot, o ExportOptions) (*Exported, error) {
	mocks, err := o.selected(s)
	if err != nil {
		return nil, err
	}
	e := &exporter{ctx: ctx, out: newOutput(ctx, ""), options: o, project: s.Project, config: &s.Project.Config, mocks: mocks}
	var root *mockbase.Node
	switch o.Format {
	case FormatMockBase:
		return e.definition()
	case FormatOpenAPI:
		root, err = e.openAPI()
	case FormatPostman:
		root, err = e.postman()
	case FormatWireMock:
		root, err = e.wiremock()
	default:
		return nil, mockbase.Errorf(mockbase.CodeValidationFailed, "a project cannot be exported as %q", string(o.Format))
	}
	if err != nil {
		return nil, err
	}
	return e.finish(root)
}

// selected are the mocks that the options ask for.
func (o *ExportOptions) selected(s *mockbase.Snapshot) ([]*mockbase.Mock, error) {
	named := func(m *mockbase.Mock) bool { return o.Mock == "" || m.Name == o.Mock || m.ID == o.Mock }
	var mocks []*mockbase.Mock
	for _, m := range s.Mocks {
		if named(m) && (o.Tag == "" || slices.Contains(m.Tags, o.Tag)) {
			mocks = append(mocks, m)
		}
	}
	switch {
	case len(mocks) > 0 || o.Mock == "" && o.Tag == "":
		return mocks, nil
	case !slices.ContainsFunc(s.Mocks, named):
		return nil, missing("mock", o.Mock, s)
	}
	return nil, missing("tag", o.Tag, s)
}

// missing is the fault that no mock is called so, or has the tag.
func missing(parameter, value string, s *mockbase.Snapshot) error {
	var known []string
	for _, m := range s.Mocks {
		if parameter == "mock" {
			known = append(known, m.Name)
			continue
		}
		known = append(known, m.Tags...)
	}
	var faults mockbase.Faults
	faults.Append(mockbase.FieldError{
		Pointer: "#/query/" + parameter, Code: mockbase.FieldReference, Suggestion: mockbase.Suggest(value, known),
		Detail: fmt.Sprintf("the project has no mock with the %s %s: name one that it has, or leave %s out", wordOf(parameter), quoted(value), parameter),
	})
	return faults.Err()
}

func wordOf(parameter string) string {
	if parameter == "mock" {
		return "name"
	}
	return parameter
}

// exporter writes one project.
type exporter struct {
	ctx     context.Context //nolint:containedctx // It lives as long as one call of Export, whose context it is.
	out     *output
	options ExportOptions
	project *mockbase.Project
	config  *mockbase.Config
	mocks   []*mockbase.Mock
}

// lost tells of what the format cannot say of a value of a mock, or of the project.
func (e *exporter) lost(v value, format string, args ...any) { e.out.lost(v, format, args...) }

// lostSection tells of a part of the definition.
func (e *exporter) lostSection(pointer, format string, args ...any) {
	e.out.lost(value{pointer: "#/" + pointer}, format, args...)
}

// stopped tells that the export has to end.
func (e *exporter) stopped() error {
	if e.ctx.Err() == nil {
		return nil
	}
	return &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the export took too long and was ended", Err: e.ctx.Err()}
}

// losses are what was told of, each once: an answer to every method is written several times.
func (e *exporter) losses() []Loss {
	list := make([]Loss, 0, len(e.out.warnings)+1)
	told := map[Loss]bool{}
	for _, w := range e.out.warnings {
		if l := (Loss{w.File, w.Pointer, w.Code, w.Detail}); !told[l] {
			told[l] = true
			list = append(list, l)
		}
	}
	if n := e.out.silenced; n > 0 {
		list = append(list, Loss{Pointer: "#", Code: codeNotTranslated, Detail: fmt.Sprintf("%d more warnings are not listed", n)})
	}
	return list
}

// finish writes a document in the notation that was asked for.
func (e *exporter) finish(root *mockbase.Node) (*Exported, error) {
	as := cmp.Or(e.options.As, ExportNotations(e.options.Format)[0])
	made := &Exported{MediaType: "application/yaml", Losses: e.losses(), FileName: e.fileName(as)}
	var err error
	if as == mockbase.FormatYAML {
		made.Text, err = mockbase.EncodeMockYAML(root.JSON())
	} else {
		made.MediaType = "application/json"
		var b bytes.Buffer
		err = json.Indent(&b, root.JSON(), "", "  ")
		b.WriteByte('\n')
		made.Text = b.Bytes()
	}
	if err != nil {
		return nil, fmt.Errorf("write export: %w", err)
	}
	return made, nil
}

// fileName is made of the project, the mock and the format. Slugs are safe in every file system.
func (e *exporter) fileName(as mockbase.Format) string {
	parts := []string{slugOr(e.project.Slug, "project")}
	for _, part := range []string{e.options.Mock, e.options.Tag} {
		if part != "" {
			parts = append(parts, slugOr(part, "part"))
		}
	}
	if f := e.options.Format; f != FormatMockBase {
		parts = append(parts, string(f))
	}
	return strings.Join(parts, ".") + "." + string(as)
}

// definition writes the project in MockBase's own format (M-160). Secret variables are left out before.
func (e *exporter) definition() (*Exported, error) {
	as := cmp.Or(e.options.As, mockbase.FormatYAML)
	text, err := mockbase.EncodeDefinition(e.project, e.mocks, as)
	if err != nil {
		return nil, fmt.Errorf("write export: %w", err)
	}
	for _, v := range e.config.Variables {
		if e.project.NoteOf(v.Name).Secret {
			e.out.warn(value{pointer: "#/variables/" + v.Name}, mockbase.WarningUnused, "the secret variable is left out: set it where the definition is applied")
		}
	}
	made := &Exported{Text: text, MediaType: "application/" + string(as), Losses: e.losses(), FileName: e.fileName(as)}
	return made, nil
}
