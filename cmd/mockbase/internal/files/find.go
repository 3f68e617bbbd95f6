package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// The bounds of a folder: deeper trees and larger files are no definitions.
const (
	maxDepth    = 32
	maxFileSize = 10 << 20
)

// source is a definition file that was found.
type source struct {
	// path is how messages name the file; name is its place below the folder, with slashes.
	path, name string
	format     mockbase.Format
	text       []byte
	// open reads a file below the folder that the definition is in.
	open func(name string) ([]byte, error)
	// below reads a file below the folder that is loaded.
	below func(name string) ([]byte, error)
}

// folder is the folder of mocks that the file stands for: its place below the root.
func (s *source) folder() string {
	if dir := path.Dir(s.name); dir != "." {
		return dir
	}
	return ""
}

// open reads the definitions at p: a path, or "-" for the input of the options.
func (o *Options) open(p string, read States) (sources []*source, folders []string, err error) {
	if p != "-" {
		return openPath(p, read)
	}
	input := o.Input
	if input == nil {
		input = strings.NewReader("")
	}
	text, err := io.ReadAll(io.LimitReader(input, maxFileSize+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", inputName, err)
	}
	// JSON is YAML as well, but the places of its faults are told better when it is read as what it is. YAML may begin with a brace, too.
	none := opener(filepath.Join(".", "input.yaml"), read)
	s := &source{path: inputName, name: "input.yaml", format: mockbase.FormatYAML, text: text, open: none, below: none}
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' && !onlyYAML(text) {
		s.format = mockbase.FormatJSON
	}
	return []*source{s}, nil, nil
}

// onlyYAML tells whether a text is YAML and no JSON.
func onlyYAML(text []byte) bool {
	if json.Valid(text) {
		return false
	}
	_, _, err := mockbase.ParseTolerant(text, mockbase.FormatYAML, mockbase.ParseLimits{Bytes: maxFileSize})
	return err == nil
}

// openPath reads the definition files at p, which is a file or a folder. It also returns every folder that it looked
// into, as paths, so that they can be watched. What the files name is noted in read when it is read.
func openPath(p string, read States) (sources []*source, folders []string, err error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		if formatOf(p) == "" {
			return nil, nil, fmt.Errorf("%s is no definition: its name ends neither in .yaml, .yml nor .json; a file of another tool comes in with mockbase import %s --to mocks.yaml", p, p)
		}
		text, err := os.ReadFile(p) //nolint:gosec // the operator names the file
		if err != nil {
			return nil, nil, err
		}
		beside := opener(filepath.Dir(p), read)
		return []*source{{path: p, name: filepath.Base(p), format: formatOf(p), text: text, open: beside, below: beside}}, []string{filepath.Dir(p)}, nil
	}
	// A root refuses links that leave it, however they are written, also while somebody changes them.
	root, err := os.OpenRoot(p)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	w := walk{fsys: root.FS(), stat: root.Stat}
	if err := w.enter(".", 0); err != nil {
		return nil, nil, err
	}
	for _, s := range w.sources {
		s.path = filepath.Join(p, filepath.FromSlash(s.name))
		s.open, s.below = opener(filepath.Dir(s.path), read), opener(p, read)
	}
	for _, dir := range w.folders {
		folders = append(folders, filepath.Join(p, filepath.FromSlash(dir)))
	}
	return w.sorted(), folders, nil
}

// openFS reads the definition files of a file system that is not on disk. Messages name them below prefix.
func openFS(fsys fs.FS, prefix string) ([]*source, error) {
	w := walk{fsys: fsys, stat: func(name string) (fs.FileInfo, error) { return fs.Stat(fsys, name) }}
	if err := w.enter(".", 0); err != nil {
		return nil, err
	}
	for _, s := range w.sources {
		s.path = path.Join(prefix, s.name)
		s.open = func(name string) ([]byte, error) { return readFrom(fsys, path.Join(path.Dir(s.name), name)) }
		s.below = func(name string) ([]byte, error) { return readFrom(fsys, name) }
	}
	return w.sorted(), nil
}

// walk collects definition files. Links are followed inside the root; a folder that was seen under another name is not
// entered again, so that no link leads in circles.
type walk struct {
	fsys    fs.FS
	stat    func(name string) (fs.FileInfo, error)
	seen    []fs.FileInfo
	folders []string
	sources []*source
}

func (w *walk) enter(dir string, depth int) error {
	info, err := w.stat(dir)
	if err != nil {
		return err
	}
	if depth > maxDepth || slices.ContainsFunc(w.seen, func(other fs.FileInfo) bool { return os.SameFile(info, other) }) {
		return nil
	}
	w.seen = append(w.seen, info)
	w.folders = append(w.folders, dir)
	entries, err := fs.ReadDir(w.fsys, dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if err := w.take(path.Join(dir, entry.Name()), entry, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) take(name string, entry fs.DirEntry, depth int) error {
	info, err := w.stat(name)
	if err != nil {
		if entry.Type()&fs.ModeSymlink != 0 || errors.Is(err, fs.ErrNotExist) {
			// A link that leaves the root or leads nowhere, or a file that went away meanwhile.
			return nil
		}
		return err
	}
	if info.IsDir() {
		return w.enter(name, depth+1)
	}
	format := formatOf(name)
	if format == "" || !info.Mode().IsRegular() {
		return nil
	}
	text, err := fs.ReadFile(w.fsys, name)
	if err != nil {
		return err
	}
	w.sources = append(w.sources, &source{name: name, format: format, text: text})
	return nil
}

// sorted puts the files into byte order of their place, which is the order that they apply in (mock format, section 4).
func (w *walk) sorted() []*source {
	slices.SortFunc(w.sources, func(a, b *source) int { return strings.Compare(a.name, b.name) })
	return w.sources
}

// formatOf tells the notation of a file from its name, "" for a file that is no definition.
func formatOf(name string) mockbase.Format {
	switch strings.ToLower(path.Ext(filepath.ToSlash(name))) {
	case ".yaml", ".yml":
		return mockbase.FormatYAML
	case ".json":
		return mockbase.FormatJSON
	}
	return ""
}
