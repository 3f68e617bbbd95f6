package sqlite

import (
	"context"
	"database/sql"

	"github.com/mockbase/mockbase"
)

// A link is as good as the rights of the user who made it (rules M-31, M-39): the conditions are part of whatever finds an open
// one. Whoever runs the machine has all rights, and no id.
const (
	// mayInvite holds for invitations that their maker could make now: an administrator any, an owner those of members into
	// projects that are all their own. Projects that are gone count for nothing.
	mayInvite = `(invitations.created_by = '' OR EXISTS (SELECT 1 FROM users u WHERE u.id = invitations.created_by AND u.disabled = 0
		AND (u.role = 'admin' OR invitations.role = 'member' AND EXISTS (SELECT 1 FROM json_each(invitations.grants) g
			JOIN projects p ON p.id = g.value ->> 'project') AND NOT EXISTS (SELECT 1 FROM json_each(invitations.grants) g
			JOIN projects p ON p.id = g.value ->> 'project' LEFT JOIN project_members m ON m.project_id = p.id AND m.user_id = u.id AND m.role = 'owner'
			WHERE m.user_id IS NULL))))`
	// mayReset holds for password resets whose maker is an administrator now.
	mayReset = `(password_resets.created_by = '' OR EXISTS (SELECT 1 FROM users u WHERE u.id = password_resets.created_by AND u.disabled = 0
		AND u.role = 'admin'))`
)

// ending is a statement that deletes links and returns of each the id and the name of what an entry of the audit log is about,
// and when it would have ended by itself.
type ending struct {
	// action and target are those of the entry.
	action, target string
	statement      string
}

func invitationsBy() ending {
	return ending{"endInvitation", "invitation", "DELETE FROM invitations WHERE created_by = ? AND accepted_at = 0 AND NOT " + mayInvite +
		" RETURNING id, email, expires_at"}
}

func resetsBy() ending {
	return ending{"endPasswordReset", "user", "DELETE FROM password_resets WHERE created_by = ? AND NOT " + mayReset +
		" RETURNING user_id, (SELECT email FROM users WHERE id = user_id), expires_at"}
}

// resetsOf deletes the reset of a user who is about to get another address or password, or to be disabled.
func resetsOf() ending {
	return ending{"endPasswordReset", "user", `DELETE FROM password_resets WHERE user_id = ?1 AND EXISTS (
		SELECT 1 FROM users u WHERE u.id = ?1 AND (u.email <> ?2 OR u.password_hash <> ?3 OR u.disabled = 0 AND ?4))
		RETURNING user_id, (SELECT email FROM users WHERE id = user_id), expires_at`}
}

func mayNot() error {
	return &mockbase.Error{
		Code: mockbase.CodeForbidden, Message: "your rights have changed meanwhile and do not reach for this link any more", Hint: "ask an administrator",
	}
}

// stands refuses a link that was just stored if its maker may not make it: rights may have changed since they were looked up.
func stands(ctx context.Context, tx *sql.Tx, query, id string) error {
	var ok bool
	err := tx.QueryRowContext(ctx, query, id).Scan(&ok)
	if err == nil && !ok {
		return mayNot()
	}
	return err
}

// endLinksBy ends the open links that a user made and could not make now. They do not come back with the rights.
func (d *DB) endLinksBy(ctx context.Context, tx *sql.Tx, userID string) error {
	if err := d.endLinks(ctx, tx, invitationsBy(), userID); err != nil {
		return err
	}
	return d.endLinks(ctx, tx, resetsBy(), userID)
}

// endResetsOf ends the open link to a new password of a user who is about to become another one (rule M-42).
func (d *DB) endResetsOf(ctx context.Context, tx *sql.Tx, u *mockbase.User) error {
	return d.endLinks(ctx, tx, resetsOf(), u.ID, u.Email, u.PasswordHash, u.Disabled)
}

// endLinks ends links and tells of each that was still open in the audit log.
func (d *DB) endLinks(ctx context.Context, tx *sql.Tx, e ending, args ...any) error {
	rows, err := tx.QueryContext(ctx, e.statement, args...)
	if err != nil {
		return err
	}
	type link struct {
		id, name string
		expires  int64
	}
	ended, err := collect("end links", rows, func(row scanner) (l link, err error) { return l, row.Scan(&l.id, &l.name, &l.expires) })
	if err != nil {
		return err
	}
	for _, l := range ended {
		entry := mockbase.AuditOf(ctx).Besides(e.action, mockbase.AuditTarget{Type: e.target, ID: l.id, Name: l.name})
		if entry == nil || !moment(l.expires).After(entry.At) {
			continue
		}
		if err := d.definitions.appendAudit(ctx, tx, entry); err != nil {
			return err
		}
	}
	return nil
}
