package management

import (
	"log/slog"
	"net/http"
	"net/mail"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

const (
	// maxEmail is the longest address that SMTP carries (RFC 5321, section 4.5.3.1).
	maxEmail    = 254
	maxUserName = 200
)

// setUp creates the first administrator for whoever knows the set-up code (M-101, rule M-38).
func (s *Server) setUp(c *call) error {
	var in struct{ code, email, password, name string }
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		f.Text("code", &in.code)
		if f.Text("email", &in.email) {
			checkEmail(f, in.email)
		}
		f.Text("password", &in.password)
		readName(f, &in.name)
		f.Required("code", "email", "password")
	})
	if err != nil {
		return err
	}
	in.email = plainEmail(in.email)
	if err := s.mayBeSetUp(c, in.code); err != nil {
		return err
	}
	if err := auth.CheckPassword("#/password", in.password, in.email); err != nil {
		return err
	}
	hash, err := s.hasher.Hash(c.ctx(), in.password)
	if err != nil {
		return err
	}
	now := s.clock()
	admin := &mockbase.User{
		ID: mockbase.NewID(mockbase.PrefixUser, now), Email: in.email, Name: in.name, Role: mockbase.InstanceAdmin,
		PasswordHash: hash, Epoch: 1, CreatedAt: now, UpdatedAt: now,
	}
	c.noteAudit(func(e *mockbase.AuditEntry) {
		e.Actor = mockbase.AuditActor{Type: actorUser, ID: admin.ID, Label: admin.Email}
		e.Target = mockbase.AuditTarget{Type: "user", ID: admin.ID, Name: admin.Email}
	})
	if err := s.Accounts.CreateFirstAdmin(c.ctx(), admin); err != nil {
		return err
	}
	s.SetupCode.Spend()
	s.note(c, slog.LevelInfo, "first administrator created", admin.ID)
	return s.signIn(c, http.StatusCreated, admin)
}

// mayBeSetUp tells whether the code lets its sender in. A server that has users says so to everybody. The code is looked
// at first: it is used up after the user is there, so a code that was just used up never looks wrong.
func (s *Server) mayBeSetUp(c *call, code string) error {
	matches := s.SetupCode != nil && s.SetupCode.Matches(code)
	users, err := s.Accounts.UserCount(c.ctx())
	if err != nil {
		return err
	}
	if users > 0 {
		return &mockbase.Error{Code: mockbase.CodeAlreadySetUp, Message: "this server has an administrator already", Hint: "sign in"}
	}
	if !matches {
		s.note(c, slog.LevelWarn, "set-up code refused", "")
		return &mockbase.Error{
			Code: mockbase.CodeSetupCodeInvalid, Message: "this is not the set-up code of the running server",
			Hint: "the code stands in the server's output and in its data directory, and changes at each start",
		}
	}
	return nil
}

// plainEmail is the one form in which an address is kept and looked up.
func plainEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

func checkEmail(f *mockbase.Fields, email string) {
	email = strings.TrimSpace(email)
	read, err := mail.ParseAddress(email)
	if err != nil || read.Address != email || len(email) > maxEmail || mockbase.LineFault(email) != "" || strings.ContainsAny(email, " \t\r\n") {
		f.Fault("email", mockbase.FieldPattern, "must be an e-mail address like ada@example.com")
	}
}
