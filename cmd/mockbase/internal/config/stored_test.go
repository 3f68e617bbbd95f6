package config_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

func team() *config.Team {
	return &config.Team{InstanceName: "Stated", ProjectCreation: "members", MaxProjects: 1000, MaxMocksPerProject: 10000, MaxDocumentsPerProject: 50, MaxSessionsPerProject: 1000, MaxTokensPerUser: 100, AuditRetention: config.Duration(400 * 24 * time.Hour)}
}

// C-3: what an administrator stored wins over the default, and over nothing else.
func TestC3_stored_values_win_over_defaults_alone(t *testing.T) {
	t.Parallel()
	origins := map[string]config.Origin{"instance-name": config.FromFlag, "max-projects": config.FromDefault, "project-creation": "env MOCKBASE_PROJECT_CREATION"}
	got, err := team().WithStored(map[string]string{
		"instanceName": "Stored", "maxProjects": "7", "projectCreation": "admins", "instanceColor": "#1D4ED8", "auditRetention": "30d",
	}, origins)
	if err != nil {
		t.Fatal(err)
	}
	want := team()
	want.MaxProjects, want.InstanceColor, want.AuditRetention = 7, "#1d4ed8", config.Duration(30*24*time.Hour)
	if diff := cmp.Diff(*want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	for name, want := range map[string]config.Origin{
		"instance-name": config.FromFlag, "max-projects": config.FromStore, "project-creation": "env MOCKBASE_PROJECT_CREATION", "instance-color": config.FromStore,
		"max-mocks-per-project": config.FromDefault,
	} {
		if origins[name] != want {
			t.Errorf("%s comes from %q, want %q", name, origins[name], want)
		}
	}
	again, err := got.WithStored(map[string]string{}, origins)
	if err != nil || again.MaxProjects != 1000 || origins["max-projects"] != config.FromDefault {
		t.Errorf("forgotten: %+v from %q, %v", again, origins["max-projects"], err)
	}
}

func TestM238_a_stored_value_is_as_good_as_a_stated_one(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key, value string
		code       mockbase.Code
	}{
		"no number":             {"maxProjects", "many", mockbase.FieldPattern},
		"none at all":           {"maxProjects", "0", mockbase.FieldRange},
		"too many":              {"maxMocksPerProject", "1000001", mockbase.FieldRange},
		"no color":              {"instanceColor", "blue", mockbase.FieldPattern},
		"no name":               {"instanceName", "a\u202eb", mockbase.FieldPattern},
		"no choice":             {"projectCreation", "everybody", mockbase.FieldPattern},
		"too short to be true":  {"auditRetention", "1h", mockbase.FieldRange},
		"a flag in disguise":    {"maxProjects", "1 --max-tokens-per-user=2", mockbase.FieldPattern},
		"stated at start alone": {"addr", ":80", mockbase.FieldUnknownKey},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origins := map[string]config.Origin{}
			before := maps.Clone(origins)
			_, err := team().WithStored(map[string]string{c.key: c.value}, origins)
			known, ok := errors.AsType[*mockbase.Error](err)
			if !ok || known.Code != mockbase.CodeValidationFailed || len(known.Fields) != 1 || known.Fields[0].Code != c.code || known.Fields[0].Pointer != "#/"+c.key {
				t.Errorf("error %v with %+v", err, known)
			}
			if diff := cmp.Diff(before, origins); diff != "" {
				t.Errorf("origins were changed:\n%s", diff)
			}
		})
	}
}

func TestM238_the_settings_reach_the_other_parts(t *testing.T) {
	t.Parallel()
	now := team()
	now.InstanceColor = "#1d4ed8"
	want := mockbase.InstanceSettings{
		Name: "Stated", Color: "#1d4ed8", ProjectCreation: mockbase.ProjectsByMembers, MaxProjects: 1000, MaxMocksPerProject: 10000,
		MaxDocumentsPerProject: 50, MaxSessionsPerProject: 1000, MaxTokensPerUser: 100, AuditRetention: 400 * 24 * time.Hour,
	}
	if diff := cmp.Diff(want, now.Settings()); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}
