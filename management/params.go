package management

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// checkQuery refuses parameters that the route does not know, and such as are given twice (rule M-8).
func checkQuery(c *call) error {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return &mockbase.Error{Code: mockbase.CodeInvalidParameter, Message: "the query cannot be read", Hint: "write % and ; as %25 and %3B", Err: err}
	}
	var faults mockbase.Faults
	for _, name := range sortedKeys(values) {
		switch {
		case !slices.Contains(c.route.query, name) && !c.route.foreignQuery:
			faults.Append(mockbase.FieldError{
				Pointer: queryPointer(name), Code: mockbase.FieldUnknownKey, Detail: "unknown parameter " + shown(name),
				Suggestion: mockbase.Suggest(name, c.route.query),
			})
		case len(values[name]) > 1:
			faults.Add(nil, queryPointer(name), mockbase.FieldDuplicateKey, "the parameter %s is given %d times", name, len(values[name]))
		}
	}
	return invalidParameters(&faults)
}

func sortedKeys(values url.Values) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// queryPointer names a parameter in a field error. There is no body that it could be mistaken for.
func queryPointer(name string) string {
	return "#/query/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

func invalidParameters(faults *mockbase.Faults) error {
	fields := faults.Fields()
	if len(fields) == 0 {
		return nil
	}
	message := fields[0].Detail
	if hint := fields[0].Suggestion; hint != "" {
		message += ", did you mean " + hint
	}
	return &mockbase.Error{Code: mockbase.CodeInvalidParameter, Message: message, Fields: fields}
}

// params reads the values of a query and collects their faults.
type params struct {
	values url.Values
	// list names the list that is asked for.
	list   string
	faults mockbase.Faults
}

// params returns a reader of the request's query, which checkQuery has passed.
func (c *call) params() *params {
	return &params{values: c.QueryParams(), list: c.listName()}
}

func (p *params) err() error { return invalidParameters(&p.faults) }

func (p *params) text(name string) string { return p.values.Get(name) }

func (p *params) fault(name string, code mockbase.Code, format string, args ...any) {
	p.faults.Add(nil, queryPointer(name), code, format, args...)
}

// flag reads a switch: its name alone and true are on, false and absence are off.
func (p *params) flag(name string) bool {
	if !p.values.Has(name) {
		return false
	}
	switch value := p.text(name); value {
	case "", "true":
		return true
	case "false":
		return false
	default:
		p.fault(name, mockbase.FieldEnum, "%s is true or false, not %s", name, shown(value))
		return false
	}
}

// number reads a whole number between least and most.
func (p *params) number(name string, least, most, otherwise int) int {
	value := p.text(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		p.fault(name, mockbase.FieldRange, "%s is a whole number from %d to %d, not %s", name, least, most, shown(value))
		return otherwise
	}
	return n
}

// moment reads a time.
func (p *params) moment(name string) time.Time {
	value := p.text(name)
	if value == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		p.fault(name, mockbase.FieldPattern, "%s is a time like 2026-03-01T12:00:00.000Z, not %s", name, shown(value))
	}
	return at
}

// choice reads one of a few values; "" when it is not given.
func (p *params) choice(name string, known []string) string {
	value := p.text(name)
	if value == "" || slices.Contains(known, value) {
		return value
	}
	p.faults.Append(mockbase.FieldError{
		Pointer: queryPointer(name), Code: mockbase.FieldEnum, Detail: name + " knows no " + shown(value) + ": write one of " + strings.Join(known, ", "),
		Suggestion: mockbase.Suggest(value, known),
	})
	return ""
}

// slug reads a name.
func (p *params) slug(name string) string {
	value := p.text(name)
	if p.values.Has(name) && !mockbase.ValidSlug(value) {
		p.fault(name, mockbase.FieldPattern, "%s is 1 to 64 lower-case letters, digits and hyphens, not %s", name, shown(value))
	}
	return value
}
