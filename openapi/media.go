package openapi

import (
	"maps"
	"mime"
	"slices"
	"strconv"
	"strings"
)

// media is a media type or range.
type media struct {
	kind, subtype string
	parameters    map[string]string
}

// parseMedia reads a media type or range; it reports false for what is none.
func parseMedia(text string) (media, bool) {
	name, parameters, err := mime.ParseMediaType(text)
	if err != nil {
		// Parameters that cannot be read do not make the type unknown.
		name = strings.ToLower(strings.TrimSpace(strings.SplitN(text, ";", 2)[0]))
		parameters = nil
	}
	kind, subtype, ok := strings.Cut(name, "/")
	if name == "*" {
		kind, subtype, ok = "*", "*", true
	}
	return media{kind: kind, subtype: subtype, parameters: parameters}, ok && kind != "" && subtype != ""
}

func (m media) String() string { return m.kind + "/" + m.subtype }

// isJSON tells whether bodies of this type are JSON.
func (m media) isJSON() bool {
	return m.subtype == "json" || strings.HasSuffix(m.subtype, "+json")
}

func (m media) isXML() bool {
	return m.subtype == "xml" || strings.HasSuffix(m.subtype, "+xml")
}

func (m media) isForm() bool      { return m.String() == "application/x-www-form-urlencoded" }
func (m media) isMultipart() bool { return m.kind == "multipart" }

// isRange tells whether the type stands for several.
func (m media) isRange() bool { return m.kind == "*" || strings.Contains(m.subtype, "*") }

// includes tells whether a range or type stands for a type (rules W13 and W33): parameters are passed over, and types with a
// suffix match themselves or ranges.
func (m media) includes(other media) bool {
	switch {
	case m.kind != "*" && m.kind != other.kind:
		return false
	case m.subtype == "*" || m.subtype == other.subtype:
		return true
	case strings.HasPrefix(m.subtype, "*+"):
		return strings.HasSuffix(other.subtype, m.subtype[1:])
	default:
		return false
	}
}

// specificity orders what includes a type: the larger says more.
func (m media) specificity() int {
	switch {
	case m.kind == "*":
		return 0
	case m.subtype == "*":
		return 1
	case m.isRange():
		return 2
	default:
		return 3
	}
}

// distinct are the parameters that tell media types apart: a charset and a boundary say how bodies are written, and q is no parameter
// of a type.
func (m media) distinct() map[string]string {
	own := maps.Clone(m.parameters)
	maps.DeleteFunc(own, func(name, _ string) bool { return name == "q" || name == "charset" || name == "boundary" })
	return own
}

// describing is the entry of a content map that says most about a type, nil where none includes it (rule W13). A parameter that
// both name, such as a version, must be the same.
func describing(content []*mediaType, sent media) *mediaType {
	const most = 16
	var found *mediaType
	best := -1
	for _, t := range content {
		if !t.parsed.includes(sent) {
			continue
		}
		same, differs := 0, false
		for name, value := range t.parsed.distinct() {
			stated, ok := sent.parameters[name]
			differs = differs || ok && !strings.EqualFold(stated, value)
			if ok {
				same++
			}
		}
		if says := t.parsed.specificity()*most + same; !differs && says > best {
			found, best = t, says
		}
	}
	return found
}

// acceptable is one entry of an Accept header.
type acceptable struct {
	media
	quality float64
	// wanted are the parameters that the type must have.
	wanted map[string]string
}

// fits tells whether the entry speaks of a type.
func (a *acceptable) fits(m media) bool {
	for name, value := range a.wanted {
		if !strings.EqualFold(m.parameters[name], value) {
			return false
		}
	}
	return a.includes(m) || m.isRange() && m.includes(a.media)
}

// parseAccept reads Accept headers (RFC 9110, section 12.5.1). Entries that cannot be read are passed over.
func parseAccept(lines []string) []acceptable {
	var list []acceptable
	for _, line := range lines {
		for _, part := range commaParts(line) {
			m, ok := parseMedia(part)
			if !ok {
				continue
			}
			a := acceptable{media: m, quality: 1}
			if text, stated := m.parameters["q"]; stated {
				q, err := strconv.ParseFloat(text, 64)
				if err != nil || q < 0 || q > 1 {
					q = 1
				}
				a.quality = q
			}
			list = append(list, a)
		}
	}
	return list
}

// commaParts divides a list at the commas that no quotes hold.
func commaParts(line string) []string {
	var list []string
	quoted, from := false, 0
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case quoted && line[i] == '\\':
			i++
		case !quoted && line[i] == ',':
			list = append(list, line[from:i])
			from = i + 1
		}
	}
	return append(list, line[from:])
}

// know keeps of the parameters of entries those that an offer has: unknown ones are dropped (rule W33).
func know(list []acceptable, offers []*mediaType) {
	for _, offer := range offers {
		for name := range offer.parsed.distinct() {
			for i := range list {
				if value, ok := list[i].parameters[name]; ok {
					if list[i].wanted == nil {
						list[i].wanted = map[string]string{}
					}
					list[i].wanted[name] = value
				}
			}
		}
	}
}

// quality is how much a type is wanted, 0 for not at all: the most specific entry decides (rule W31).
func quality(list []acceptable, m media) (q float64, concrete media) {
	const most = 16
	best := -1
	for i := range list {
		a := &list[i]
		if s := a.specificity()*most + len(a.wanted); s > best && a.fits(m) {
			best, q, concrete = s, a.quality, a.media
		}
	}
	return q, concrete
}

// negotiate picks the media type of an answer (rules W31 to W33): the most wanted, in document order on a tie. Without
// Accept it is application/json if declared, else the first. It returns nil if nothing is acceptable. concrete is the type
// to say in place of a range.
func negotiate(lines []string, offers []*mediaType) (chosen *mediaType, concrete media) {
	if len(offers) == 0 {
		return nil, media{}
	}
	list := parseAccept(lines)
	if len(list) == 0 {
		return byDefault(offers), media{}
	}
	know(list, offers)
	best := 0.0
	for _, offer := range offers {
		if q, asked := quality(list, offer.parsed); q > best {
			best, chosen, concrete = q, offer, asked
		}
	}
	return chosen, concrete
}

// byDefault is the type of an answer to a request that wants none.
func byDefault(offers []*mediaType) *mediaType {
	at := slices.IndexFunc(offers, func(o *mediaType) bool { return o.parsed.String() == "application/json" })
	return offers[max(at, 0)]
}

// header is the Content-Type of an answer (rules W32 and W34). value tells what the body is, where the document leaves the
// type open.
func (t *mediaType) header(concrete media, text bool) string {
	key, parsed := t.key, t.parsed
	if parsed.isRange() {
		switch {
		case concrete.kind != "" && !concrete.isRange():
			key, parsed = concrete.String(), concrete
		case text || parsed.kind == "text":
			key, parsed = "text/plain", media{kind: "text", subtype: "plain"}
		default:
			return "application/octet-stream"
		}
	}
	if parsed.kind == "text" && parsed.parameters["charset"] == "" {
		return key + "; charset=utf-8"
	}
	return key
}
