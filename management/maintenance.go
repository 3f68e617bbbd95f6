package management

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// Backups keeps copies of the definitions and accounts (rules M-232 to M-235).
type Backups interface {
	ListBackups(ctx context.Context) ([]mockbase.Backup, error)
	// CreateBackup copies while the server works. When the copy is whole, and before it becomes a backup, whole is called with
	// it: its error ends the copy. It fails with CodeBusy while another copy is made.
	CreateBackup(ctx context.Context, whole func(mockbase.Backup) error) (mockbase.Backup, error)
	// OpenBackup and DeleteBackup fail with CodeNotFound.
	OpenBackup(ctx context.Context, id string) (mockbase.Backup, io.ReadCloser, error)
	DeleteBackup(ctx context.Context, id string) error
}

// Configuration is the settings of the server (rules M-237 and M-238).
type Configuration interface {
	// Items returns every setting, secrets masked, and the version of what is stored, from 1.
	Items() ([]mockbase.ConfigItem, int64)
	// Change stores other values, as text by their keys; the empty text forgets a stored one. The version must be the one in
	// force. Errors are CodePinnedByConfig, CodeValidationFailed, CodeVersionMismatch and those of a store.
	Change(ctx context.Context, values map[string]string, version int64, by mockbase.Administrator) error
}

// Where the server itself is administered.
const (
	adminBackups = apiPrefix + "/admin/backups"
	adminConfig  = apiPrefix + "/admin/config"
	adminSystem  = apiPrefix + "/admin/system"
)

// maintenanceRoutes are those by which administrators look after the server itself. The parameters of lists are list.
func maintenanceRoutes(list []string) []route {
	return []route{
		{id: "M-232", method: http.MethodGet, path: adminBackups, access: accessAdmin, operation: "listBackups", handle: (*Server).listBackups, query: list},
		{id: "M-233", method: http.MethodPost, path: adminBackups, access: accessAdmin, operation: "createBackup", handle: (*Server).createBackup, creates: true, patience: definitionPatience},
		{id: "M-234", method: http.MethodGet, path: adminBackups + "/{id}/content", access: accessAdmin, fresh: true, exports: true, operation: "getBackupContent", handle: (*Server).backupContent, offers: []string{typeDatabase}, patience: definitionPatience},
		{id: "M-235", method: http.MethodDelete, path: adminBackups + "/{id}", access: accessAdmin, operation: "deleteBackup", handle: (*Server).deleteBackup},
		{id: "M-236", method: http.MethodGet, path: adminSystem, access: accessAdmin, operation: "getSystem", handle: (*Server).systemState},
		{id: "M-237", method: http.MethodGet, path: adminConfig, access: accessAdmin, operation: "getConfig", handle: (*Server).configuration},
		{id: "M-238", method: http.MethodPatch, path: adminConfig, access: accessAdmin, operation: "changeConfig", handle: (*Server).changeConfiguration, versioned: true},
	}
}

// maintained drops the routes of what the options leave out.
func (s *Server) maintained(table []route) []route {
	return slices.DeleteFunc(table, func(rt route) bool {
		return s.Backups == nil && strings.HasPrefix(rt.path, adminBackups) ||
			s.Configuration == nil && rt.path == adminConfig || s.System == nil && rt.path == adminSystem
	})
}

// typeDatabase is the media type of a backup.
const typeDatabase = "application/vnd.sqlite3"

type backupView struct {
	ID        string `json:"id"`
	SizeBytes int64  `json:"sizeBytes"`
	SHA256    string `json:"sha256"`
	CreatedAt string `json:"createdAt"`
}

func viewBackup(b mockbase.Backup) backupView {
	return backupView{b.ID, b.SizeBytes, b.SHA256, timeText(b.CreatedAt)}
}

// listBackups lists backups, the newest first (M-232).
func (s *Server) listBackups(c *call) error {
	l, err := c.params().listing("-createdAt", "sizeBytes")
	if err != nil {
		return err
	}
	all, err := s.Backups.ListBackups(c.ctx())
	if err != nil {
		return err
	}
	views := []backupView{}
	for _, b := range all {
		if l.finds(b.ID, b.SHA256) {
			views = append(views, viewBackup(b))
		}
	}
	onPage, next := cut(l, views, func(v backupView) key {
		if l.sort == "sizeBytes" {
			return key{Number: v.SizeBytes, ID: v.ID}
		}
		return key{Text: v.CreatedAt, ID: v.ID}
	})
	return c.list(l, onPage, len(views), next)
}

// createBackup copies the database while it serves (M-233). A copy that cannot be audited is none.
func (s *Server) createBackup(c *call) error {
	made, err := s.Backups.CreateBackup(c.ctx(), func(whole mockbase.Backup) error {
		c.noteTarget(whole.ID, "", nil, viewBackup(whole))
		return s.audited(c)
	})
	if err != nil {
		if mockbase.ErrorCode(err) != mockbase.CodeBusy { // Then nothing was begun.
			s.auditAttempt(c)
		}
		return err
	}
	s.log.LogAttrs(c.ctx(), slog.LevelInfo, "backup made", slog.String("backup_id", made.ID), slog.String(keyUser, s.administrator(c).Account))
	c.header().Set("Location", adminBackups+"/"+made.ID+"/content")
	return c.json(http.StatusCreated, viewBackup(made))
}

// backupContent sends a backup (M-234). It holds everybody's accounts, so that it needs a fresh sign-in (rule M-40).
func (s *Server) backupContent(c *call) error {
	id, err := pathParam(c, "id")
	if err != nil {
		return err
	}
	b, content, err := s.Backups.OpenBackup(c.ctx(), id)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was only read
	if c.Request().Method != http.MethodHead {
		if err := s.audited(c); err != nil {
			return err
		}
	}
	h := c.header()
	h.Set("Content-Type", typeDatabase)
	h.Set("Content-Length", strconv.FormatInt(b.SizeBytes, 10))
	h.Set("Content-Disposition", `attachment; filename="`+b.ID+`.db"`)
	h["ETag"] = []string{`"` + b.SHA256 + `"`}
	c.Response().WriteHeader(http.StatusOK)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	_, err = io.CopyN(c.Response(), content, b.SizeBytes)
	return err
}

// deleteBackup forgets a backup (M-235).
func (s *Server) deleteBackup(c *call) error {
	id, err := pathParam(c, "id")
	if err != nil {
		return err
	}
	known, err := s.backupOf(c, id)
	if err != nil {
		return err
	}
	c.noteChange(viewBackup(known), nil)
	if err := s.audited(c); err != nil {
		return err
	}
	if err := s.Backups.DeleteBackup(c.ctx(), id); err != nil {
		return err
	}
	s.log.LogAttrs(c.ctx(), slog.LevelInfo, "backup deleted", slog.String("backup_id", id), slog.String(keyUser, s.administrator(c).Account))
	return c.nothing()
}

// backupOf finds a backup, so that only the deletion of one that there is goes into the audit log.
func (s *Server) backupOf(c *call, id string) (mockbase.Backup, error) {
	all, err := s.Backups.ListBackups(c.ctx())
	if err != nil {
		return mockbase.Backup{}, err
	}
	for _, b := range all {
		if b.ID == id {
			return b, nil
		}
	}
	return mockbase.Backup{}, mockbase.Errorf(mockbase.CodeNotFound, "there is no such backup")
}

// systemState answers how the server is (M-236).
func (s *Server) systemState(c *call) error {
	state, err := s.System(c.ctx())
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, state)
}

// configuration answers every setting with its origin (M-237).
func (s *Server) configuration(c *call) error {
	items, version := s.Configuration.Items()
	setETag(c.header(), version)
	if c.notModified(version) {
		c.Response().WriteHeader(http.StatusNotModified)
		return nil
	}
	return c.json(http.StatusOK, configView{items})
}

type configView struct {
	Items []mockbase.ConfigItem `json:"items"`
}

// changeConfiguration stores other settings, which are in force at once (M-238). Null forgets what was stored.
func (s *Server) changeConfiguration(c *call) error {
	items, version := s.Configuration.Items()
	if cond := readCondition(c, "If-Match"); cond.given && !cond.any && !slices.Contains(cond.versions, version) {
		return versionMismatch(version)
	}
	body, err := c.read(typeMergePatch)
	if err != nil {
		return err
	}
	patch, err := parse(body, c.route.body)
	if err != nil {
		return err
	}
	values, err := readConfigPatch(patch, items)
	if err != nil {
		return err
	}
	c.noteAudit(func(e *mockbase.AuditEntry) { e.Before = mockbase.MaskSecrets(encode(valuesOf(items, values))) })
	if err := s.Configuration.Change(c.ctx(), values, version, s.administrator(c)); err != nil {
		return err
	}
	items, version = s.Configuration.Items()
	setETag(c.header(), version)
	return c.json(http.StatusOK, configView{items})
}

// valuesOf are the values in force of the settings that a patch names, secrets masked.
func valuesOf(items []mockbase.ConfigItem, patch map[string]string) map[string]string {
	values := make(map[string]string, len(patch))
	for i := range items {
		if _, named := patch[items[i].Key]; named {
			values[items[i].Key] = items[i].Value
		}
	}
	return values
}

// readConfigPatch reads a patch of settings: texts, numbers and truth values by the keys of settings.
func readConfigPatch(patch *mockbase.Node, items []mockbase.ConfigItem) (map[string]string, error) {
	var faults mockbase.Faults
	if patch.Kind != mockbase.NodeObject {
		faults.Add(patch, "#", mockbase.FieldType, "a patch of settings is an object")
		return nil, faults.Err()
	}
	keys := make([]string, 0, len(items))
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	values := map[string]string{}
	for _, m := range patch.Members {
		at := "#/" + m.Key
		switch m.Value.Kind {
		case mockbase.NodeObject, mockbase.NodeList:
			faults.Add(m.Value, at, mockbase.FieldType, "a setting that can be stored is a text or a number")
		case mockbase.NodeNull:
			values[m.Key] = ""
		default:
			values[m.Key] = m.Value.Text
		}
		if !slices.Contains(keys, m.Key) {
			faults.Append(mockbase.FieldError{
				Pointer: at, Code: mockbase.FieldUnknownKey, Detail: "there is no setting " + shown(m.Key), Line: m.Line, Column: m.Column,
				Suggestion: mockbase.Suggest(m.Key, keys),
			})
		}
	}
	return values, faults.Err()
}

// defaultMaxTokensPerUser is how many tokens a user may make where nothing else is set (rule M-9).
const defaultMaxTokensPerUser = 100

// settings are what administrators change of the server while it works.
func (s *Server) settings() mockbase.InstanceSettings {
	var now mockbase.InstanceSettings
	if s.Settings != nil {
		now = s.Settings()
	}
	now.Name, now.Color = cmp.Or(now.Name, s.Instance.Name), cmp.Or(now.Color, s.Instance.Color)
	now.MaxTokensPerUser = cmp.Or(now.MaxTokensPerUser, defaultMaxTokensPerUser)
	return now
}
