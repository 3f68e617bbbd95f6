package management

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mockbase/mockbase"
)

const typeNDJSON = "application/x-ndjson"

// The types of those who do something.
const (
	actorUser      = "user"
	actorToken     = "token"
	actorAnonymous = "anonymous"
)

// prepareAudit makes the entry of the change that a request may make, and hands it to the store in the request's context:
// the store writes it in the transaction of the change (rule M-20).
func (s *Server) prepareAudit(c *call) error {
	if c.route.unaudited || c.route.method == http.MethodGet && !c.route.exports && !c.route.signsIn {
		return nil
	}
	c.draft = mockbase.NewAuditDraft(s.auditEntry(c, mockbase.AuditSuccess))
	c.SetRequest(c.Request().WithContext(mockbase.WithAudit(c.ctx(), c.draft)))
	return nil
}

// auditEntry is an entry about a request. What was done is named by the operation of the API document.
func (s *Server) auditEntry(c *call, outcome mockbase.AuditOutcome) mockbase.AuditEntry {
	now := s.clock().UTC()
	agent := c.Request().UserAgent()
	if len(agent) > maxUserAgent {
		agent = agent[:maxUserAgent]
	}
	return mockbase.AuditEntry{
		ID: mockbase.NewID(mockbase.PrefixAudit, now), At: now, Actor: c.actor(), Action: c.route.operation, Target: c.auditTarget(),
		Outcome: outcome, IP: addressText(s.ClientAddress(c.Request())), UserAgent: strings.ToValidUTF8(agent, ""), RequestID: RequestID(c.ctx()),
	}
}

func (c *call) actor() mockbase.AuditActor {
	switch who := c.caller; {
	case who == nil:
		return mockbase.AuditActor{Type: actorAnonymous, Label: escaped(c.attempt)}
	case who.service():
		return mockbase.AuditActor{Type: actorToken, ID: who.token.ID, Label: who.token.Name, TokenPrefix: who.token.Prefix}
	case who.token != nil:
		return mockbase.AuditActor{Type: actorUser, ID: who.user.ID, Label: who.user.Email, TokenPrefix: who.token.Prefix}
	default:
		return mockbase.AuditActor{Type: actorUser, ID: who.user.ID, Label: who.user.Email}
	}
}

// auditTarget is what the path names: its last parameter, or what it makes. Handlers that know more note it.
func (c *call) auditTarget() mockbase.AuditTarget {
	var t mockbase.AuditTarget
	if c.project != nil {
		t = mockbase.AuditTarget{Type: "project", ID: c.project.Project.ID, Name: c.project.Project.Slug, Project: c.project.Project.ID}
	}
	kind := ""
	for part := range strings.SplitSeq(strings.TrimPrefix(c.route.path, apiPrefix+"/"), "/") {
		name, parameter := strings.CutPrefix(part, "{")
		switch name = strings.TrimSuffix(name, "}"); {
		case !parameter:
			kind = targetKind(kind, part)
		case name != "project":
			value, _ := pathParam(c, name)
			t.Type, t.ID, t.Name = kind, value, value
			if name == "id" || name == "keyId" {
				t.Name = ""
			}
		}
	}
	switch {
	case c.mock != nil:
		t.ID, t.Name = c.mock.ID, c.mock.Name
	case t.Type == "":
		t.Type = kind
	}
	return t
}

// targetKind names what a part of a path is about, after the parts before it: mostly the things that it lists, and where it is
// a verb, what that is done to.
func targetKind(before, part string) string {
	switch {
	case part == "trash":
		return "mock"
	case part == "rotate", part == "inspect", part == "accept":
		return before
	case before == "auth" && part == "sessions":
		return "sign-in"
	case before == "auth" && part != "invitations":
		return "user"
	default:
		return strings.TrimSuffix(part, "s")
	}
}

// note completes the audit entry of the change that the handler is about to make.
func (c *call) noteAudit(complete func(*mockbase.AuditEntry)) { c.draft.Note(complete) }

// noteTarget names what is changed, with what it was and will be; nil is nothing to show.
func (c *call) noteTarget(id, name string, before, after any) {
	c.noteAudit(func(e *mockbase.AuditEntry) {
		e.Target.ID, e.Target.Name = id, name
		if before != nil {
			e.Before = mockbase.MaskSecrets(encode(before))
		}
		if after != nil {
			e.After = mockbase.MaskSecrets(encode(after))
		}
	})
}

// noteChange tells what was and will be there, the target being the one that the path names; nil is nothing to show.
func (c *call) noteChange(before, after any) {
	c.noteAudit(func(e *mockbase.AuditEntry) {
		e.Before, e.After = nil, nil
		if before != nil {
			e.Before = mockbase.MaskSecrets(encode(before))
		}
		if after != nil {
			e.After = mockbase.MaskSecrets(encode(after))
		}
	})
}

// secretVariables are the names of the project's variables whose values are secrets, so that a body that sets them is masked.
func (c *call) secretVariables() []string {
	if c.project == nil {
		return nil
	}
	var names []string
	for name, note := range c.project.Project.VariableNotes {
		if note.Secret {
			names = append(names, name)
		}
	}
	return names
}

// audited writes the entry of a change that the store does not keep, before the change is made. When it cannot be written,
// the change must not be made (rule M-20). When the change fails, the entry says so in the end.
func (s *Server) audited(c *call) error {
	entry := c.draft.Pending()
	if entry == nil {
		c.begun = c.draft.ID()
		return nil
	}
	if err := s.Accounts.AppendAudit(c.ctx(), entry); err != nil {
		return err
	}
	c.draft.Written()
	c.begun = entry.ID
	return nil
}

// auditFailure notes that a change failed whose entry was written before. What was sent already was done.
func (s *Server) auditFailure(c *call) {
	if c.begun == "" || c.Response().Committed {
		return
	}
	if err := s.Accounts.FailAudit(context.WithoutCancel(c.ctx()), c.begun); err != nil {
		s.log.LogAttrs(c.ctx(), slog.LevelError, "failure was not audited", slog.String("audit_id", c.begun),
			slog.String(keyRequestID, RequestID(c.ctx())), slog.Any(keyError, err))
	}
}

// auditAttempt writes down a change that failed before its entry was written. The answer is the failure, whether that works
// or not.
func (s *Server) auditAttempt(c *call) {
	c.noteAudit(func(e *mockbase.AuditEntry) { e.Outcome = mockbase.AuditFailed })
	entry := c.draft.Pending()
	if entry == nil {
		return
	}
	if err := s.Accounts.AppendAudit(context.WithoutCancel(c.ctx()), entry); err != nil {
		s.log.LogAttrs(c.ctx(), slog.LevelError, "failure was not audited", slog.String(keyRequestID, RequestID(c.ctx())), slog.Any(keyError, err))
		return
	}
	c.draft.Written()
}

// auditRefusal writes down rights that were missing and secrets that were wrong. The answer is the refusal, whether that
// works or not.
func (s *Server) auditRefusal(c *call, err error) {
	if err == nil {
		return
	}
	code := mockbase.ErrorCode(err)
	rights := []mockbase.Code{mockbase.CodeForbidden, mockbase.CodeInsufficientScope, mockbase.CodeSessionRequired, mockbase.CodeReauthenticate}
	secrets := []mockbase.Code{mockbase.CodeInvalidCredentials, mockbase.CodeSetupCodeInvalid, mockbase.CodeRefreshReused, mockbase.CodeSignInRefused}
	if !slices.Contains(secrets, code) && (c.caller == nil || !slices.Contains(rights, code)) {
		return
	}
	entry := s.auditEntry(c, mockbase.AuditDenied)
	if code == mockbase.CodeRefreshReused {
		entry.Action = "reuseRefreshToken"
	}
	if err := s.Accounts.AppendAudit(c.ctx(), &entry); err != nil {
		s.log.LogAttrs(c.ctx(), slog.LevelError, "refusal was not audited", slog.String(keyRequestID, RequestID(c.ctx())), slog.Any(keyError, err))
	}
}

// auditFilters are the parameters of the audit log.
func auditFilters() []string {
	return []string{"since", "until", "actor", "action", "target", "outcome", "ip", "requestId", "limit", "cursor", "count"}
}

// auditView is an entry as the API shows one (rule M-20).
type auditView struct {
	ID        string                `json:"id"`
	At        string                `json:"at"`
	Actor     mockbase.AuditActor   `json:"actor"`
	Action    string                `json:"action"`
	Target    mockbase.AuditTarget  `json:"target"`
	Outcome   mockbase.AuditOutcome `json:"outcome"`
	IP        string                `json:"ip"`
	UserAgent string                `json:"userAgent"`
	RequestID string                `json:"requestId"`
	Before    json.RawMessage       `json:"before,omitempty"`
	After     json.RawMessage       `json:"after,omitempty"`
}

func viewEntries(entries []*mockbase.AuditEntry) []auditView {
	views := make([]auditView, len(entries))
	for i, e := range entries {
		views[i] = auditView{
			e.ID, timeText(e.At), e.Actor, e.Action, e.Target, e.Outcome, e.IP, e.UserAgent, e.RequestID, e.Before, e.After,
		}
	}
	return views
}

// listAudit lists the audit log, the newest entry first (M-231), or that of a project (M-239). As NDJSON it comes whole.
func (s *Server) listAudit(c *call) error {
	p := c.params()
	f := mockbase.AuditFilter{
		Since: p.moment("since"), Until: p.moment("until"), Actor: p.text("actor"), Action: p.text("action"), Target: p.text("target"),
		Outcome: mockbase.AuditOutcome(p.choice("outcome", []string{string(mockbase.AuditSuccess), string(mockbase.AuditDenied), string(mockbase.AuditFailed)})),
		IP:      p.text("ip"), RequestID: p.text("requestId"),
	}
	limit, l := p.number("limit", 1, maxLimit, defaultLimit), listing{count: p.flag("count")}
	if err := p.err(); err != nil {
		return err
	}
	var err error
	if f.Before, err = p.newestAfter(); err != nil {
		return err
	}
	if c.project != nil {
		f.Project = c.project.Project.ID
	}
	if c.offer == typeNDJSON {
		return s.exportAudit(c, f)
	}
	entries, err := s.Accounts.AuditEntries(c.ctx(), f, limit+1)
	if err != nil {
		return err
	}
	next := ""
	if len(entries) > limit {
		entries = entries[:limit]
		next = p.newestBehind(entries[limit-1].ID)
	}
	total := 0
	if f.Before = ""; l.count {
		total, err = s.Accounts.AuditCount(c.ctx(), f)
	}
	if err != nil {
		return err
	}
	return c.list(l, viewEntries(entries), total, next)
}

// exportAudit writes all entries that a filter selects, a line each. Only what fails before the first line can be told.
func (s *Server) exportAudit(c *call, f mockbase.AuditFilter) error {
	for begun := false; ; begun = true {
		entries, err := s.Accounts.AuditEntries(c.ctx(), f, maxLimit)
		switch {
		case err != nil && !begun:
			return err
		case err != nil:
			panic(http.ErrAbortHandler) // a log that ends too early must not look whole
		case !begun:
			c.header().Set("Content-Type", typeNDJSON)
			c.Response().WriteHeader(http.StatusOK)
		}
		var lines bytes.Buffer
		for _, view := range viewEntries(entries) {
			lines.Write(encode(view))
		}
		if _, err := c.Response().Write(lines.Bytes()); err != nil {
			panic(http.ErrAbortHandler) // nobody reads any more
		}
		if len(entries) < maxLimit {
			return nil
		}
		f.Before = entries[len(entries)-1].ID
	}
}

// escaped writes what would act on a terminal or turn the direction of text, and is no text of its own, as an escape
// (rule M-20).
func escaped(text string) string {
	if !strings.ContainsFunc(text, unprintable) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unprintable(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unprintable(r rune) bool { return unicode.Is(unicode.C, r) || r == '\u2028' || r == '\u2029' }
