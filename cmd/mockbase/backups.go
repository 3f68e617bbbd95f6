package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/backup"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// backupCommands look after copies of definitions and accounts.
type backupCommands struct {
	Create  backupCreateCommand  `cmd:"" help:"Copy the database of a running server."`
	List    backupListCommand    `cmd:"" help:"List the copies that a server keeps."`
	Rm      backupRemoveCommand  `cmd:"" help:"Delete a copy."`
	Restore backupRestoreCommand `cmd:"" help:"Put a backup in the place of the database, while the server is stopped."`
}

func backupColumns() []column {
	return columns("ID=id", "CREATED=createdAt", "BYTES=sizeBytes", "SHA-256=sha256")
}

// backupCreateCommand makes a copy while the server goes on (M-233).
type backupCreateCommand struct {
	config.Target
	signInFlags

	To string `name:"to" placeholder:"FILE" help:"Download the copy into this file as well. That needs the password, because the copy holds every account."`
}

// Run prints the copy. It lies in the data directory of the server, and a downloaded one in a file for this user alone.
func (c *backupCreateCommand) Run(p *process) error {
	return p.call(&c.Target, "make backup", c.run)
}

func (c *backupCreateCommand) run(r *remote) error {
	answer, err := r.exchange(client.Request{Method: http.MethodPost, Path: "/admin/backups", Creates: true, Longer: backupPatience}, nil)
	if err != nil {
		return err
	}
	if c.To != "" {
		err := r.elevated(&c.signInFlags, func(as *client.Client) error { return c.download(r, as, answer.Body) })
		if err != nil {
			return err
		}
		r.done("wrote %s", c.To)
	}
	return r.printOne(r.output, answer.Body, backupColumns())
}

// backupPatience is what a server is given to copy a large database.
const backupPatience = 2 * client.DefaultTimeout

// download writes the copy into a file of this user's, compares its digest with what the server says, and writes it beside
// the file, where restore looks for it.
func (c *backupCreateCommand) download(r *remote, as *client.Client, made json.RawMessage) error {
	response, err := as.Open(r.ctx, client.Request{
		Method: http.MethodGet, Path: client.Path("admin", "backups", memberText(made, "id"), "content"), Accept: "*/*",
	})
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	f, err := os.OpenFile(c.To, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &failure{code: exitEnvironment, what: "write " + c.To, err: err, fix: "name a file that is not there yet"}
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), response.Body)
	if err = errors.Join(err, f.Close()); err == nil {
		want := memberText(made, "sha256")
		if hex.EncodeToString(sum.Sum(nil)) != want {
			err = fmt.Errorf("the SHA-256 of what came is not %s", want)
		} else {
			err = backup.State(c.To, want)
		}
	}
	if err != nil {
		return &failure{code: exitNoAnswer, what: "download backup", err: errors.Join(err, os.Remove(c.To)), fix: "try again"}
	}
	return nil
}

// backupListCommand lists copies (M-232).
type backupListCommand struct {
	config.Target
}

// Run prints the list.
func (c *backupListCommand) Run(p *process) error {
	return p.call(&c.Target, "list backups", func(r *remote) error { return r.list("/admin/backups", nil, backupColumns()) })
}

// backupRemoveCommand deletes a copy (M-235).
type backupRemoveCommand struct {
	config.Target

	ID string `arg:"" name:"id" help:"Id of the copy."`
}

// Run says what was deleted.
func (c *backupRemoveCommand) Run(p *process) error {
	return p.call(&c.Target, "delete backup "+c.ID, func(r *remote) error { return r.remove("backup "+c.ID, client.Path("admin", "backups", c.ID)) })
}
