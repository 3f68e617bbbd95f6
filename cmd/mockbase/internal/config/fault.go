package config

import (
	"fmt"
	"strings"

	"github.com/mockbase/mockbase"
)

// Fault is one thing that is wrong with the settings.
type Fault struct {
	// Place is file:line:column for what stands in a file, else "".
	Place string
	// Subject is the setting in the spelling that was used, or "".
	Subject string
	// Reason says what is wrong, Fix what to do about it; Fix may be "".
	Reason, Fix string
	// Code is the code of a fault in a file (mock format, section 5).
	Code mockbase.Code

	// line and column are those of Place.
	line, column int
}

// inFile makes the fault one at a place of a file.
func (f Fault) inFile(path string, line, column int) Fault {
	f.Place, f.line, f.column = fmt.Sprintf("%s:%d:%d", path, line, column), line, column
	return f
}

// String is the fault in one line: "file:line:column: message [code]" or "subject: message" (rule C-8).
func (f Fault) String() string {
	text := f.Reason
	if f.Subject != "" {
		text = f.Subject + ": " + text
	}
	if f.Place != "" {
		text = fmt.Sprintf("%s: %s [%s]", f.Place, text, f.Code)
	}
	return text
}

// Spell names a setting the way its origin does: MOCKBASE_ADDR, addr or --addr.
func Spell(name string, origin Origin) string {
	if env, ok := strings.CutPrefix(string(origin), "env "); ok {
		return env
	}
	if place, ok := strings.CutPrefix(string(origin), "file "); ok {
		return keyName(name) + " (" + place + ")"
	}
	return "--" + name
}
