package config

// Target says which server a command calls, as whom, and how its answer is shown (rules C-1 and C-2).
type Target struct {
	Server    string   `name:"server" group:"target" placeholder:"URL" help:"Address of the server. Without one: where login was, else http://127.0.0.1:8080."`
	ReadyFile string   `name:"ready-file" group:"target" placeholder:"FILE" help:"File that serve --ready-file wrote, in place of address and token."`
	Context   string   `name:"context" group:"target" placeholder:"NAME" help:"Server and sign-in that login keeps under this name."`
	Token     Secret   `name:"token" group:"target" placeholder:"TEXT" help:"API token. Others can see a flag: prefer --token-file or the variable."`
	TokenFile string   `name:"token-file" group:"target" placeholder:"FILE" help:"File with the API token."`
	Project   Slug     `name:"project" short:"p" group:"target" placeholder:"SLUG" help:"Project; needed where the server has several."`
	Output    Output   `name:"output" short:"o" default:"auto" group:"target" placeholder:"FORM" help:"Form of the data: table, json, yaml or ndjson; auto is a table on a terminal and json elsewhere."`
	Timeout   Duration `name:"timeout" default:"30s" group:"target" placeholder:"TIME" help:"How long a call may take, with what is tried again."`
	CAFile    string   `name:"ca-file" group:"target" placeholder:"FILE" help:"Certificates in PEM that sign the server's, beside those of the system."`
}

// Form says how a command that calls no server shows its data (rule C-1).
type Form struct {
	Output Output `name:"output" short:"o" default:"auto" group:"target" placeholder:"FORM" help:"Form of the data: table, json, yaml or ndjson; auto is what the command prints by itself."`
}

// Or is the form that was asked for, own where none was.
func (f Form) Or(own Output) Output {
	if f.Output == OutputAuto {
		return own
	}
	return f.Output
}

// Idle are the flags of [Target] for a command that calls no server: all commands of a client take them, so that they can stand
// in an alias or a script (rule C-40). Here they have no effect.
type Idle struct {
	Server    string   `name:"server" hidden:"" group:"target"`
	ReadyFile string   `name:"ready-file" hidden:"" group:"target"`
	Context   string   `name:"context" hidden:"" group:"target"`
	Token     Secret   `name:"token" hidden:"" group:"target"`
	TokenFile string   `name:"token-file" hidden:"" group:"target"`
	Timeout   Duration `name:"timeout" hidden:"" group:"target"`
	CAFile    string   `name:"ca-file" hidden:"" group:"target"`
}

// IdleProject is the project in a command that has none.
type IdleProject struct {
	Project string `name:"project" short:"p" hidden:"" group:"target"`
}

// IdleForm is the form in a command whose data has one alone.
type IdleForm struct {
	Output Output `name:"output" short:"o" default:"auto" hidden:"" group:"target"`
}

// Output is the form in which data is printed (rule C-1).
type Output string

// The forms.
const (
	OutputAuto  Output = "auto"
	OutputTable Output = "table"
	OutputJSON  Output = "json"
	OutputYAML  Output = "yaml"
	OutputLines Output = "ndjson"
)

// UnmarshalText takes one of the forms.
func (o *Output) UnmarshalText(text []byte) error {
	return oneOf((*string)(o), text, string(OutputTable), string(OutputJSON), string(OutputYAML), string(OutputLines), string(OutputAuto))
}

// Targets lists the settings of the commands that call a server, in the order of the struct.
func Targets() ([]Setting, error) { return tableOf(&Target{}) }
