package files_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// quiet is longer than a busy machine needs from one step of a change to the next.
const quiet = time.Second

// watching runs a watcher of dir and returns a channel with a value for each change.
func watching(t *testing.T, dir string) <-chan struct{} {
	t.Helper()
	w, err := files.NewWatcher([]string{dir}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w.Pace(quiet, time.Hour)
	before := w.Print()
	ctx, stop := context.WithCancel(t.Context())
	changes, gone := make(chan struct{}, 100), make(chan struct{})
	go func() {
		defer close(gone)
		w.Run(ctx, before, func() { changes <- struct{}{} })
	}()
	t.Cleanup(func() {
		stop()
		<-gone
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return changes
}

// seen waits for one change and makes sure that no other follows it.
func seen(t *testing.T, changes <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-changes:
	case <-time.After(time.Minute):
		t.Fatalf("%s was not noticed", what)
	}
	select {
	case <-changes:
		t.Errorf("%s was noticed twice", what)
	case <-time.After(2 * quiet):
	}
}

func TestC23_a_change_is_noticed_once_it_has_been_quiet(t *testing.T) {
	t.Parallel()
	dir := tree(t, "-- a.yaml --\nmocks: []\n")
	changes := watching(t, dir)

	write(t, dir, "a.yaml", "mocks: [1]\n")
	write(t, dir, "b.yaml", "mocks: [2]\n")
	seen(t, changes, "writing two files")

	write(t, dir, "new/folder/c.yaml", "mocks: []\n")
	seen(t, changes, "a file in a new folder")

	write(t, dir, "new/folder/c.yaml", "mocks: [1]\n")
	seen(t, changes, "a change in a folder that came later")

	// Editors write a new file and rename it over the old one.
	write(t, dir, ".a.yaml.swp", "mocks: [1, 2, 3]\n")
	if err := os.Rename(filepath.Join(dir, ".a.yaml.swp"), filepath.Join(dir, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	seen(t, changes, "a file replaced by rename")

	if err := os.RemoveAll(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	seen(t, changes, "a folder that went away")
}

func TestC23_hidden_files_change_nothing(t *testing.T) {
	t.Parallel()
	dir := tree(t, "-- a.yaml --\nmocks: []\n")
	changes := watching(t, dir)
	write(t, dir, ".hidden.yaml", "mocks: []\n")
	write(t, dir, ".git/index", "words\n")
	select {
	case <-changes:
		t.Error("a change was noticed")
	case <-time.After(2 * quiet):
	}
	write(t, dir, "a.yaml", "mocks: [1]\n")
	seen(t, changes, "a change behind those")

	// A definition may name any file as the body of an answer.
	write(t, dir, "logo.png", "bytes")
	seen(t, changes, "a file that is no definition")
}

// What happens between the first load and the first look is not lost.
func TestC23_a_change_before_the_watch_began_is_noticed(t *testing.T) {
	t.Parallel()
	dir := tree(t, "-- a.yaml --\nmocks: []\n")
	w, err := files.NewWatcher([]string{dir}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	before := w.Print()
	write(t, dir, "a.yaml", "mocks: [1]\n")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	changed, gone := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(gone)
		w.Run(ctx, before, func() { changed <- struct{}{} })
	}()
	select {
	case <-changed:
	case <-time.After(time.Minute):
		t.Error("the change was not noticed")
	}
	stop()
	<-gone
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// A mount may send no events at all: here the folder is reached by a path that is watched nowhere.
func TestC23_a_scan_finds_what_sends_no_events(t *testing.T) {
	t.Parallel()
	dir := tree(t, "-- real/a.yaml --\nmocks: []\n")
	link := filepath.Join(dir, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	w, err := files.NewWatcher([]string{link}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil { // from now on there are no events
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	changed, gone := make(chan struct{}, 1), make(chan struct{})
	before := w.Print()
	go func() {
		defer close(gone)
		w.Run(ctx, before, func() { changed <- struct{}{} })
	}()
	write(t, dir, "real/a.yaml", "mocks: [1]\n")
	select {
	case <-changed:
	case <-time.After(time.Minute):
		t.Error("the scan found nothing")
	}
	stop()
	<-gone
}

// Rule C-23: what a file names is watched with it, in whatever folder it lies, also a file that is not there yet.
func TestC23_changes_of_named_files_are_noticed(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- shop.yaml --
documents: [{ name: api, file: sub/api.yaml }]
mocks: [{ request: GET /x, response: { file: bodies/x.txt } }]
-- sub/api.yaml --
openapi: 3.0.0
info: { title: t, version: '1' }
paths:
  /p:
    get:
      responses:
        '200':
          description: d
          content:
            application/json:
              schema: { $ref: models/pet.yaml }
              examples: { one: { externalValue: examples/one.json } }
    put: { responses: { '200': { $ref: models/later.yaml } } }
-- sub/models/pet.yaml --
type: object
-- sub/examples/one.json --
{}
-- bodies/x.txt --
text
-- bodies/other.txt --
text
`)
	options := files.Options{Paths: []string{filepath.Join(dir, "shop.yaml")}}
	w, err := files.NewWatcher(options.Paths, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w.Pace(quiet, quiet)
	before := w.Print()
	load := func() {
		set, err := files.Load(options)
		if err != nil {
			t.Error(err)
			return
		}
		w.Also(set.Named)
	}
	load()
	ctx, stop := context.WithCancel(t.Context())
	changes, gone := make(chan struct{}, 100), make(chan struct{})
	go func() {
		defer close(gone)
		w.Run(ctx, before, func() { load(); changes <- struct{}{} })
	}()
	for _, name := range []string{"sub/api.yaml", "sub/models/pet.yaml", "sub/examples/one.json", "sub/models/later.yaml", "bodies/x.txt"} {
		text, _ := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))) // one is not there yet
		write(t, dir, name, string(text)+"\n")
		seen(t, changes, name)
	}
	write(t, dir, "bodies/other.txt", "other text\n")
	select {
	case <-changes:
		t.Error("a file that nothing names was noticed")
	case <-time.After(2 * quiet):
	}
	stop()
	<-gone
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
