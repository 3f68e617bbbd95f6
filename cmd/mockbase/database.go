package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/backup"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/store"
	"github.com/mockbase/mockbase/store/sqlite"
)

// backupRestoreCommand puts a backup in the place of the database (rule C-40).
type backupRestoreCommand struct {
	config.Data

	From     string `name:"from" required:"" placeholder:"FILE" help:"File of a backup, or the id of one in the data directory."`
	Unproven bool   `name:"unproven" help:"Restore a file without its .sha256: its structure is checked, its content cannot be compared with what was written."`
}

// Help is what kong prints below the summary.
func (*backupRestoreCommand) Help() string {
	return `The backup is compared with the .sha256 file beside it, and checked, before anything is changed. The old database is kept beside the new one, under a name with
the time. Recorded traffic and signing keys are no part of a backup and stay as they are.`
}

// Run prints where the old database is kept.
func (c *backupRestoreCommand) Run(p *process) error {
	folder, err := keptIn(p, &c.Data)
	if err != nil {
		return err
	}
	from, err := c.file(folder)
	if err != nil {
		return err
	}
	proven, err := c.prove(from)
	if err != nil {
		return err
	}
	path := filepath.Join(folder.path, databaseName)
	kept := filepath.Join(folder.path, strings.TrimSuffix(databaseName, ".db")+"-before-"+p.clock().UTC().Format("20060102T150405.000Z")+".db")
	if err := sqlite.Restore(p.ctx, path, from, kept); err != nil {
		return c.explain(folder, from, err)
	}
	if !proven {
		p.warnUnproven(from)
	}
	if !p.quiet {
		printf(p.Err, "mockbase: restored %s from %s\n", path, from)
	}
	if _, err := os.Stat(kept); err == nil {
		printf(p.Out, "%s\n", kept)
	}
	return nil
}

// prove compares a backup with the digest that stands beside it. Without one it is restored only when that is asked for.
func (c *backupRestoreCommand) prove(from string) (proven bool, err error) {
	stated := backup.Stated(from)
	if stated == "" {
		if _, err := os.Stat(from); err != nil || c.Unproven {
			return false, nil //nolint:nilerr // That it is not there is told when it is opened.
		}
		return false, &failure{
			code: exitUsage, what: "restore " + from, err: fmt.Errorf("there is no %s.sha256 to compare its content with", from),
			fix: "put the .sha256 file of the backup beside it, or add --unproven to have its structure alone checked",
		}
	}
	if sum, err := backup.Digest(from); err != nil || sum != stated {
		return false, &failure{
			code: exitBadInput, what: "restore " + from, err: errors.Join(errors.New("its SHA-256 is not the one that stands beside it"), err),
			fix: "take another backup, or remove " + from + ".sha256 if you know why it differs, and add --unproven",
		}
	}
	return true, nil
}

// warnUnproven tells that a copy could be looked through, but not compared with what was once written: SQLite itself keeps no
// checksums, so that a changed letter in a text looks as good as any other.
func (p *process) warnUnproven(from string) {
	printf(p.Err, "mockbase: warning: there is no %s.sha256: the structure of the backup was checked, its content could not be compared\n", from)
}

// file is the path of the backup that --from names.
func (c *backupRestoreCommand) file(folder *dataDir) (string, error) {
	if !strings.HasPrefix(c.From, mockbase.PrefixBackup) || strings.ContainsRune(c.From, '.') {
		return c.From, nil
	}
	path, err := (&backup.Folder{Path: filepath.Join(folder.path, backupsName)}).File(c.From)
	if err != nil {
		return "", &failure{code: exitConflict, what: "find backup " + c.From, err: err, fix: "look into " + filepath.Join(folder.path, backupsName)}
	}
	return path, nil
}

// explain tells faults of the backup from those of the data directory.
func (*backupRestoreCommand) explain(folder *dataDir, from string, err error) error {
	damaged, isDamaged := errors.AsType[*store.DamagedError](err)
	newer, isNewer := errors.AsType[*store.NewerError](err)
	switch {
	case isDamaged:
		return &failure{
			code: exitBadInput, what: "restore " + from, err: fmt.Errorf("it is no whole backup: %s", damaged.Result), fix: "take another one. Nothing was changed",
		}
	case isNewer:
		return &failure{
			code: exitEnvironment, what: "restore " + from,
			err: fmt.Errorf("a newer MockBase made it: its version is %d, this program (%s) knows up to %d", newer.Have, version, newer.Known),
			fix: "restore it with the newer program or image. Nothing was changed",
		}
	}
	if missing, ok := errors.AsType[*fs.PathError](err); ok && missing.Path == from {
		return &failure{code: exitBadInput, what: "restore " + from, err: missing.Err, fix: "name the file of a backup with --from"}
	}
	return folder.explain(err)
}

// keptIn is the data directory of a command that works on what it keeps.
func keptIn(p *process, data *config.Data) (*dataDir, error) {
	if data.Ephemeral {
		return nil, &failure{code: exitUsage, err: errors.New("--ephemeral keeps nothing to work on"), fix: "leave it out, and name the folder with --data-dir"}
	}
	logger := p.newJournalist(config.Messages{LogFormat: "auto", LogLevel: "warn"}).Logger
	return &dataDir{path: data.DataDir, origin: p.origins["data-dir"], logger: logger, clock: p.clock}, nil
}

// databaseIn is the data directory of a command that looks after its database. It fails where there is none: looking
// after one must not make it.
func databaseIn(p *process, data *config.Data) (*dataDir, error) {
	folder, err := keptIn(p, data)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder.path, databaseName)
	if _, err := os.Stat(path); err != nil {
		return nil, &failure{
			code: exitEnvironment, what: "open " + path, err: errors.New("there is no database"),
			fix: "name its folder with --data-dir or MOCKBASE_DATA_DIR (now from: " + string(folder.origin) + ")",
		}
	}
	return folder, nil
}

// dbCheckCommand looks for damage; a server may go on meanwhile.
type dbCheckCommand struct {
	config.Data
}

// Run ends with 7 when something is damaged, and says what.
func (c *dbCheckCommand) Run(p *process) error {
	folder, err := databaseIn(p, &c.Data)
	if err != nil {
		return err
	}
	bad := &faults{code: exitEnvironment}
	for _, path := range sqlite.Files(filepath.Join(folder.path, databaseName)) {
		findings, err := sqlite.Check(p.ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // recorded traffic may never have been kept
		}
		if err != nil {
			return fail(exitEnvironment, "check "+path, err)
		}
		for _, finding := range findings {
			bad.lines = append(bad.lines, "mockbase: "+path+": "+oneLine(finding))
			bad.fixes = append(bad.fixes, "mockbase backup restore --from BACKUP")
		}
		if len(findings) == 0 {
			printf(p.Out, "%s ok\n", path)
		}
	}
	if len(bad.lines) > 0 {
		return bad
	}
	return nil
}

// dbVacuumCommand makes the files as small as what they hold.
type dbVacuumCommand struct {
	config.Data
}

// Run prints each file with its sizes before and after.
func (c *dbVacuumCommand) Run(p *process) error {
	folder, err := databaseIn(p, &c.Data)
	if err != nil {
		return err
	}
	paths := sqlite.Files(filepath.Join(folder.path, databaseName))
	before := sizesOf(paths)
	db, err := folder.open(p.ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(db.Vacuum(p.ctx), db.Close()); err != nil {
		return fail(exitEnvironment, "vacuum "+folder.path, err)
	}
	for i, after := range sizesOf(paths) {
		printf(p.Out, "%s %d %d\n", paths[i], before[i], after)
	}
	return nil
}

// sizesOf are the sizes of files in bytes, 0 for one that is not there.
func sizesOf(paths []string) []int64 {
	sizes := make([]int64, len(paths))
	for i, path := range paths {
		if info, err := os.Stat(path); err == nil {
			sizes[i] = info.Size()
		}
	}
	return sizes
}
