package management

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
)

// The formats of traffic; lines are those that the traffic itself is offered in.
const (
	formatHAR   = "har"
	formatLines = "ndjson"
)

// exportFormats are the formats that M-163 names, and that of lines.
func exportFormats() []string {
	names := []string{formatHAR, formatLines}
	for _, f := range interchange.ExportFormats() {
		names = append(names, string(f))
	}
	return names
}

func isTraffic(format string) bool { return format == formatHAR || format == formatLines }

// exportFilters are the parameters of the route: those of the traffic, and those of a definition.
func exportFilters() []string { return append(trafficFilters(), "format", "as", "tag", "warnings") }

// export hands out a project in another format (M-163). An archive of traffic needs a token that may read traffic, everything
// else one that may read mocks; the route itself asks for neither.
func (s *Server) export(c *call) error {
	need := scopeMocksRead
	if isTraffic(c.QueryParam("format")) {
		need = scopeTrafficRead
	}
	if !c.caller.has(need) {
		return insufficientScope(need)
	}
	p := c.params()
	filter := trafficFilter(p)
	onlyWarnings := p.flag("warnings")
	if err := p.err(); err != nil {
		return err
	}
	format := p.text("format")
	if faults := exportFaults(p, format); len(faults) > 0 {
		return mockbase.Invalid(faults)
	}
	if !isTraffic(format) {
		return s.exportDefinition(c, p, interchange.Format(format), onlyWarnings)
	}
	c.mask(&filter)
	c.header().Set(headerWarnings, "0")
	if format == formatLines {
		c.header().Set("Content-Disposition", `attachment; filename="`+c.project.Project.Slug+`.ndjson"`)
		return s.answerLines(c, filter)
	}
	return s.answerHAR(c, filter)
}

// headerWarnings counts what an export could not say.
const headerWarnings = "Mockbase-Warnings"

// exportFaults are the values of parameters that do not go together, each with what to write instead.
func exportFaults(p *params, format string) []mockbase.FieldError {
	var faults mockbase.Faults
	wrong := func(name string, code mockbase.Code, detail string) {
		faults.Add(nil, queryPointer(name), code, "%s", detail)
	}
	known := strings.Join(exportFormats(), ", ")
	switch {
	case format == "":
		wrong("format", mockbase.FieldRequired, "say what to write with format: one of "+known)
		return faults.Fields()
	case !slices.Contains(exportFormats(), format):
		faults.Append(mockbase.FieldError{
			Pointer: queryPointer("format"), Code: mockbase.FieldEnum, Suggestion: mockbase.Suggest(format, exportFormats()),
			Detail: "format knows no " + shown(format) + ": write one of " + known,
		})
		return faults.Fields()
	}
	if as := p.text("as"); p.values.Has("as") && !slices.Contains(notations(format), as) {
		wrong("as", mockbase.FieldEnum, "the format "+format+" cannot be written as "+shown(as)+": leave as out, or write "+strings.Join(notations(format), " or "))
	}
	if isTraffic(format) {
		for _, name := range []string{"tag", "warnings"} {
			if p.values.Has(name) {
				wrong(name, mockbase.FieldConflict, name+" is about mocks, and "+format+" holds recorded exchanges: leave it out, or filter with mock")
			}
		}
		return faults.Fields()
	}
	for _, name := range trafficFilters() {
		if name != "mock" && p.values.Has(name) {
			wrong(name, mockbase.FieldConflict, name+" filters recorded exchanges, and "+format+" holds mocks: leave it out, or filter with tag or mock")
		}
	}
	return faults.Fields()
}

// notations are what a format can be written as.
func notations(format string) []string {
	switch format {
	case formatHAR:
		return []string{string(mockbase.FormatJSON)}
	case formatLines:
		return []string{formatLines}
	}
	var names []string
	for _, as := range interchange.ExportNotations(interchange.Format(format)) {
		names = append(names, string(as))
	}
	return names
}

// exportedLosses is what an export could not say.
type exportedLosses struct {
	Items []interchange.Loss `json:"items"`
}

// exportDefinition answers with the mocks in another format, or with what that format cannot say of them.
func (s *Server) exportDefinition(c *call, p *params, format interchange.Format, onlyWarnings bool) error { //nolint:revive // the parameter of the query
	c.header().Add("Vary", "Accept")
	o := interchange.ExportOptions{
		Format: format, As: mockbase.Format(p.text("as")), Tag: p.text("tag"), Mock: p.text("mock"),
		BaseURL: s.mocksURL(c.Request(), c.project.Project.Slug),
	}
	if o.As == "" {
		o.As = c.accepted(format)
	}
	project := *c.project
	project.Project = withoutSecrets(c.project.Project)
	made, err := interchange.Export(c.ctx(), &project, o)
	if err != nil {
		return err //nolint:wrapcheck // it is for the caller as it is
	}
	c.header().Set(headerWarnings, strconv.Itoa(len(made.Losses)))
	if onlyWarnings {
		return c.json(http.StatusOK, exportedLosses{made.Losses})
	}
	c.header().Set("Content-Disposition", `attachment; filename="`+made.FileName+`"`)
	c.bytes(http.StatusOK, made.MediaType, made.Text)
	return nil
}

// accepted is the notation that the caller accepts most of those that the format has.
func (c *call) accepted(format interchange.Format) mockbase.Format {
	field := strings.Join(c.Request().Header.Values("Accept"), ",")
	best, most := mockbase.Format(""), 0.0
	for _, as := range interchange.ExportNotations(format) {
		if q := quality(field, "application/"+string(as)); q > most {
			best, most = as, q
		}
	}
	return best
}
