package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

// setupCodeName is the file in the data directory that holds the set-up code while nobody has an account.
const setupCodeName = "setup-code"

// setupCode is the one-time code of a server without users, with its file.
type setupCode struct {
	*auth.SetupCode

	path string
}

// checkAdmin refuses a password of the first administrator that breaks the rules before a database is made for nobody. Where
// there is a database, the settings may be those of long ago.
func (s *server) checkAdmin() error {
	if s.settings.AdminEmail == "" {
		return nil
	}
	if !s.ephemeral() {
		if _, err := os.Stat(filepath.Join(s.settings.DataDir, databaseName)); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if err := auth.CheckPassword("#/password", s.settings.AdminPassword.Reveal(), s.settings.AdminEmail); err != nil {
		return weakPassword(err)
	}
	return nil
}

// openAccounts makes the first administrator from the settings, or a code that makes one (rule M-38).
func (s *server) openAccounts() error {
	users, err := s.store.UserCount(s.ctx)
	if err != nil {
		return fmt.Errorf("count users: %w", err)
	}
	s.fresh = users == 0
	switch {
	case users > 0 && s.settings.AdminEmail != "":
		s.log.Info("the first administrator of the settings is ignored: there are users already")
	case users > 0:
	case s.settings.AdminEmail != "":
		return s.makeAdmin()
	default:
		return s.makeSetupCode()
	}
	s.removeSetupCode()
	return nil
}

func (s *server) makeAdmin() error {
	user, err := newUser(s.process, s.settings.AdminEmail, s.settings.AdminPassword.Reveal(), mockbase.InstanceAdmin)
	if err != nil {
		return err
	}
	if err := s.store.CreateFirstAdmin(s.ctx, user); err != nil && mockbase.ErrorCode(err) != mockbase.CodeAlreadySetUp {
		return fmt.Errorf("make first administrator: %w", err)
	}
	s.log.Info("the first administrator was made", slog.String("email", user.Email))
	s.removeSetupCode()
	return nil
}

// makeSetupCode writes the code where the operator can read it, and takes it away once it is used.
func (s *server) makeSetupCode() error {
	code := &setupCode{SetupCode: auth.NewSetupCode()}
	if !s.ephemeral() {
		code.path = filepath.Join(s.settings.DataDir, setupCodeName)
		if err := replaceFile(code.path, []byte(code.String()+"\n")); err != nil {
			return &failure{code: exitEnvironment, what: "write set-up code", err: err}
		}
	}
	s.setup = code
	stopped := make(chan struct{})
	s.ends = append(s.ends, func() error { close(stopped); return code.remove() })
	go func() {
		select {
		case <-code.Spent():
			if err := code.remove(); err != nil {
				s.log.Warn("the used set-up code could not be removed", slog.Any("error", err))
			}
		case <-stopped:
		}
	}()
	return nil
}

func (c *setupCode) remove() error {
	if c.path == "" {
		return nil
	}
	return removeFile(c.path)
}

// removeSetupCode removes the code of a start that was never used and ended hard.
func (s *server) removeSetupCode() {
	if !s.ephemeral() {
		_ = removeFile(filepath.Join(s.settings.DataDir, setupCodeName))
	}
}

// removeFile removes a file, and is content when it is gone.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaceFile writes a file that only this user can read, by rename: whoever looks sees the old one or the whole new one.
func replaceFile(path string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}
