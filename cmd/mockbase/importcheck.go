package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/interchange"
)

func (c *importCommand) isAddress() bool {
	return strings.HasPrefix(c.Src, "http://") || strings.HasPrefix(c.Src, "https://")
}

// formatNames are the values of --from.
func formatNames() []string {
	var names []string
	for _, f := range interchange.Formats() {
		names = append(names, string(f))
	}
	return names
}

// check refuses what the server would refuse, in words of the command line, and what goes with another source alone.
func (c *importCommand) check() error {
	wrong := func(fix, format string, args ...any) error {
		return &failure{code: exitUsage, err: fmt.Errorf(format, args...), fix: fix}
	}
	if c.From == "" {
		c.From = string(interchange.FormatAuto)
	}
	if !slices.Contains(formatNames(), c.From) {
		return unknownChoice("--from", c.From, formatNames())
	}
	if err := interchange.CheckPrefix(c.Prefix); err != nil {
		return wrong("write it like --prefix /v1, with a slash before and none behind", "--prefix: %q is no path", c.Prefix)
	}
	if scheme, _, ok := strings.Cut(c.Src, "://"); ok && !c.isAddress() {
		return wrong("fetch the file yourself and name it, or pipe it in: mockbase import -", "addresses that begin with %s:// are not fetched, only http:// and https://", scheme)
	}
	if c.Root != "" && (c.Src == "-" || c.isAddress()) {
		return wrong("leave --root out", "--root names a file of a folder or archive, and %s is one file", c.Src)
	}
	if c.From != string(interchange.FormatAuto) {
		return c.checkFor(interchange.Format(c.From))
	}
	return nil
}

// checkFor refuses the flags that say nothing of a format.
func (c *importCommand) checkFor(format interchange.Format) error {
	if format == interchange.FormatOpenAPI {
		return nil
	}
	for _, f := range []struct {
		flag  string
		given bool
	}{{"--expand", c.Expand}, {"--limits", c.Limits}, {"--root", c.Root != ""}} {
		if f.given {
			return &failure{code: exitUsage, err: fmt.Errorf("%s is about OpenAPI documents, and %s is read as %s", f.flag, c.Src, format), fix: "leave " + f.flag + " out"}
		}
	}
	if format == interchange.FormatMockBase && c.Prefix != "" {
		return &failure{
			code: exitUsage, err: fmt.Errorf("--prefix is for files of other tools, and %s is read as a definition, whose paths are final", c.Src), fix: "leave --prefix out",
		}
	}
	return nil
}

// onlyOnServer refuses, beside --to, what only a server can do: there is no project that could have a conflict, and nothing
// that an owner would be remembered of.
func (c *importCommand) onlyOnServer() error {
	refuse := func(what, fix string) error {
		return &failure{code: exitUsage, err: fmt.Errorf("--to writes a file without a server, and %s", what), fix: fix}
	}
	switch {
	case c.isAddress():
		return refuse("fetches nothing: the source is the address "+c.Src, "pipe it in: curl -sS "+c.Src+" | mockbase import - --to "+c.To)
	case c.Source != "":
		return refuse("a file has no owner: --source says nothing there", "give --source to mockbase apply, which remembers it")
	case c.OnConflict != "":
		return refuse("nothing is there yet that --on-conflict could be about", "leave --on-conflict out")
	case c.DryRun:
		return refuse("changes no project: --dry-run says nothing there", "write --to - to see what would be written")
	}
	return writable("--to", c.To)
}

// writable refuses a folder where a file is to be written.
func writable(flag, path string) error {
	if path == "" || path == "-" {
		return nil
	}
	info, err := os.Stat(path)
	if folder := err == nil && info.IsDir(); !folder {
		return nil
	}
	return &failure{
		code: exitUsage, err: fmt.Errorf("%s names a file, and %s is a folder", flag, path), fix: "name a file in it, such as " + filepath.Join(path, "mocks.yaml"),
	}
}

// inFlags says in words of the command line what the server says in those of its API.
func (c *importCommand) inFlags(err error) error {
	refused, ok := errors.AsType[*client.RefusedError](err)
	if !ok {
		return err
	}
	message, _, _ := strings.Cut(refused.Problem.Message, "; send ")
	switch refused.Problem.Code {
	case mockbase.CodeApplyConflict:
		return &failure{
			code: exitConflict, what: "import " + c.Src, err: errors.New(message + ": nothing was imported"),
			fix: "--on-conflict=replace takes these items over, --on-conflict=skip keeps them and imports the others; --dry-run lists them",
		}
	case mockbase.CodeUpstreamRefused:
		return &failure{
			code: exitBadInput, what: "import " + c.Src, err: errors.New(message),
			fix: "fetch it yourself: curl -sS " + c.Src + " | mockbase import -; or have the server allow the address: --allow-upstream of serve",
		}
	default:
		return c.unrecognised(err)
	}
}

// unrecognised turns what is said of a file that no tool wrote into words of the command line.
func (c *importCommand) unrecognised(err error) error {
	known, ok := errors.AsType[*mockbase.Error](err)
	if refused, answered := errors.AsType[*client.RefusedError](err); answered {
		known, ok = refused.Problem, true
	}
	if !ok || known.Code != mockbase.CodeFormatNotRecognised {
		return err
	}
	message, _, _ := strings.Cut(known.Message, "; ")
	return &failure{
		code: exitBadInput, what: "import " + c.Src, err: errors.New(message),
		fix: "if it is the right file, name the tool that wrote it: --from " + strings.Join(formatNames()[1:], "|"),
	}
}

// warn tells what the import changed or left out, with its place. The pointer of a file among several begins with its name.
func (c *importCommand) warn(p *process, f mockbase.FieldError) {
	if p.quiet {
		return
	}
	place := c.Src
	file, below, found := strings.Cut(f.Pointer, "#")
	switch {
	case !found || file == "":
	case strings.Contains(file, "://"):
		place = file
	default:
		place = filepath.Join(c.Src, filepath.FromSlash(file))
	}
	if f.Line > 0 {
		place += fmt.Sprintf(":%d:%d", f.Line, f.Column)
	}
	printf(p.Err, "%s: warning: #%s: %s [%s]\n", place, below, f.Detail, f.Code)
}
