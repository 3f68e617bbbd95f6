package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mockbase/mockbase"
)

// Origin says where a value came from: "flag", "env MOCKBASE_ADDR", "file mockbase.yaml:7" or "default" (rule C-4).
type Origin string

// The origins that carry no name.
const (
	FromFlag    Origin = "flag"
	FromDefault Origin = "default"
)

// Stated tells that somebody gave the value.
func (o Origin) Stated() bool { return o != FromDefault && o != "" }

// Reader finds values in the environment and in a configuration file and remembers where each was found. It is the
// resolver that kong asks for what no flag stated.
type Reader struct {
	env     map[string]string
	table   map[string]Setting
	keys    map[string]entry
	path    string
	origins map[string]Origin
	faults  []Fault
	wrong   []string
}

var _ kong.Resolver = (*Reader)(nil)

// NewReader reads the file at path, unless path is "", and keeps environ, which is a list of name=value. The error
// reports a file that cannot be read; what is wrong inside it is found by [Reader.Faults].
func NewReader(environ []string, path string) (*Reader, error) {
	list, err := Table()
	if err != nil {
		return nil, err
	}
	targets, err := Targets()
	if err != nil {
		return nil, err
	}
	list = append(list, targets...)
	r := &Reader{env: variables(environ), table: map[string]Setting{}, path: path, origins: map[string]Origin{}}
	for _, s := range list {
		r.table[s.Name] = s
	}
	if path == "" {
		return r, nil
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	r.keys, r.faults = parseFile(path, text, list)
	return r, nil
}

// variables turns a list of name=value into a map. An empty value counts as unset (rule C-3).
func variables(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			m[name] = value
		}
	}
	return m
}

// Path is the configuration file that is read, "" for none.
func (r *Reader) Path() string { return r.path }

// Getenv returns the value of a variable.
func (r *Reader) Getenv(name string) string { return r.env[name] }

// Validate has nothing to say of the grammar.
func (*Reader) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a flag that the command line does not state. A wrong value becomes a fault, so that all
// of them are reported together.
func (r *Reader) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	s, ok := r.table[flag.Name]
	if !ok || slices.Contains(r.wrong, flag.Name) {
		return nil, nil //nolint:nilnil // nil is kong's word for "not found"
	}
	if text, ok := r.env[s.Env]; ok {
		return r.take(flag, text, Origin("env "+s.Env), func(reason string) Fault { return Fault{Subject: s.Env, Reason: reason} })
	}
	if e, ok := r.keys[s.Key]; ok {
		return r.take(flag, e.text, Origin(fmt.Sprintf("file %s:%d", r.path, e.line)), func(reason string) Fault {
			return Fault{Subject: s.Key, Reason: reason, Code: mockbase.FieldPattern}.inFile(r.path, e.line, e.column)
		})
	}
	return nil, nil //nolint:nilnil // as above
}

func (r *Reader) take(flag *kong.Flag, text string, origin Origin, fault func(reason string) Fault) (any, error) {
	r.origins[flag.Name] = origin
	if reason := wrongValue(flag, text); reason != "" {
		r.faults = append(r.faults, fault(reason))
		r.wrong = append(r.wrong, flag.Name)
		return nil, nil //nolint:nilnil // the fault is kept and reported with the others
	}
	return text, nil
}

// bare drops kong's words in front of a value's own error, which name the flag.
func bare(err error, flag *kong.Flag) string {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return strings.TrimPrefix(err.Error(), flag.ShortSummary()+": ")
}

// Note reads from a finished parse which settings the command line stated, and returns the origin of each setting of the
// command, by flag name.
func (r *Reader) Note(c *kong.Context) map[string]Origin {
	for _, p := range c.Path {
		if p.Flag != nil && !p.Resolved {
			r.origins[p.Flag.Name] = FromFlag
		}
	}
	for _, flag := range c.Flags() {
		if _, ok := r.origins[flag.Name]; !ok {
			r.origins[flag.Name] = FromDefault
		}
	}
	return r.origins
}

// Faults lists what is wrong: in the file from its top to its bottom, then on the command line and in the environment, in the
// order it was found.
func (r *Reader) Faults() []Fault {
	return slices.SortedStableFunc(slices.Values(r.faults), func(a, b Fault) int {
		if (a.Place == "") != (b.Place == "") {
			return cmp.Compare(b.line, a.line) // What stands in no file is in line 0.
		}
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
}

// Warning is a variable of ours that has no effect.
type Warning struct {
	Variable string
	// Near is the known variable that may be meant, or "".
	Near string
}

// String says it in one line.
func (w Warning) String() string {
	if w.Near != "" {
		return "unknown variable " + w.Variable + ", did you mean " + w.Near + "?"
	}
	return "unknown variable " + w.Variable
}

// mockURL is the variable in which the command run tells what it starts where mocks answer; nothing of ours reads it.
const mockURL = envPrefix + "MOCK_URL"

// Warnings lists the variables of ours that have no effect, in the order of their names (rule C-5).
func (r *Reader) Warnings() []Warning {
	known := []string{envPrefix + "CONFIG", mockURL}
	for _, s := range r.table {
		known = append(known, s.Env)
	}
	slices.Sort(known)
	var warnings []Warning
	for _, name := range slices.Sorted(maps.Keys(r.env)) {
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(known, name) {
			continue
		}
		warnings = append(warnings, Warning{Variable: name, Near: nearest(name, known)})
	}
	return warnings
}
