package config_test

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// C-2: the flags of all client commands may stand before the command; what they cannot be is told.
func TestC2_flags_before_a_command_are_those_of_the_command(t *testing.T) {
	t.Parallel()
	var grammar struct {
		Config  string `name:"config"`
		Verbose int    `name:"verbose" short:"v" type:"counter"`
		Quiet   bool   `name:"quiet" short:"q"`
		Serve   struct {
			Dirs []string `arg:"" optional:""`
		} `cmd:""`
		Whoami struct{ config.Target } `cmd:"" aliases:"me"`
		Mock   struct {
			List struct{ config.Target } `cmd:""`
			Get  struct {
				config.Target

				Mock string `arg:""`
			} `cmd:""`
		} `cmd:""`
		Show struct {
			All struct {
				Output string `name:"output" short:"o"`
			} `cmd:"" default:"withargs" hidden:""`
			Check struct{} `cmd:""`
		} `cmd:""`
	}
	app, err := kong.New(&grammar, kong.Name("mockbase"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want, wrong string }{
		{"", "", ""},
		{"whoami", "whoami", ""},
		{"--token T whoami", "whoami --token T", ""},
		{"--token=T me -q", "me --token=T -q", ""},
		{"-v --config whoami -p shop -q whoami", "-v --config whoami -q whoami -p shop", ""},
		{"-pshop mock --output json get get", "mock get -pshop --output json get", ""},
		{"mock get --token T -- --token", "mock get --token T -- --token", ""},
		{"--token T mock get -- --token", "mock get --token T -- --token", ""},
		{"-o json show", "show -o json", ""},
		{"-o json show check", "", "--output: the command show check takes no such flag, as what it prints has one form"},
		{"-p x -o json show", "", "--project: the command show takes no such flag, as it calls no server that a flag names"},
		{"--server S serve dir", "", "--server: the command serve takes no such flag, as it calls no server that a flag names"},
		{"serve dir -q --server=S", "", "--server: the command serve takes no such flag, as it calls no server that a flag names"},
		{"serve dir -o json", "", "--output: the command serve takes no such flag, as what it prints has one form"},
		{"serve - -x -- --server", "serve - -x -- --server", ""},
		{"mock get --output --token", "mock get --output --token", ""},
		{"--toke T whoami", "", "unknown flag --toke, did you mean \"--token\"?"},
		{"mock --confg=x get", "", "unknown flag --confg, did you mean \"--config\"?"},
		{"--token", "", "--token: its value is missing"},
		{"--token -q whoami", "", "--token: its value is missing"},
		{"--token T", "", ""},
		{"--token T mock", "mock", ""},
		{"--token T mock nope", "mock nope", ""},
		{"--token T whoamy", "whoamy", ""},
		{"--token T --bogus whoami", "--bogus whoami --token T", ""},
		{"--token T -- whoami", "-- whoami", ""},
		{"- whoami", "- whoami", ""},
		{"-", "-", ""},
		{"--config", "--config", ""},
	} {
		got, err := config.Hoist(app.Model.Node, strings.Fields(c.line))
		wrong := ""
		if err != nil {
			wrong = err.Error()
		}
		if strings.Join(got, " ") != c.want || wrong != c.wrong {
			t.Errorf("%s: %q, %s", c.line, got, wrong)
		}
	}
}
