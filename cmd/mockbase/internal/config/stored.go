package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/mockbase/mockbase"
)

// FromStore is the origin of a value that an administrator stored (rule C-3).
const FromStore Origin = "stored"

// Team are the settings that administrators change while the server works (rule M-238), unless a flag, a variable or the
// file states them.
type Team struct {
	InstanceName           Caption  `name:"instance-name" group:"instance" placeholder:"TEXT" help:"Name of this server on its first page and in its log."`
	InstanceColor          Color    `name:"instance-color" group:"instance" placeholder:"#RRGGBB" help:"Color by which people tell this server from others."`
	ProjectCreation        Creation `name:"project-creation" default:"members" group:"instance" placeholder:"WHO" help:"Who may create projects: members or admins."`
	MaxProjects            Count    `name:"max-projects" default:"1000" group:"instance" placeholder:"N" help:"Most projects."`
	MaxMocksPerProject     Count    `name:"max-mocks-per-project" default:"10000" group:"instance" placeholder:"N" help:"Most mocks of each project."`
	MaxDocumentsPerProject Count    `name:"max-documents-per-project" default:"50" group:"instance" placeholder:"N" help:"Most OpenAPI documents of each project."`
	MaxSessionsPerProject  Count    `name:"max-sessions-per-project" default:"1000" group:"instance" placeholder:"N" help:"Most living sessions of each project."`
	MaxTokensPerUser       Count    `name:"max-tokens-per-user" default:"100" group:"instance" placeholder:"N" help:"Most API tokens of each user."`
	AuditRetention         Duration `name:"audit-retention" default:"400d" group:"instance" placeholder:"TIME" help:"How long the audit log is kept."`
}

// Settings are the values as the other parts know them.
func (t *Team) Settings() mockbase.InstanceSettings {
	return mockbase.InstanceSettings{
		Name: string(t.InstanceName), Color: string(t.InstanceColor), ProjectCreation: string(t.ProjectCreation),
		MaxProjects: int(t.MaxProjects), MaxMocksPerProject: int(t.MaxMocksPerProject), MaxTokensPerUser: int(t.MaxTokensPerUser),
		MaxDocumentsPerProject: int(t.MaxDocumentsPerProject), MaxSessionsPerProject: int(t.MaxSessionsPerProject),
		AuditRetention: t.AuditRetention.Span(),
	}
}

const (
	// mostOfQuota is the largest quota that can be meant.
	mostOfQuota = 1_000_000
	// minAuditRetention leaves time to look at what happened.
	minAuditRetention = 24 * time.Hour
)

// bounds finds numbers that cannot be meant.
func (t *Team) bounds(add func(name, reason string)) {
	for _, quota := range []struct {
		name string
		most Count
	}{
		{"max-projects", t.MaxProjects},
		{"max-mocks-per-project", t.MaxMocksPerProject},
		{"max-documents-per-project", t.MaxDocumentsPerProject},
		{"max-sessions-per-project", t.MaxSessionsPerProject},
		{"max-tokens-per-user", t.MaxTokensPerUser},
	} {
		if quota.most < 1 || quota.most > mostOfQuota {
			add(quota.name, fmt.Sprintf("%d is out of bounds: write a number from 1 to %d", quota.most, mostOfQuota))
		}
	}
	if t.AuditRetention.Span() < minAuditRetention {
		add("audit-retention", t.AuditRetention.String()+" is too short: write 1d or more")
	}
}

// Storable lists the flags of the settings that can be stored.
func Storable() []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Team]()) {
		names = append(names, field.Tag.Get("name"))
	}
	return names
}

// WithStored returns the settings with those values in place that nothing states, and notes their origin. The values are
// texts by keys. It fails with CodeValidationFailed, with a fault for each value that is none; an unknown key is one too.
func (t *Team) WithStored(values map[string]string, origins map[string]Origin) (Team, error) {
	var (
		faults mockbase.Faults
		next   Team
	)
	known := Storable()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name := flagName(key)
		if !slices.Contains(known, name) {
			faults.Add(nil, "#/"+key, mockbase.FieldUnknownKey, "%s is stated where the server is started, and cannot be stored", key)
			continue
		}
		var alone Team
		if err := alone.parse("--" + name + "=" + values[key]); err != nil {
			faults.Add(nil, "#/"+key, mockbase.FieldPattern, "%s", valueReason(err))
			continue
		}
		alone.bounds(func(_, reason string) { faults.Add(nil, "#/"+key, mockbase.FieldRange, "%s", reason) })
	}
	if err := faults.Err(); err != nil {
		return *t, err
	}
	if err := next.parse(arguments(values, origins)...); err != nil {
		return *t, err
	}
	t.keepStated(&next, values, origins)
	return next, nil
}

// keepStated puts back what a flag, a variable or the file states, and notes where the rest came from.
func (t *Team) keepStated(next *Team, values map[string]string, origins map[string]Origin) {
	from, to := reflect.ValueOf(t).Elem(), reflect.ValueOf(next).Elem()
	for i, name := range Storable() {
		_, stored := values[keyName(name)]
		switch {
		case Pinned(origins[name]):
			to.Field(i).Set(from.Field(i))
		case stored:
			origins[name] = FromStore
		default:
			origins[name] = FromDefault
		}
	}
}

// Pinned tells whether a flag, a variable or the file states a value, so that none is stored over it.
func Pinned(o Origin) bool { return o.Stated() && o != FromStore }

func arguments(values map[string]string, origins map[string]Origin) []string {
	var list []string
	for key, value := range values {
		if name := flagName(key); !Pinned(origins[name]) {
			list = append(list, "--"+name+"="+value)
		}
	}
	return list
}

// parse reads values the way the command line does.
func (t *Team) parse(args ...string) error {
	parser, err := kong.New(t, kong.NoDefaultHelp(), kong.ExplicitGroups(Groups()))
	if err != nil {
		return fmt.Errorf("read table of settings: %w", err)
	}
	if _, err := parser.Parse(args); err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	return nil
}

// valueReason is the reason of a value's own type, without the flag's name.
func valueReason(err error) string {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}
