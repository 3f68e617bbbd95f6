package management

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// serverSettings are the settings of a project that are no part of a definition (rule M-61): those that are served, and
// those that are known and refused.
func serverSettings() []string {
	return []string{"persistTraffic", "requireIfMatch", "redaction", "retention", "redactHeaders", "upstreamAllow"}
}

// redactionStandard is the one redaction that there is: secrets are masked before they are kept (rule M-81).
const redactionStandard = "standard"

// settingsView is the settings member of a project: what the definition says, and the server's own.
func settingsView(p *mockbase.Project) json.RawMessage {
	own := encode(struct {
		PersistTraffic bool   `json:"persistTraffic"`
		RequireIfMatch bool   `json:"requireIfMatch"`
		Redaction      string `json:"redaction"`
	}{p.PersistTraffic, p.RequireIfMatch, redactionStandard})
	return appendMembers(p.Config.Source["settings"], own)
}

// appendMembers puts the members of one JSON object behind those of another, which may be nil.
func appendMembers(object, more []byte) json.RawMessage {
	object, more = bytes.TrimSpace(object), bytes.TrimSpace(more)
	if len(object) <= len("{}") {
		return more
	}
	if len(more) <= len("{}") {
		return object
	}
	joined := slices.Clone(object)
	joined[len(joined)-1] = ','
	return append(joined, more[1:]...)
}

// readSettings reads the member settings into the project: the server's own members here, the others as those of a
// definition. Without the member all of them are at their defaults.
func (r *projectReader) readSettings() {
	node := r.fields.Node("settings")
	if node == nil {
		node = &mockbase.Node{Kind: mockbase.NodeObject}
	}
	if node.Kind != mockbase.NodeObject {
		r.fields.Fault("settings", mockbase.FieldType, "must be an object")
		return
	}
	own, rest := &mockbase.Node{Kind: mockbase.NodeObject}, &mockbase.Node{Kind: mockbase.NodeObject}
	for _, m := range node.Members {
		if slices.Contains(serverSettings(), m.Key) {
			own.Members = append(own.Members, m)
		} else {
			rest.Members = append(rest.Members, m)
		}
	}
	r.readServerSettings(mockbase.NewFields(own, "#/settings", r.faults))
	source := maps.Clone(r.project.Config.Source)
	if source == nil {
		source = map[string]json.RawMessage{}
	}
	delete(source, "settings")
	if len(rest.Members) > 0 {
		source["settings"] = rest.JSON()
	}
	config, err := mockbase.DecodeConfig(source)
	if err != nil {
		r.reportSettings(err)
		return
	}
	r.project.Config = config
}

func (r *projectReader) readServerSettings(f *mockbase.Fields) {
	r.project.PersistTraffic, r.project.RequireIfMatch = false, false
	f.Bool("persistTraffic", &r.project.PersistTraffic)
	f.Bool("requireIfMatch", &r.project.RequireIfMatch)
	redaction := redactionStandard
	if f.Text("redaction", &redaction) && redaction != redactionStandard {
		f.Fault("redaction", mockbase.FieldNotServed, "only the redaction standard is served yet")
	}
	for _, name := range []string{"retention", "redactHeaders", "upstreamAllow"} {
		if f.Node(name) != nil {
			f.Fault(name, mockbase.FieldNotServed, "the setting %s is not served yet", name)
		}
	}
	f.Done()
}

// reportSettings adds the faults of the definition's settings to those of the project. Their places are those of a text
// that was written anew, and are dropped.
func (r *projectReader) reportSettings(err error) {
	known, ok := errors.AsType[*mockbase.Error](err)
	if !ok || len(known.Fields) == 0 {
		r.fields.Fault("settings", mockbase.FieldConflict, "%s", refusal(err).Message)
		return
	}
	for _, fault := range known.Fields {
		fault.Line, fault.Column = 0, 0
		if name, found := strings.CutPrefix(fault.Pointer, "#/settings/"); found && fault.Code == mockbase.FieldUnknownKey && fault.Suggestion == "" {
			fault.Suggestion = mockbase.Suggest(name, serverSettings())
		}
		r.faults.Append(fault)
	}
}
