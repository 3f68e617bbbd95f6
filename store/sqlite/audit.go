package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

const (
	auditColumns = auditHead + "outcome, " + auditTail
	auditHead    = `id, at, actor_type, actor_id, actor_label, token_prefix, action, target_type, target_id, target_name,
	target_project, `
	auditTail = "ip, user_agent, request_id, before_state, after_state"
)

// AppendAudit stores one entry.
func (d *DB) AppendAudit(ctx context.Context, e *mockbase.AuditEntry) error {
	return d.definitions.change(alone(ctx), "append to audit log", func(ctx context.Context, tx *sql.Tx) error {
		return d.definitions.appendAudit(ctx, tx, e)
	})
}

// FailAudit notes that what an entry tells of failed after the entry was written. The entry itself is never changed.
func (d *DB) FailAudit(ctx context.Context, id string) error {
	_, err := d.run(alone(ctx), "append to audit log", "INSERT OR IGNORE INTO audit_failures (entry) SELECT id FROM audit WHERE id = ? AND outcome = ?",
		id, string(mockbase.AuditSuccess))
	return err
}

// toldOutcome is the outcome of an entry, with what is known since.
const toldOutcome = "iif(EXISTS (SELECT 1 FROM audit_failures WHERE entry = audit.id), '" + string(mockbase.AuditFailed) + "', outcome)"

const appendEntry = "INSERT INTO audit (" + auditColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

func (f *file) appendAudit(ctx context.Context, tx *sql.Tx, e *mockbase.AuditEntry) error {
	_, err := f.writes.exec(ctx, tx, appendEntry, e.ID,
		nanos(e.At), e.Actor.Type, e.Actor.ID, e.Actor.Label, e.Actor.TokenPrefix, e.Action, e.Target.Type, e.Target.ID, e.Target.Name,
		e.Target.Project, string(e.Outcome), e.IP, e.UserAgent, e.RequestID, string(e.Before), string(e.After))
	return err
}

// AuditEntries returns the entries that a filter selects, the newest first.
func (d *DB) AuditEntries(ctx context.Context, f mockbase.AuditFilter, limit int) ([]*mockbase.AuditEntry, error) {
	where, args := auditConditions(f)
	query := "SELECT " + auditHead + toldOutcome + ", " + auditTail + " FROM audit" + where + " ORDER BY seq DESC LIMIT ?" //nolint:gosec // where is made of constants
	rows, err := d.definitions.read.QueryContext(ctx, query, append(args, limit)...)
	if err != nil {
		return nil, fault("read audit log", err)
	}
	return collect("read audit log", rows, scanAudit)
}

// AuditCount returns how many entries a filter selects.
func (d *DB) AuditCount(ctx context.Context, f mockbase.AuditFilter) (int, error) {
	where, args := auditConditions(f)
	var n int
	if err := d.definitions.read.QueryRowContext(ctx, "SELECT count(*) FROM audit"+where, args...).Scan(&n); err != nil {
		return 0, fault("count audit log", err)
	}
	return n, nil
}

// auditConditions writes a filter as SQL. Only its values come from outside, and they are arguments.
func auditConditions(f mockbase.AuditFilter) (where string, args []any) {
	var terms []string
	add := func(term string, used bool, values ...any) {
		if used {
			terms, args = append(terms, term), append(args, values...)
		}
	}
	add("at >= ?", !f.Since.IsZero(), nanos(f.Since))
	add("at < ?", !f.Until.IsZero(), nanos(f.Until))
	add("(actor_id = ? OR actor_label = ?)", f.Actor != "", f.Actor, f.Actor)
	add("action = ?", f.Action != "", f.Action)
	add("(target_id = ? OR target_name = ?)", f.Target != "", f.Target, f.Target)
	add(toldOutcome+" = ?", f.Outcome != "", string(f.Outcome))
	add("ip = ?", f.IP != "", f.IP)
	add("request_id = ?", f.RequestID != "", f.RequestID)
	add("target_project = ?", f.Project != "", f.Project)
	// An entry that was deleted meanwhile was the oldest of all: nothing follows it.
	add("seq < coalesce((SELECT seq FROM audit WHERE id = ?), 0)", f.Before != "", f.Before)
	if len(terms) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(terms, " AND "), args
}

func scanAudit(row scanner) (*mockbase.AuditEntry, error) {
	var (
		e             mockbase.AuditEntry
		at            int64
		before, after string
	)
	err := row.Scan(&e.ID, &at, &e.Actor.Type, &e.Actor.ID, &e.Actor.Label, &e.Actor.TokenPrefix, &e.Action, &e.Target.Type, &e.Target.ID,
		&e.Target.Name, &e.Target.Project, &e.Outcome, &e.IP, &e.UserAgent, &e.RequestID, &before, &after)
	e.At = moment(at)
	if before != "" {
		e.Before = json.RawMessage(before)
	}
	if after != "" {
		e.After = json.RawMessage(after)
	}
	return &e, err
}

// TrimAudit deletes entries that are older than they need to be kept.
func (d *DB) TrimAudit(ctx context.Context, before time.Time) (int, error) {
	return d.run(ctx, "trim audit log", "DELETE FROM audit WHERE at < ?", nanos(before))
}
