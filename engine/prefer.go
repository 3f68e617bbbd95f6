package engine

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

const (
	headerMockbasePrefer    = "Mockbase-Prefer"
	headerPrefer            = "Prefer"
	headerPreferenceApplied = "Preference-Applied"
)

// The bounds of preferences.
const (
	longestWait = 5 * time.Minute
	longestSeed = 256
)

// preferences steer one request (rule AA24).
type preferences struct {
	code          int
	example, seed string
	wait          time.Duration
	// waits tells that a wait was asked for, also one of 0.
	waits bool
	// politeWait is the wait of the standard header, which counts on documents alone; politely tells that there is one.
	politeWait time.Duration
	politely   bool
	// badWait refuses one that is no number, on documents alone.
	badWait *failure
	// dynamic is "", "true" or "false"; it concerns documents alone.
	dynamic string
}

// forces tells whether a response is asked for by status or name (rule AA25).
func (p *preferences) forces() bool { return p.code != 0 || p.example != "" }

// find is the place of the first response of a mock that is asked for, -1 if there is none.
func (p *preferences) find(r *route) int {
	for i := range r.responses {
		own := &r.responses[i]
		if (p.code == 0 || own.status() == p.code) && (p.example == "" || own.name == p.example) {
			return i
		}
	}
	return -1
}

// missing refuses a preferred response that the mock has not.
func (p *preferences) missing(r *route) *failure {
	f := &failure{
		status: http.StatusNotFound, code: mockbase.CodeExampleNotDefined, title: "No such response", own: true,
		detail: "Mock " + quoted(r.mock.Name) + " has no response named " + quoted(p.example) + ".",
	}
	if p.example == "" || (&preferences{code: p.code}).find(r) < 0 {
		f.code = mockbase.CodeCodeNotDefined
		f.detail = "Mock " + quoted(r.mock.Name) + " has no response of status " + strconv.Itoa(p.code) + "."
	}
	return f
}

// applied is what of the preferences was honoured on a mock, "" for nothing (rule AA26).
func (p *preferences) applied() string {
	var list []string
	if p.code != 0 {
		list = append(list, "code="+strconv.Itoa(p.code))
	}
	if p.example != "" {
		list = append(list, "example="+preferenceWord(p.example))
	}
	if p.seed != "" {
		list = append(list, "seed="+preferenceWord(p.seed))
	}
	if p.waits {
		list = append(list, "wait="+strconv.FormatFloat(p.wait.Seconds(), 'f', -1, 64))
	}
	return strings.Join(list, ", ")
}

// preferenceWord writes a value as a token, or quoted if it is none.
func preferenceWord(text string) string {
	for i := range len(text) {
		if c := text[i]; !isTokenByte(c) {
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
		}
	}
	return text
}

func isTokenByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// prefer reads the control headers. Mockbase-Prefer wins name by name, the first of a name in each; wait is taken from it
// alone, as clients send the other to real servers too.
func (c *call) prefer() *failure {
	own, standard := c.request.Header[headerMockbasePrefer], c.request.Header[headerPrefer]
	if len(own) == 0 && len(standard) == 0 || c.program.settings.ignorePreferred {
		return nil
	}
	met := make(map[string]bool)
	if f := c.preferred.read(own, met); f != nil {
		return f
	}
	if !met["wait"] {
		c.preferred.readWait(standard)
	}
	met["wait"] = true
	return c.preferred.read(standard, met)
}

// readWait reads the wait of the standard header. Clients send it to real servers too, so that a bad one is a fault on documents
// alone (rule W24), and one that is longer than any counts for nothing.
func (p *preferences) readWait(lines []string) {
	for _, line := range lines {
		for line != "" {
			var name, value string
			if name, value, line = nextPreference(line); name != "wait" {
				continue
			}
			if p.politeWait, p.politely = parseWait(value); !p.politely {
				if _, err := strconv.ParseUint(value, 10, 64); err != nil {
					p.badWait = badPreference("wait", value)
					p.badWait.own = true
				}
			}
			return
		}
	}
}

func (p *preferences) read(lines []string, met map[string]bool) *failure {
	for _, line := range lines {
		for line != "" {
			var name, value string
			name, value, line = nextPreference(line)
			if met[name] {
				continue
			}
			met[name] = true
			if !p.set(name, value) {
				return badPreference(name, value)
			}
		}
	}
	return nil
}

// badPreference refuses a preference that cannot have a value (rule W24).
func badPreference(name, value string) *failure {
	page, _ := mockbase.ProblemOf(mockbase.CodeBadPreference)
	return &failure{
		status: page.Status, code: mockbase.CodeBadPreference, title: page.Title,
		detail: "The preference " + quoted(name) + " cannot have the value " + quoted(value) + ": it is " + mockbase.PreferenceRange(name) + ".",
	}
}

// set takes a preference over; what is not known is ignored. It reports false for a value that cannot be.
func (p *preferences) set(name, value string) bool {
	switch name {
	case "code":
		code, err := strconv.ParseUint(value, 10, 16)
		p.code = int(code)
		return err == nil && code >= 100 && code <= 999
	case "example":
		p.example = value
		return value != ""
	case "dynamic":
		p.dynamic = value
		return value == "true" || value == "false"
	case "seed":
		p.seed = value
		return value != "" && len(value) <= longestSeed
	case "wait":
		var ok bool
		p.wait, ok = parseWait(value)
		p.waits = true
		return ok
	default:
		return true
	}
}

// parseWait reads a number of seconds, which may have decimals.
func parseWait(text string) (time.Duration, bool) {
	if strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || seconds > longestWait.Seconds() {
		return 0, false
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), true
}

// nextPreference reads the first preference of a list (RFC 7240, section 2): a name in lower case and its value. rest is what
// follows. The parameters of a preference are read like preferences, as many people write a semicolon for the comma.
func nextPreference(list string) (name, value, rest string) {
	end := min(unquoted(list, ','), unquoted(list, ';'))
	own := list[:end]
	if end < len(list) {
		rest = list[end+1:]
	}
	name, value, _ = strings.Cut(own, "=")
	return strings.ToLower(strings.Trim(name, " \t")), unquote(strings.Trim(value, " \t")), rest
}

// unquoted is the place of the first stop outside quotes, or the length of the text.
func unquoted(text string, stop byte) int {
	inside := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			inside = !inside
		case inside && text[i] == '\\':
			i++
		case !inside && text[i] == stop:
			return i
		}
	}
	return len(text)
}

// unquote returns what a quoted string holds, and any other text as it is.
func unquote(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	var b strings.Builder
	for i := 1; i < len(text)-1; i++ {
		if text[i] == '\\' && i+1 < len(text)-1 {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
