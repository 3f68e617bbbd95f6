package management

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// serverSettings are the settings of a project that are no part of a definition (rule M-61).
func serverSettings() []string {
	return []string{"persistTraffic", "requireIfMatch", "redaction", "retention", "redactHeaders", "upstreamAllow"}
}

// The redactions: secrets are masked before they are kept, or kept for editors and owners to see (rule M-81).
const (
	redactionStandard = "standard"
	redactionRaw      = "raw"
)

// The bounds of how traffic is recorded.
const (
	maxRedactHeaders = 100
	longestHeader    = 256
	maxUpstreams     = 100
	longestRetention = 400 * 24 * time.Hour
)

// retentionView is the setting retention; what is not stated is the server's.
type retentionView struct {
	MaxCount int    `json:"maxCount,omitempty"`
	MaxBytes int64  `json:"maxBytes,omitempty"`
	MaxAge   string `json:"maxAge,omitempty"`
}

func viewRetention(r mockbase.Retention) retentionView {
	v := retentionView{MaxCount: r.MaxCount, MaxBytes: r.MaxBytes}
	if r.MaxAge > 0 {
		v.MaxAge = durationText(r.MaxAge)
	}
	return v
}

// settingsView is the settings member of a project: what the definition says, and the server's own.
func settingsView(p *mockbase.Project) json.RawMessage {
	redaction := redactionStandard
	if p.RawTraffic {
		redaction = redactionRaw
	}
	own := encode(struct {
		PersistTraffic bool          `json:"persistTraffic"`
		RequireIfMatch bool          `json:"requireIfMatch"`
		Redaction      string        `json:"redaction"`
		RedactHeaders  []string      `json:"redactHeaders,omitempty"`
		Retention      retentionView `json:"retention,omitzero"`
		UpstreamAllow  []string      `json:"upstreamAllow,omitempty"`
	}{p.PersistTraffic, p.RequireIfMatch, redaction, p.RedactHeaders, viewRetention(p.Retention), p.UpstreamAllow})
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
// definition. Without the member all of them are at their defaults. Beside faults stays what could be read.
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
	}
	r.project.Config = config
}

func (r *projectReader) readServerSettings(f *mockbase.Fields) {
	r.project.PersistTraffic, r.project.RequireIfMatch = false, false
	f.Bool("persistTraffic", &r.project.PersistTraffic)
	f.Bool("requireIfMatch", &r.project.RequireIfMatch)
	redaction := redactionStandard
	if f.Text("redaction", &redaction) && redaction != redactionStandard && redaction != redactionRaw {
		f.Fault("redaction", mockbase.FieldEnum, "must be %s or %s, not %s", redactionStandard, redactionRaw, shown(redaction))
	}
	r.project.RawTraffic = redaction == redactionRaw
	r.readRedactHeaders(f)
	r.readRetention(f)
	r.readUpstreamAllow(f)
	f.Done()
}

// readRedactHeaders reads the headers that are secrets beside the usual ones.
func (r *projectReader) readRedactHeaders(f *mockbase.Fields) {
	var names []string
	r.project.RedactHeaders = nil
	if !f.Texts("redactHeaders", &names) {
		return
	}
	if len(names) > maxRedactHeaders {
		f.Fault("redactHeaders", mockbase.FieldLimit, "must have at most %d names", maxRedactHeaders)
		return
	}
	taken := map[string]bool{}
	for _, name := range names {
		folded := strings.ToLower(name)
		switch {
		case !headerName(name):
			f.Fault("redactHeaders", mockbase.FieldPattern, "%s is no name of a header", shown(name))
		case taken[folded]:
			f.Fault("redactHeaders", mockbase.FieldUnique, "%s is named twice", shown(name))
		}
		taken[folded] = true
	}
	if len(names) > 0 {
		r.project.RedactHeaders = names
	}
}

// readUpstreamAllow reads the list of what proxies and webhooks may call, of what the operator allows (rule S6).
func (r *projectReader) readUpstreamAllow(f *mockbase.Fields) {
	var entries []string
	r.project.UpstreamAllow = nil
	if !f.Texts("upstreamAllow", &entries) {
		return
	}
	if len(entries) == 0 || len(entries) > maxUpstreams {
		f.Fault("upstreamAllow", mockbase.FieldLimit, "must have 1 to %d entries; null takes the narrowing away", maxUpstreams)
		return
	}
	taken := map[mockbase.Upstream]bool{}
	for _, entry := range entries {
		parsed, err := mockbase.ParseUpstream(entry)
		switch {
		case err != nil:
			f.Fault("upstreamAllow", mockbase.FieldPattern, "%s", err.Error())
		case entry != strings.TrimSpace(entry):
			f.Fault("upstreamAllow", mockbase.FieldPattern, "%s has blanks around it: leave them out", shown(entry))
		case taken[parsed]:
			f.Fault("upstreamAllow", mockbase.FieldUnique, "%s is there twice", shown(entry))
		}
		taken[parsed] = true
	}
	r.project.UpstreamAllow = entries
}

// headerName tells whether a text is a token (RFC 9110, section 5.6.2).
func headerName(name string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	return name != "" && len(name) <= longestHeader && !strings.ContainsFunc(name, func(c rune) bool {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		return !letter && !strings.ContainsRune(marks, c)
	})
}

// readRetention reads the bounds of what is recorded.
func (r *projectReader) readRetention(f *mockbase.Fields) {
	r.project.Retention = mockbase.Retention{}
	own := f.Object("retention")
	if own == nil {
		return
	}
	to := &r.project.Retention
	own.Int("maxCount", &to.MaxCount, 1, math.MaxInt)
	own.Int64("maxBytes", &to.MaxBytes, 1, math.MaxInt64)
	if own.Duration("maxAge", &to.MaxAge) && (to.MaxAge < time.Second || to.MaxAge > longestRetention) {
		own.Fault("maxAge", mockbase.FieldRange, "must be from 1s to 400d")
	}
	own.Done()
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
