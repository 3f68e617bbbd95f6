package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/interchange"
)

// attach puts the source into the body: a file as it is, a folder as an archive.
func (c *importCommand) attach(files []interchange.File, request *client.Request) error {
	request.Type, request.Body = "application/octet-stream", files[0].Text
	if len(files) == 1 {
		return nil
	}
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, f := range files {
		w, err := archive.Create(f.Name)
		if err != nil {
			return fmt.Errorf("pack %s: %w", f.Name, err)
		}
		if _, err := w.Write(f.Text); err != nil {
			return fmt.Errorf("pack %s: %w", f.Name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("pack %s: %w", c.Src, err)
	}
	request.Type, request.Body = "application/zip", packed.Bytes()
	return nil
}

// files reads the source, which must hold something, and the file that --root names.
func (c *importCommand) files(p *process) ([]interchange.File, error) {
	files, err := c.read(p)
	if err != nil {
		return nil, c.unreadable(err)
	}
	if !slices.ContainsFunc(files, func(f interchange.File) bool { return len(bytes.TrimSpace(f.Text)) > 0 }) {
		return nil, &failure{code: exitBadInput, what: "import " + c.Src, err: errors.New("there is nothing in it"), fix: "name the file or folder that the other tool wrote"}
	}
	archive := len(files) == 1 && interchange.IsArchive(files[0].Text)
	if c.Root != "" && !archive && !slices.ContainsFunc(files, func(f interchange.File) bool { return f.Name == c.Root }) {
		return nil, c.noRoot(files)
	}
	return files, nil
}

// mostNamed is how many files a message names at most.
const mostNamed = 10

// noRoot says that --root names no file.
func (c *importCommand) noRoot(files []interchange.File) error {
	if len(files) == 1 {
		return &failure{
			code: exitUsage, err: fmt.Errorf("--root names a file of a folder or archive, and %s is one file", c.Src), fix: "leave --root out",
		}
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	return &failure{
		code: exitBadInput, err: fmt.Errorf("--root: the folder %s has no file %q", c.Src, c.Root), fix: "name one of " + strings.Join(names[:min(len(names), mostNamed)], ", "),
	}
}

// read reads the source: standard input, one file, or all files of a folder.
func (c *importCommand) read(p *process) ([]interchange.File, error) {
	if c.Src == "-" {
		text, err := readBounded(p.In)
		return []interchange.File{{Name: "standard input", Text: text}}, err
	}
	info, err := os.Stat(c.Src)
	if err != nil {
		return nil, err //nolint:wrapcheck // unreadable says what it is about
	}
	if info.IsDir() {
		return readFolder(os.DirFS(c.Src))
	}
	text, err := readFile(os.DirFS(filepath.Dir(c.Src)), filepath.Base(c.Src))
	return []interchange.File{{Name: filepath.Base(c.Src), Text: text}}, err
}

func (c *importCommand) unreadable(err error) error {
	f := &failure{code: exitBadInput, what: "import " + c.Src, err: err, fix: "name a file or folder that this user can read"}
	if broken, ok := errors.AsType[*fs.PathError](err); ok {
		f.err = broken.Err
	}
	if here, wrong := os.Getwd(); wrong == nil && errors.Is(err, fs.ErrNotExist) {
		f.fix = "name a file, a folder, an address with http:// or https://, or - for standard input; the path is looked up in " + here
	}
	if errors.Is(err, errTooLarge) || errors.Is(err, errEmptyFolder) {
		f.fix = ""
	}
	return f
}

// Why a source is not read.
var (
	errTooLarge    = errors.New("it is larger than what is imported at once: import it in parts")
	errEmptyFolder = errors.New("the folder is empty: name the one that holds the files")
)

func readBounded(from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, interchange.MaxBytes+1))
	if err == nil && len(text) > interchange.MaxBytes {
		err = errTooLarge
	}
	return text, err
}

func readFile(root fs.FS, name string) ([]byte, error) {
	file, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer func() { _ = file.Close() }() // nothing was written
	return readBounded(file)
}

// readFolder reads the regular files of a folder and of those inside it.
func readFolder(root fs.FS) ([]interchange.File, error) {
	var files []interchange.File
	size := 0
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if len(files) == interchange.MaxFiles {
			return errTooLarge
		}
		text, err := readFile(root, name)
		if size += len(text); err == nil && size > interchange.MaxBytes {
			err = errTooLarge
		}
		files = append(files, interchange.File{Name: name, Text: text})
		return err
	})
	if err == nil && len(files) == 0 {
		err = errEmptyFolder
	}
	return files, err
}
