package interchange

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// Format names the tool or notation of a source (rule M-162).
type Format string

// The formats. FormatAuto finds out; the others name what is read.
const (
	FormatAuto       Format = "auto"
	FormatOpenAPI    Format = "openapi"
	FormatPostman    Format = "postman"
	FormatHAR        Format = "har"
	FormatWireMock   Format = "wiremock"
	FormatMockoon    Format = "mockoon"
	FormatMockServer Format = "mockserver"
	FormatSmocker    Format = "smocker"
	FormatHoverfly   Format = "hoverfly"
	FormatJSONServer Format = "json-server"
	FormatCURL       Format = "curl"
	FormatMockBase   Format = "mockbase"
)

// Formats lists every format, [FormatAuto] first.
func Formats() []Format {
	return []Format{
		FormatAuto, FormatOpenAPI, FormatPostman, FormatHAR, FormatWireMock, FormatMockoon, FormatMockServer, FormatSmocker,
		FormatHoverfly, FormatJSONServer, FormatCURL, FormatMockBase,
	}
}

// translation reads a source of one format and adds what it finds to the output. It returns an error, an
// [*mockbase.Error], only when the source as a whole is none of its format.
type translation func(s *source, out *output) error

// formats says who translates what. [FormatOpenAPI] and [FormatMockBase] are no translations: their documents are part of
// a definition, or are one.
func formats(f Format) (translation, bool) {
	switch f {
	case FormatWireMock:
		return wiremock, true
	case FormatMockServer:
		return mockserver, true
	case FormatSmocker:
		return smocker, true
	case FormatHoverfly:
		return hoverfly, true
	case FormatJSONServer:
		return jsonServer, true
	case FormatPostman:
		return postman, true
	case FormatHAR:
		return har, true
	case FormatMockoon:
		return mockoon, true
	case FormatCURL:
		return curl, true
	default:
		return nil, false
	}
}

// Options say how a source is imported.
type Options struct {
	// Format is the format of the source; "" and [FormatAuto] find out.
	Format Format
	// Prefix is put before the path of every mock, such as "/v1"; "" leaves paths alone.
	Prefix string
}

// Result is a translated source.
type Result struct {
	Format Format
	// Title is what the source calls itself, "" if it does not.
	Title string
	// Found counts the entries of the source, those included that could not be translated.
	Found int
	// Warnings are in the order of the source.
	Warnings []Warning

	out *output
}

// Warning is something that the import left out, changed or could not read. The pointer, line and column are those of the
// source.
type Warning struct {
	mockbase.FieldError

	// File is the file of the source, when it has several.
	File string `json:"file,omitempty"`
}

// Import translates files, of which a single one is the usual case. What cannot be translated is a warning of the result.
// The error is a [*mockbase.Error]: of CodeFormatNotRecognised when nothing says what the files are or when the format
// has no translation, of CodeMalformedBody when a text is no document at all, of CodeBodyTooLarge beyond the bounds.
func Import(ctx context.Context, files []File, o Options) (*Result, error) {
	s, err := readSource(files)
	if err != nil {
		return nil, err
	}
	format := o.Format
	if format == "" || format == FormatAuto {
		if format, err = s.detect(); err != nil {
			return nil, err
		}
	}
	translate, ok := formats(format)
	if !ok {
		return nil, unknownFormat(fmt.Sprintf("the format %q cannot be imported this way", format))
	}
	if err := CheckPrefix(o.Prefix); err != nil {
		return nil, err
	}
	out := newOutput(ctx, o.Prefix)
	out.ranked = format.ranked()
	out.warnings = append(out.warnings, s.warnings...)
	if err := translate(s, out); err != nil {
		return nil, err
	}
	out.precede()
	if out.found == 0 && len(out.warnings) == 0 {
		out.warn(value{pointer: "#"}, mockbase.WarningUnused, "the source has no entries: nothing comes of it")
	}
	if err := ctx.Err(); err != nil {
		return nil, &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the import took too long and was ended", Err: err}
	}
	r := &Result{Format: format, Title: out.title, Found: out.found, Warnings: out.warnings, out: out}
	r.settle()
	return r, nil
}

// Detect finds out what files are without translating them. Its error is that of [Import].
func Detect(files []File) (Format, error) {
	s, err := readSource(files)
	if err != nil {
		return "", err
	}
	return s.detect()
}

// CheckPrefix refuses a prefix that would make paths which no request has, with an error of CodeInvalidParameter.
func CheckPrefix(prefix string) error {
	if prefix == "" || strings.HasPrefix(prefix, "/") && !strings.HasSuffix(prefix, "/") && !strings.ContainsAny(prefix, "?#{}*% ") {
		return nil
	}
	return mockbase.Errorf(mockbase.CodeInvalidParameter,
		"the prefix %q is no path: write it like /v1, with a slash before and none behind", prefix)
}

func unknownFormat(message string) *mockbase.Error {
	names := make([]string, 0, len(Formats()))
	for _, f := range Formats()[1:] {
		names = append(names, string(f))
	}
	return &mockbase.Error{
		Code: mockbase.CodeFormatNotRecognised, Message: message,
		Hint: "name its format, one of " + strings.Join(names, ", "),
	}
}

// JSON returns the definition as it stands after [Result.Drop].
func (r *Result) JSON() []byte { return r.out.definition().JSON() }

// Mocks returns how many mocks the definition holds.
func (r *Result) Mocks() int { return len(r.out.mocks) }

// Entries returns how many entries of the definition come from entries of the source: its mocks, and its collections.
func (r *Result) Entries() int {
	n := r.Mocks()
	if collections := r.out.sections["collections"]; collections != nil {
		n += len(collections.members)
	}
	return n
}

// Place returns where the mock of that index came from: its entry of the source, without a detail.
func (r *Result) Place(mock int) Warning {
	if mock < 0 || mock >= len(r.out.mocks) {
		return Warning{}
	}
	from := r.out.mocks[mock].from
	w := Warning{File: from.file, FieldError: mockbase.FieldError{Pointer: from.pointer}}
	if from.node != nil {
		w.Line, w.Column = from.node.Line, from.node.Column
	}
	return w
}

// Definition decodes the definition.
func (r *Result) Definition() (*mockbase.Definition, error) {
	return mockbase.DecodeDefinition(r.JSON(), mockbase.FormatJSON) //nolint:wrapcheck // it is for the caller as it is
}

// Drop leaves out what faults of the definition name, and warns of each: the mock whose pointer they begin with, or the
// entry of another section. It tells whether anything was dropped, so that a caller who checks again comes to an end.
func (r *Result) Drop(faults []mockbase.FieldError) bool {
	dropped := r.out.drop(faults)
	r.Warnings = r.out.warnings
	return dropped
}

// settle drops what the decoder refuses in the whole that it accepted in the parts, such as two limits of one name.
func (r *Result) settle() {
	for {
		_, err := r.Definition()
		known := fieldsOf(err)
		if len(known) == 0 || !r.Drop(known) {
			break
		}
	}
	r.Warnings = r.out.warnings
	slices.SortStableFunc(r.Warnings, func(a, b Warning) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		return a.Line - b.Line
	})
}
