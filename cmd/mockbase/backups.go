package main

import (
	"context"
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
	if c.To == "" {
		answer, err := makeBackup(r)
		if err != nil {
			return err
		}
		return r.printOne(r.output, answer.Body, backupColumns())
	}
	f, err := os.OpenFile(c.To, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &failure{code: exitEnvironment, what: "write " + c.To, err: err, fix: "name a file that is not there yet"}
	}
	var made *client.Answer
	err = r.elevated(&c.signInFlags, func(as *client.Client) error {
		if made == nil {
			answer, err := makeBackup(r)
			if err != nil {
				return err
			}
			made = answer
		}
		return c.download(r, as, made.Body, f)
	})
	_ = f.Close() // download told of what could not be written
	if err != nil {
		_ = os.Remove(c.To) // what failed is told
		if made != nil {
			forget(r, memberText(made.Body, "id"))
		}
		return err
	}
	r.done("wrote %s", c.To)
	return r.printOne(r.output, made.Body, backupColumns())
}

func makeBackup(r *remote) (*client.Answer, error) {
	return r.exchange(client.Request{Method: http.MethodPost, Path: "/admin/backups", Creates: true, Longer: backupPatience}, nil)
}

// forget deletes a copy on the server that could not be downloaded, or says that it is there.
func forget(r *remote, id string) {
	request := client.Request{Method: http.MethodDelete, Path: client.Path("admin", "backups", id)}
	if _, err := r.Do(context.WithoutCancel(r.ctx), request); err != nil {
		r.done("the copy %s stays on the server: mockbase backup rm %s deletes it", id, id)
	}
}

// backupPatience is what a server is given to copy a large database.
const backupPatience = 2 * client.DefaultTimeout

// download writes the copy into a file of this user's, compares its digest with what the server says, and writes it beside
// the file, where restore looks for it.
func (c *backupCreateCommand) download(r *remote, as *client.Client, made json.RawMessage, f *os.File) error {
	response, err := as.Open(r.ctx, client.Request{
		Method: http.MethodGet, Path: client.Path("admin", "backups", memberText(made, "id"), "content"), Accept: "*/*",
	})
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
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
		return &failure{code: exitNoAnswer, what: "download backup", err: err, fix: "try again"}
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
