package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
)

// authored is the YAML of a mock without what the server adds to it (M-62).
func authored(doc []byte) ([]byte, error) {
	root, err := mockbase.ParseNode(doc, mockbase.FormatJSON, mockbase.ParseLimits{Bytes: maxDefinition})
	if err != nil {
		return nil, fmt.Errorf("read mock: %w", err)
	}
	added := " id project version createdAt updatedAt updatedBy source readOnly urls warnings stats truncated "
	kept := &mockbase.Node{Kind: mockbase.NodeObject}
	for _, m := range root.Members {
		if !strings.Contains(added, " "+m.Key+" ") {
			kept.Members = append(kept.Members, m)
		}
	}
	return mockbase.EncodeMockYAML(kept.JSON())
}

// edit opens a text in the editor of $VISUAL or $EDITOR and saves what was changed. A text that cannot be saved is kept
// in a file, so that nothing that was written is lost.
func (r *remote) edit(name string, text []byte, save func([]byte) error) error {
	f, err := os.CreateTemp("", "mockbase-*.yaml") // mode 0600
	if err != nil {
		return &failure{code: exitEnvironment, what: "edit", err: err}
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return &failure{code: exitEnvironment, what: "edit", err: err}
	}
	if err := r.openEditor(f.Name()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	edited, err := os.ReadFile(f.Name())
	if err != nil {
		return &failure{code: exitEnvironment, what: "edit", err: err}
	}
	if bytes.Equal(edited, text) && name != "new" || len(bytes.TrimSpace(edited)) == 0 {
		r.done("nothing was changed")
		return os.Remove(f.Name())
	}
	if err := save(edited); err != nil {
		r.done("your text is kept in %s", f.Name())
		return inMock(f.Name(), edited, err)
	}
	return os.Remove(f.Name())
}

// openEditor runs the editor and waits for it.
func (r *remote) openEditor(path string) error {
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if stated, _ := r.lookup(name); stated != "" {
			editor = stated
		}
	}
	words := strings.Fields(editor)
	command := exec.CommandContext(r.ctx, words[0], append(words[1:], path)...) //nolint:gosec // the user names the editor
	command.Stdin, command.Stdout, command.Stderr = r.In, r.Out, r.Err
	if err := command.Run(); err != nil {
		return &failure{code: exitUsage, what: "run editor " + editor, err: err, fix: "name another with EDITOR, or write a file and use mock new -f, or apply -f"}
	}
	return nil
}

// inMock tells the places of faults in a text of one mock.
func inMock(path string, text []byte, err error) error {
	refused, ok := errors.AsType[*client.RefusedError](err)
	if !ok || len(refused.Problem.Fields) == 0 {
		return err
	}
	list := &faults{code: exitBadInput}
	for _, f := range mockbase.Locate(text, mockbase.FormatYAML, refused.Problem.Fields) {
		place := path
		if f.Line > 0 {
			place += fmt.Sprintf(":%d:%d", f.Line, max(f.Column, 1))
		}
		list.lines = append(list.lines, strings.TrimSpace(place+": "+memberPath(f.Pointer)+": "+f.Detail)+" ["+string(f.Code)+"]")
		list.fixes = append(list.fixes, "")
	}
	return list
}
