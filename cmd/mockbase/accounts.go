package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/store"
	"github.com/mockbase/mockbase/store/sqlite"
)

// presence says whether a database may be made.
type presence string

const (
	mustExist   presence = "must exist"
	makeMissing presence = "make what is missing"
)

// withAccounts opens the accounts of a data directory, beside the server that has it open where one runs: each change is a
// transaction of its own, and the server looks accounts up at every request.
func (p *process) withAccounts(data *config.Data, have presence, do func(db *sqlite.DB) error) error {
	open := databaseIn
	if have == makeMissing {
		open = keptIn
	}
	folder, err := open(p, data)
	if err != nil {
		return err
	}
	options := sqlite.Options{Path: filepath.Join(folder.path, databaseName), Clock: p.clock, Logger: folder.logger}
	db, err := sqlite.Open(p.ctx, options)
	if _, locked := errors.AsType[*store.LockedError](err); locked {
		options.Beside = true
		db, err = sqlite.Open(p.ctx, options)
	}
	if other, ok := errors.AsType[*store.NewerError](err); ok && other.Have < other.Known {
		return &failure{
			code: exitEnvironment, what: "open data directory " + folder.path, err: errors.New("the server that uses it is older than this program"),
			fix: "use the server's own program or image, or stop it first",
		}
	}
	if err != nil {
		return folder.explain(err)
	}
	defer func() { _ = db.Close() }() // closed below; this is for the ways out before
	if err := do(db); err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return fail(exitEnvironment, "close data directory", err)
	}
	return nil
}

// audited is a context whose change of an account is written into the audit log with it (rule M-20).
func (p *process) audited(action string, target *mockbase.User) context.Context {
	now := p.clock().UTC()
	return mockbase.WithAudit(p.ctx, mockbase.NewAuditDraft(mockbase.AuditEntry{
		ID: mockbase.NewID(mockbase.PrefixAudit, now), At: now, Action: action, Outcome: mockbase.AuditSuccess,
		Actor:  mockbase.AuditActor{Type: "system", Label: "command line"},
		Target: mockbase.AuditTarget{Type: "user", ID: target.ID, Name: target.Email},
	}))
}
