package config

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// StoreFailure is what follows when the limiter's store fails (rule RL63).
type StoreFailure string

// UnmarshalText takes one of the three modes.
func (f *StoreFailure) UnmarshalText(text []byte) error {
	return oneOf((*string)(f), text, "open", "memory", "closed")
}

// Dialect is a family of header fields (rule RL117).
type Dialect string

// UnmarshalText takes one of the known dialects.
func (d *Dialect) UnmarshalText(text []byte) error {
	return oneOf((*string)(d), text, "draft", "split", "x", "x-github", "x-delta", "none")
}

// HeadersOn says which answers carry the limiter's fields (rule RL120).
type HeadersOn string

// UnmarshalText takes one of the three times.
func (h *HeadersOn) UnmarshalText(text []byte) error {
	return oneOf((*string)(h), text, "always", "denied", "never")
}

// RefusalStatus is the status of a refusal (rule RL115).
type RefusalStatus int

// UnmarshalText takes one of the three statuses.
func (r *RefusalStatus) UnmarshalText(text []byte) error {
	var status string
	if err := oneOf(&status, text, "429", "420", "503"); err != nil {
		return err
	}
	n, err := strconv.Atoi(status)
	*r = RefusalStatus(n)
	return err
}

// RefusalBody is the body of a refusal (rule RL115).
type RefusalBody string

// UnmarshalText takes one of the two kinds.
func (r *RefusalBody) UnmarshalText(text []byte) error {
	return oneOf((*string)(r), text, "problem", "text")
}

// Algorithm is how a limit counts that names none itself (rule RL18). Concurrency is not among them: it bounds requests
// at one time, which is another number than one for each window.
type Algorithm string

// UnmarshalText takes one of the six algorithms.
func (a *Algorithm) UnmarshalText(text []byte) error {
	return oneOf((*string)(a), text, "fixed_window", "sliding_window", "sliding_log", "token_bucket", "leaky_bucket", "gcra")
}

// LogMatches says which refusals of the shield are logged (rule RL93).
type LogMatches string

// UnmarshalText takes one of the three choices.
func (l *LogMatches) UnmarshalText(text []byte) error {
	return oneOf((*string)(l), text, "first", "all", "off")
}

// Sandbox says whose pages a browser sandboxes (rule Y10).
type Sandbox string

// UnmarshalText takes one of the three modes.
func (s *Sandbox) UnmarshalText(text []byte) error {
	return oneOf((*string)(s), text, "on", "project", "off")
}

// Caption is a text of one line that people are shown.
type Caption string

// UnmarshalText takes what can be shown.
func (c *Caption) UnmarshalText(text []byte) error {
	if reason := mockbase.LineFault(string(text)); reason != "" {
		return fmt.Errorf("the text %s: leave it out", reason)
	}
	*c = Caption(text)
	return nil
}

// Color is a color as web pages write it, or empty.
type Color string

// UnmarshalText takes #rrggbb.
func (c *Color) UnmarshalText(text []byte) error {
	if !isColor(text) {
		return fmt.Errorf("%q is no color: write it like #1d4ed8", text)
	}
	*c = Color(bytes.ToLower(text))
	return nil
}

func isColor(text []byte) bool {
	if len(text) != len("#rrggbb") || text[0] != '#' {
		return len(text) == 0
	}
	_, err := hex.DecodeString(string(text[1:]))
	return err == nil
}

// Creation says who may create projects (rule M-50).
type Creation string

// UnmarshalText takes one of the two choices.
func (c *Creation) UnmarshalText(text []byte) error {
	return oneOf((*string)(c), text, mockbase.ProjectsByMembers, mockbase.ProjectsByAdmins)
}

// Metrics says who may read /metrics (M-243).
type Metrics string

// UnmarshalText takes one of the three choices.
func (m *Metrics) UnmarshalText(text []byte) error {
	return oneOf((*string)(m), text, "token", "public", "disabled")
}

// LogFormat is the form of messages.
type LogFormat string

// UnmarshalText takes one of the three forms.
func (l *LogFormat) UnmarshalText(text []byte) error {
	return oneOf((*string)(l), text, "auto", "text", "json")
}

// LogLevel is the least level of messages that are written.
type LogLevel string

// UnmarshalText takes one of the four levels.
func (l *LogLevel) UnmarshalText(text []byte) error {
	return oneOf((*string)(l), text, "debug", "info", "warn", "error")
}

// Role is what somebody may do in a project.
type Role string

// UnmarshalText takes one of the roles.
func (r *Role) UnmarshalText(text []byte) error {
	return oneOf((*string)(r), text, "viewer", "editor", "owner")
}

// oneOf stores text when it is one of the known words, and names the nearest otherwise (rule C-5).
func oneOf(target *string, text []byte, known ...string) error {
	for _, word := range known {
		if string(text) == word {
			*target = word
			return nil
		}
	}
	if near := nearest(string(text), known); near != "" {
		return fmt.Errorf("unknown value %q, did you mean %q?", text, near)
	}
	last := len(known) - 1
	return errors.New("unknown value " + strconv.Quote(string(text)) + ": write " + strings.Join(known[:last], ", ") + " or " + known[last])
}

// nearest is the known name that is most likely meant, or "". Beside slips of the pen it finds a name that is written
// out, or cut short: address for addr.
func nearest(name string, known []string) string {
	if near := mockbase.Suggest(name, known); near != "" {
		return near
	}
	const shortest = 3
	best, plain := "", squeezed(name)
	for _, k := range known {
		other := squeezed(k)
		if len(other) >= shortest && len(plain) >= shortest && (strings.HasPrefix(plain, other) || strings.HasPrefix(other, plain)) && len(k) > len(best) {
			best = k
		}
	}
	return best
}

// squeezed drops doubled letters, case and what stands between words.
func squeezed(name string) string {
	var b strings.Builder
	last := rune(0)
	for _, c := range strings.ToLower(name) {
		if c != last && c != '-' && c != '_' {
			b.WriteRune(c)
		}
		last = c
	}
	return b.String()
}
