package config_test

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// C-80: values of the command line that cannot be read are taken out of it, and nothing else is.
func TestC80_wrong_values_are_sifted_out_of_a_command_line(t *testing.T) {
	t.Parallel()
	var grammar struct {
		Serve struct {
			config.Settings

			Paths []string `arg:"" optional:""`
		} `cmd:""`
		Other struct {
			EngineLimit string `name:"engine-limit"`
		} `cmd:""`
	}
	app, err := kong.New(&grammar, kong.ExplicitGroups(config.Groups()))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, rest, wrong string }{
		{"serve", "serve", ""},
		{"serve --engine-limit=lots dir", "serve dir", "engine-limit"},
		{"serve --engine-limit lots dir", "serve dir", "engine-limit"},
		{"serve --engine-limit 5/1m dir", "serve --engine-limit 5/1m dir", ""},
		{"serve --engine-limit lots --ipv6-prefix 999 --adaptive=on", "serve --adaptive=on", "engine-limit ipv6-prefix"},
		{"serve --engine-limit=lots --engine-limit=more", "serve", "engine-limit engine-limit"},
		{"serve --shield-enabled=perhaps", "serve", "shield-enabled"},
		{"serve --no-shield-enabled --shield-dry-run dir", "serve --no-shield-enabled --shield-dry-run dir", ""},
		{"serve --engine-limit", "serve --engine-limit", ""},
		{"serve --engine-limit --adaptive=on", "serve --engine-limit --adaptive=on", ""},
		{"serve --bogus lots -x --=7", "serve --bogus lots -x --=7", ""},
		{"serve -- --engine-limit=lots", "serve -- --engine-limit=lots", ""},
		{"other --engine-limit=lots", "other --engine-limit=lots", ""},
		{"--engine-limit=lots", "--engine-limit=lots", ""},
	} {
		rest, wrong := config.Sift(app.Model.Node, strings.Fields(c.line))
		names := make([]string, 0, len(wrong))
		for _, w := range wrong {
			names = append(names, w.Name)
			if w.Fault.Subject != "--"+w.Name || w.Fault.Reason == "" {
				t.Errorf("%s: %+v", c.line, w.Fault)
			}
		}
		if diff := cmp.Diff(c.rest+"|"+c.wrong, strings.Join(rest, " ")+"|"+strings.Join(names, " ")); diff != "" {
			t.Errorf("%s: %s", c.line, diff)
		}
	}
	if rest, wrong := config.Sift(app.Model.Node, nil); len(rest)+len(wrong) != 0 {
		t.Errorf("of nothing: %v %v", rest, wrong)
	}
}
