package files

import (
	"context"
	"fmt"
	"hash/maphash"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The times of rule C-23. An editor writes a file in several steps, which a moment of quiet joins; a bind mount may send
// no events at all, which a look from time to time makes up for.
const (
	quiet    = 100 * time.Millisecond
	scanning = 2 * time.Second
)

// States are files by their paths, each with what tells one state of it from another.
type States map[string]string

// note adds a file as it is now. What is known of it already is older, and stays.
func (s States) note(p string) {
	if _, known := s[p]; !known {
		s[p] = stateOf(p)
	}
}

// stateOf differs when a file's size or time differs; it is "" for one that is not there.
func stateOf(p string) string {
	info, err := os.Stat(p)
	if err != nil {
		return ""
	}
	return fmt.Sprintln(info.Size(), info.ModTime().UnixNano())
}

// Watcher tells when the files below some paths change, and those that they name.
type Watcher struct {
	paths []string
	// named are further files, as they were when they were last looked at.
	named  States
	logger *slog.Logger
	events *fsnotify.Watcher
	seed   maphash.Seed
	// quiet and scanning are the constants of these names.
	quiet, scanning time.Duration
}

// NewWatcher watches paths, which are folders and files. Folders are watched and not files, because an editor that
// replaces a file takes the watch on it away.
func NewWatcher(paths []string, logger *slog.Logger) (*Watcher, error) {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	return &Watcher{paths: paths, logger: logger, events: events, seed: maphash.MakeSeed(), quiet: quiet, scanning: scanning}, nil
}

// Run calls changed after each change, once it has been quiet for a moment, until ctx ends. Calls never overlap. A change
// that happened between the first load and Run is seen, if before is the print taken then; see [Watcher.Print].
func (w *Watcher) Run(ctx context.Context, before uint64, changed func()) {
	w.follow()
	last := before
	scan := time.NewTicker(w.scanning)
	defer scan.Stop()
	settled := time.NewTimer(w.quiet)
	defer settled.Stop()
	events, failures := w.events.Events, w.events.Errors
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-events:
			if !open {
				events = nil // from now on there is the scan
				continue
			}
			settled.Reset(w.quiet)
		case err, open := <-failures:
			if !open {
				failures = nil
				continue
			}
			w.logger.Debug("file events were lost; the next scan makes up for them", slog.Any("error", err))
		case <-scan.C:
			if w.differs(last) {
				settled.Reset(0)
			}
		case <-settled.C:
			if w.differs(last) {
				last = w.renew()
				changed()
				w.follow()
			}
		}
	}
}

// Also watches the files that definitions name, in the place of those of an earlier call; they may lie in folders that are not
// watched. A change since they were noted is seen. It is for the time before Run, and for what Run calls.
func (w *Watcher) Also(named States) {
	w.named = named
}

// differs tells whether a file is no longer what it was, which for those below the paths is their print.
func (w *Watcher) differs(before uint64) bool {
	for p, state := range w.named {
		if stateOf(p) != state {
			return true
		}
	}
	return w.Print() != before
}

// renew takes the named files as they are now, and returns the print of the others.
func (w *Watcher) renew() uint64 {
	for p := range w.named {
		w.named[p] = stateOf(p)
	}
	return w.Print()
}

// Close stops watching. It may be called again.
func (w *Watcher) Close() error {
	return w.events.Close()
}

// follow watches every folder that is there. One that cannot be watched is left to the scan.
func (w *Watcher) follow() {
	watched := w.events.WatchList()
	w.visit(func(p string, info fs.FileInfo) {
		if info.IsDir() && !slices.Contains(watched, p) {
			if err := w.events.Add(p); err != nil {
				w.logger.Debug("folder is scanned and not watched", slog.String("folder", p), slog.Any("error", err))
			}
		}
	})
	for _, p := range w.paths {
		if dir := filepath.Dir(p); formatOf(p) != "" && !slices.Contains(watched, dir) {
			_ = w.events.Add(dir)
		}
	}
	for p := range w.named {
		if dir := filepath.Dir(p); !slices.Contains(w.events.WatchList(), dir) {
			_ = w.events.Add(dir) // a folder that is not there is left to the scan
		}
	}
}

// Print is a number that differs when a file's name, size or time differs.
func (w *Watcher) Print() uint64 {
	var h maphash.Hash
	h.SetSeed(w.seed)
	w.visit(func(p string, info fs.FileInfo) {
		line := p
		if !info.IsDir() {
			line = fmt.Sprintln(p, info.Size(), info.ModTime().UnixNano())
		}
		_, _ = h.WriteString(line + "\n") // never fails
	})
	return h.Sum64()
}

// visit shows every folder and file below the paths, with what a link leads to. It looks wider than the loader, which
// costs a load too many and never one too few: any file may be the body of an answer. What went away meanwhile is a change, and no failure.
func (w *Watcher) visit(show func(p string, info fs.FileInfo)) {
	for _, root := range w.paths {
		if target, err := filepath.EvalSymlinks(root); err == nil {
			root = target // a walk does not enter a link, not even where it begins
		}
		_ = filepath.WalkDir(root, func(p string, entry fs.DirEntry, err error) error {
			hidden := err == nil && p != root && strings.HasPrefix(entry.Name(), ".")
			if hidden && entry.IsDir() {
				return filepath.SkipDir
			}
			if info, failed := os.Stat(p); failed == nil && !hidden {
				show(p, info)
			}
			return nil
		})
	}
}
