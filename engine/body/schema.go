package body

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/internal/schemawork"
)

// schema compiles a JSON Schema (rule H13).
func (k *compiler) schema() {
	if k.match.Schema == nil {
		return
	}
	document, err := jsonvalue.Parse(k.match.Schema, jsonvalue.Limits{})
	if err != nil {
		k.wrong(mockbase.FieldSyntax, "the schema cannot be read: "+err.Error(), "schema")
		return
	}
	if document.Kind() == jsonvalue.String {
		k.wrong(mockbase.FieldReference, "the schema is the name of a file, which the server does not read: write the schema itself", "schema")
		return
	}
	schema, place, err := CompileSchema(document)
	if err != nil {
		k.wrong(mockbase.FieldSyntax, err.Error(), append([]string{"schema"}, place...)...)
		return
	}
	k.add(check{
		name: "schema", stated: document.Preview(maxShown),
		holds: func(m *Message) bool {
			value, err := m.JSON()
			return err == nil && schema.validate(m, value) == nil
		},
		explain: func(m *Message) mockbase.MissedPart {
			value, err := m.JSON()
			if err != nil {
				return mockbase.MissedPart{Operator: "schema", Expected: "a valid document", Actual: "not JSON: " + err.Error()}
			}
			return missedSchema(value, schema.validate(m, value))
		},
	})
}

// missedSchema names the place in the document.
func missedSchema(value *jsonvalue.Value, err error) mockbase.MissedPart {
	missed := mockbase.MissedPart{Name: "schema", Operator: "schema", Expected: "a valid document", Actual: value.Preview(maxShown)}
	invalid, ok := errors.AsType[*SchemaError](err)
	if !ok {
		missed.Actual = err.Error()
		return missed
	}
	missed.Operator, missed.Expected = invalid.Keyword, cut(invalid.Message)
	if len(invalid.Path) > 0 {
		missed.Name += " " + cut(jsonvalue.Pointer(invalid.Path...))
	}
	if at, ok := value.At(invalid.Path...); ok {
		missed.Actual = at.Preview(maxShown)
	}
	return missed
}

// Schema is a compiled JSON Schema. It is immutable and safe for concurrent use.
type Schema struct {
	compiled *schemawork.Schema
}

// SchemaError says why a document is invalid.
type SchemaError struct {
	// Path is the place in the document, name by name.
	Path []string
	// Keyword is the keyword of the schema that fails there.
	Keyword string
	Message string
}

// Error returns the place and what is wrong there.
func (e *SchemaError) Error() string {
	if len(e.Path) == 0 {
		return e.Message
	}
	return "at " + jsonvalue.Pointer(e.Path...) + ": " + e.Message
}

// nowhere loads no schema: neither files nor other hosts are asked (rule H13).
type nowhere struct{}

var _ jsonschema.URLLoader = nowhere{}

// Load refuses every address.
func (nowhere) Load(address string) (any, error) {
	return nil, fmt.Errorf("%s is not within the schema, and nothing else is read", address)
}

// schemaAddress is what a schema without an $id is called.
const schemaAddress = "mockbase:///schema"

// CompileSchema compiles a schema of draft 2020-12, or of the draft that $schema names. Formats are not asserted. The
// error comes with the place in the schema, name by name.
func CompileSchema(document *jsonvalue.Value) (schema *Schema, place []string, err error) {
	if err := moderate(document); err != nil {
		return nil, nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(nowhere{})
	root := document.Any()
	dropFormats(root)
	if err := compiler.AddResource(schemaAddress, root); err != nil {
		return nil, nil, fmt.Errorf("the schema does not compile: %s", shorten(err))
	}
	compiled, err := compiler.Compile(schemaAddress)
	if err == nil {
		made := &Schema{schemawork.Of(compiled, anchored(compiler, document)...)}
		if err := made.endless(); err != nil {
			return nil, nil, err
		}
		return made, nil, nil
	}
	if wrong, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if invalid, ok := errors.AsType[*jsonschema.ValidationError](wrong.Err); ok {
			leaf := deepest(invalid)
			return nil, leaf.InstanceLocation, fmt.Errorf("the schema is invalid: %s", explainLeaf(leaf))
		}
	}
	return nil, nil, fmt.Errorf("the schema does not compile: %s", shorten(err))
}

// endless refuses a schema that refers to itself at the same place of a document, so that no document is ever valid: a
// value of each type is tried.
func (s *Schema) endless() error {
	for _, probe := range []any{nil, true, json.Number("0"), "", []any{}, map[string]any{}} {
		invalid, ok := errors.AsType[*jsonschema.ValidationError](s.compiled.Validate(probe))
		if ok && refersToItself(invalid) {
			return errEndless
		}
	}
	return nil
}

var errEndless = errors.New("the schema refers to itself without end: a reference has to lead to another place of the document, such as an item or a property")

func refersToItself(e *jsonschema.ValidationError) bool {
	_, cycle := e.ErrorKind.(*kind.RefCycle)
	return cycle || slices.ContainsFunc(e.Causes, refersToItself)
}

// shorten shows an error without the name that the schema has here.
func shorten(err error) string {
	return cut(strings.ReplaceAll(err.Error(), schemaAddress, ""))
}

// anchored compiles the parts of a schema that dynamic references may mean, wherever they stand.
func anchored(compiler *jsonschema.Compiler, document *jsonvalue.Value) []*jsonschema.Schema {
	var found []*jsonschema.Schema
	var look func(v *jsonvalue.Value, path []string)
	look = func(v *jsonvalue.Value, path []string) {
		if _, ok := v.Member("$dynamicAnchor"); ok {
			// What is no schema, such as a value of an enum, does not compile.
			fragment := url.URL{Fragment: jsonvalue.Pointer(path...)}
			if schema, err := compiler.Compile(schemaAddress + fragment.String()); err == nil {
				found = append(found, schema)
			}
		}
		for i, item := range v.Items() {
			look(item, append(path, strconv.Itoa(i)))
		}
		for name, member := range v.Members() {
			look(member, append(path, name))
		}
	}
	look(document, nil)
	return found
}

// Validate returns nil for a valid document, a [*SchemaError] for another, and an error for a document whose numbers are
// too large to be checked exactly or that would take too much work.
func (s *Schema) Validate(v *jsonvalue.Value) error {
	if err := moderate(v); err != nil {
		return err
	}
	return s.validatePlain(v.Any())
}

// validate is [Schema.Validate] for the JSON of a body.
func (s *Schema) validate(m *Message, v *jsonvalue.Value) error {
	plain, err := m.schemaForm(v)
	if err != nil {
		return err
	}
	return s.validatePlain(plain)
}

func (s *Schema) validatePlain(plain any) error {
	err := s.compiled.Validate(plain)
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		leaf := deepest(invalid)
		return &SchemaError{Path: leaf.InstanceLocation, Keyword: keyword(leaf), Message: explainLeaf(leaf)}
	}
	return err
}

// deepest follows the first cause down to what failed itself.
func deepest(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	return e
}

func explainLeaf(e *jsonschema.ValidationError) string {
	return e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
}

// keyword is the last of the keywords that lead to a failure.
func keyword(e *jsonschema.ValidationError) string {
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	return "schema"
}

// errNumber tells that a number has more digits than are checked: the library writes them all out.
var errNumber = errors.New("too large: a number has more than 1,000 digits")

// moderate refuses numbers that take more than a thousand digits to write out.
func moderate(v *jsonvalue.Value) error {
	const most = 1_000
	if v.Kind() == jsonvalue.Number {
		n, _ := jsonvalue.ParseDecimal(v.Text())
		if magnitude := n.Magnitude(); len(v.Text()) > most || magnitude > most || magnitude < -most {
			return errNumber
		}
		return nil
	}
	for _, item := range v.Items() {
		if err := moderate(item); err != nil {
			return err
		}
	}
	for _, member := range v.Members() {
		if err := moderate(member); err != nil {
			return err
		}
	}
	return nil
}

// dropFormats takes the keyword format out of a schema: drafts before 2019-09 assert it.
func dropFormats(schema any) {
	switch s := schema.(type) {
	case []any:
		for _, item := range s {
			dropFormats(item)
		}
	case map[string]any:
		if _, ok := s["format"].(string); ok {
			delete(s, "format")
		}
		for key, value := range s {
			dropFormatsBelow(key, value)
		}
	}
}

func dropFormatsBelow(key string, value any) {
	switch key {
	case "const", "enum", "default", "examples":
		// These are values and no schemas.
	case "properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas":
		named, _ := value.(map[string]any)
		for _, schema := range named {
			dropFormats(schema)
		}
	default:
		dropFormats(value)
	}
}
