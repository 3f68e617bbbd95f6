package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/management"
)

// initCommand writes a first file of mocks (rule C-40).
type initCommand struct {
	config.Idle
	config.IdleProject
	config.IdleForm

	Dir string `arg:"" optional:"" default:"." name:"dir" help:"Folder to write into."`
}

const firstMocks = `# Mocks of one project. "mockbase serve ." answers from this file and loads it again when it changes; "mockbase validate
# -f ." checks it without a server, and "mockbase apply -f ." sends it to one.
#
# project: shop          # the project that these mocks belong to; "default" without it

defaults:
  template: true         # texts may hold {{ … }}

mocks:
  - name: hello
    request: GET /hello/{name}
    response:
      status: 200
      json:
        message: "Hello, {{ path.name }}"
`

// Run never overwrites anything.
func (c *initCommand) Run(p *process) error {
	path := filepath.Join(c.Dir, "mocks.yaml")
	err := os.MkdirAll(c.Dir, 0o755) //nolint:gosec // mocks are there to be shared
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // likewise
	}
	if errors.Is(err, fs.ErrExist) {
		return &failure{code: exitConflict, what: "write " + path, err: errors.New("it is there already, and nothing is overwritten"), fix: "name another folder"}
	}
	if err == nil {
		_, err = f.WriteString(firstMocks)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return &failure{code: exitEnvironment, what: "write " + path, err: err, fix: "name a folder that this user can write"}
	}
	printf(p.Out, "%s\n", path)
	p.done("mockbase serve %s answers from it", c.Dir)
	return nil
}

// openAPICommand prints the description of the management API.
type openAPICommand struct {
	config.Form
	config.Idle
	config.IdleProject

	JSON bool `name:"json" help:"Print JSON in place of YAML."`
}

// Run prints the document that the server serves (M-245).
func (c *openAPICommand) Run(p *process) error {
	text := management.Description()
	form := c.Or(config.OutputYAML)
	if c.JSON {
		form = c.Or(config.OutputJSON)
	}
	if form == config.OutputYAML || form == config.OutputTable {
		printf(p.Out, "%s", text)
		return nil
	}
	root, err := mockbase.ParseNode(text, mockbase.FormatYAML, mockbase.ParseLimits{Bytes: maxDefinition})
	if err != nil {
		return err
	}
	return p.printDocument(form, root.JSON())
}

// completionCommand prints a script that completes command lines.
type completionCommand struct {
	config.Idle
	config.IdleProject
	config.IdleForm

	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is what kong prints below the summary.
func (*completionCommand) Help() string {
	return `Load it where your shell starts: source <(mockbase completion bash), source <(mockbase completion zsh), or
mockbase completion fish | source.`
}

// Run prints a script with every command and its flags in it.
func (c *completionCommand) Run(p *process, command *kong.Context) error {
	lines := map[string]string{}
	collect(command.Model.Node, "", lines)
	var b strings.Builder
	names := slices.Sorted(maps.Keys(lines))
	switch c.Shell {
	case "fish":
		for _, name := range names {
			condition := "__fish_use_subcommand"
			if name != "" {
				condition = "test (string join ' ' -- (string match -v -- '-*' (commandline -opc)[2..])) = '" + name + "'"
			}
			fmt.Fprintf(&b, "complete -c mockbase -f -n %s -a %s\n", quoted(condition), quoted(lines[name]))
		}
	default:
		if c.Shell == "zsh" {
			fmt.Fprintf(&b, "autoload -Uz bashcompinit && bashcompinit\n")
		}
		fmt.Fprintf(&b, "_mockbase() {\n  local word path=\"\" list=\"\"\n  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case \"$word\" in -*) ;; *) path=\"${path:+$path }$word\" ;; esac\n  done\n  case \"$path\" in\n")
		for _, name := range names {
			fmt.Fprintf(&b, "    %s) list=%s ;;\n", quoted(name), quoted(lines[name]))
		}
		fmt.Fprintf(&b, "  esac\n  COMPREPLY=($(compgen -W \"$list\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -o default -F _mockbase mockbase\n")
	}
	_, err := io.WriteString(p.Out, b.String())
	return err
}

// collect notes, for each command, the words that may follow it.
func collect(node *kong.Node, path string, into map[string]string) {
	var words []string
	for _, child := range node.Children {
		if child.Hidden || child.Type != kong.CommandNode {
			continue
		}
		words = append(words, child.Name)
		collect(child, strings.TrimSpace(path+" "+child.Name), into)
	}
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			words = append(words, "--"+flag.Name)
		}
	}
	into[path] = strings.Join(words, " ")
}
