package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/store"
	"github.com/mockbase/mockbase/store/sqlite"
)

// databaseName is the file in the data directory that holds definitions and accounts.
const databaseName = "mockbase.db"

// backupsName is the folder in it that holds copies of that file.
const backupsName = "backups"

// dataDir is the folder where everything is kept; its path is "" when nothing is.
type dataDir struct {
	path   string
	origin config.Origin
	logger *slog.Logger
	clock  func() time.Time
}

// open opens the store, and explains what keeps it from being opened (rule C-80).
func (d *dataDir) open(ctx context.Context) (*sqlite.DB, error) {
	options := sqlite.Options{Clock: d.clock, Logger: d.logger}
	if d.path != "" {
		options.Path = filepath.Join(d.path, databaseName)
	}
	db, err := sqlite.Open(ctx, options)
	if err != nil {
		return nil, d.explain(err)
	}
	if kind := networkFileSystem(d.path); kind != "" {
		d.logger.Warn("the data directory lies on a network file system, where a database can be damaged: choose a local folder",
			slog.String("data_dir", d.path), slog.String("file_system", kind))
	}
	return db, nil
}

func (d *dataDir) explain(err error) error {
	f := &failure{code: exitEnvironment, what: "open data directory " + d.path, err: err}
	if locked, ok := errors.AsType[*store.LockedError](err); ok {
		f.err = errors.New("another process uses it" + pidText(locked.PID))
		f.fix = "stop that process, or choose another folder with --data-dir or MOCKBASE_DATA_DIR"
		return f
	}
	if newer, ok := errors.AsType[*store.NewerError](err); ok {
		f.err = fmt.Errorf("a newer MockBase wrote the database: its version is %d, this program (%s) knows up to %d. Nothing was changed", newer.Have, version, newer.Known)
		f.fix = "start the newer program or image, or restore a backup of the folder from before the upgrade"
		return f
	}
	if damaged, ok := errors.AsType[*store.DamagedError](err); ok {
		f.err = fmt.Errorf("the database is damaged: %s", damaged.Result)
		f.fix = "mockbase backup restore --from BACKUP; to look at the damage: mockbase db check"
		return f
	}
	if isDiskFull(err) {
		f.err = fmt.Errorf("the disk is full: %s free", freeSpace(d.path))
		f.fix = "free some space, or choose another folder with --data-dir or MOCKBASE_DATA_DIR"
		return f
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		f.err = errors.New("it cannot be written: " + ownerText(d.path))
		f.fix = fmt.Sprintf("chown -R %d:%d %s, or use a named volume (-v mockbase:/data)", os.Getuid(), os.Getgid(), nearest(d.path))
		return f
	}
	if broken, ok := errors.AsType[*fs.PathError](err); ok {
		f.err = fmt.Errorf("%s: %w", broken.Path, broken.Err)
		f.fix = "choose a folder with --data-dir or MOCKBASE_DATA_DIR"
	}
	return f
}

func pidText(pid int) string {
	if pid == 0 {
		return ""
	}
	return fmt.Sprintf(" (pid %d)", pid)
}

// isDiskFull tells whether an error, from the system or from the store, is about a full disk.
func isDiskFull(err error) bool {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return true
	}
	refused, ok := errors.AsType[*driver.Error](err)
	return ok && refused.Code()&0xff == codes.SQLITE_FULL
}

// nearest returns the path, or the closest folder above it that is there.
func nearest(path string) string {
	for {
		parent := filepath.Dir(path)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) || parent == path {
			return path
		}
		path = parent
	}
}

// ownerText says whose a folder is, and who we are.
func ownerText(path string) string {
	who := fmt.Sprintf("we are %d:%d", os.Getuid(), os.Getgid())
	path = nearest(path)
	info, err := os.Stat(path)
	if err != nil {
		return who
	}
	return fmt.Sprintf("%s is %s%s, %s", path, ownerOf(info), info.Mode().Perm(), who)
}
