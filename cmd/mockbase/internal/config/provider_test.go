package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/management"
)

func TestM43_a_role_of_a_group_is_read_as_it_is_written(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]management.GroupRole{
		"ops=admin":                    {Group: "ops", Instance: mockbase.InstanceAdmin},
		"devs=member":                  {Group: "devs", Instance: mockbase.InstanceMember},
		"qa=shop:editor":               {Group: "qa", Project: "shop", Role: mockbase.RoleEditor},
		"cn=qa;dc=example=shop:viewer": {Group: "cn=qa;dc=example", Project: "shop", Role: mockbase.RoleViewer},
	} {
		var g config.GroupRole
		if err := g.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, config.GroupRoles([]config.GroupRole{g})[0]); diff != "" || g.String() != text {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"", "ops", "=admin", "ops=", "ops=Admin", "ops=shop", "ops=shop:admin", "ops=No Slug:editor", "ops=:editor"} {
		if err := new(config.GroupRole).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
