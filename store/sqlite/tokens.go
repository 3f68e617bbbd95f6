package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mockbase/mockbase"
)

//nolint:gosec // names of columns, not a credential
const tokenColumns = `id, kind, name, prefix, hash, scopes, projects, allowed_ips, created_by, created_at, expires_at, last_used_at,
	last_used_ip`

// CreateToken stores a token, if its maker may have one more.
func (d *DB) CreateToken(ctx context.Context, t *mockbase.Token, most int) error {
	lists := make([]string, 3)
	for i, list := range [][]string{t.Scopes, t.Projects, t.AllowedIPs} {
		var err error
		if lists[i], err = text(list); err != nil {
			return fault("create token", err)
		}
	}
	return d.definitions.change(ctx, "create token", func(ctx context.Context, tx *sql.Tx) error {
		var users, tokens int
		if err := tx.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM users WHERE id = ?1), (SELECT count(*) FROM tokens WHERE created_by = ?1)",
			t.CreatedBy).Scan(&users, &tokens); err != nil {
			return err
		}
		switch {
		case users == 0:
			return noUser()
		case tokens >= most:
			return &mockbase.Error{
				Code: mockbase.CodeQuotaReached, Message: fmt.Sprintf("maxTokensPerUser is %d, and this would make %d", most, tokens+1),
				Hint: "delete tokens that are no longer needed", Quota: &mockbase.QuotaUse{Name: "maxTokensPerUser", Limit: most, Used: tokens},
			}
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO tokens ("+tokenColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", t.ID, t.Kind,
			t.Name, t.Prefix, t.Hash, lists[0], lists[1], lists[2], t.CreatedBy, nanos(t.CreatedAt), nanos(t.ExpiresAt),
			nanos(t.LastUsedAt), t.LastUsedIP)
		return err
	})
}

// Tokens returns all tokens, the newest first.
func (d *DB) Tokens(ctx context.Context) ([]*mockbase.Token, error) {
	rows, err := d.definitions.read.QueryContext(ctx, "SELECT "+tokenColumns+" FROM tokens ORDER BY created_at DESC, id DESC")
	if err != nil {
		return nil, fault("read tokens", err)
	}
	return collect("read tokens", rows, scanToken)
}

// TokenByID finds a token by id.
func (d *DB) TokenByID(ctx context.Context, id string) (*mockbase.Token, error) {
	t, err := scanToken(d.definitions.read.QueryRowContext(ctx, "SELECT "+tokenColumns+" FROM tokens WHERE id = ?", id))
	return t, fault("read token", err)
}

// TokenByHash finds a token by the digest of its secret.
func (d *DB) TokenByHash(ctx context.Context, hash []byte) (*mockbase.Token, error) {
	t, err := scanToken(d.definitions.reads.row(ctx, "SELECT "+tokenColumns+" FROM tokens WHERE hash = ?", hash))
	return t, fault("read token", err)
}

func scanToken(row scanner) (*mockbase.Token, error) {
	var (
		t                           mockbase.Token
		scopes, projects, addresses string
		created, expires, used      int64
	)
	err := row.Scan(&t.ID, &t.Kind, &t.Name, &t.Prefix, &t.Hash, &scopes, &projects, &addresses, &t.CreatedBy, &created, &expires, &used,
		&t.LastUsedIP)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noToken()
	}
	if err != nil {
		return nil, err
	}
	t.CreatedAt, t.ExpiresAt, t.LastUsedAt = moment(created), moment(expires), moment(used)
	err = errors.Join(json.Unmarshal([]byte(scopes), &t.Scopes), json.Unmarshal([]byte(projects), &t.Projects),
		json.Unmarshal([]byte(addresses), &t.AllowedIPs))
	return &t, err
}

func noToken() error {
	return mockbase.Errorf(mockbase.CodeNotFound, "there is no such token")
}

// DeleteToken deletes a token.
func (d *DB) DeleteToken(ctx context.Context, id string) error {
	return d.definitions.change(ctx, "delete token", func(ctx context.Context, tx *sql.Tx) error {
		rows, err := changed(tx.ExecContext(ctx, "DELETE FROM tokens WHERE id = ?", id))
		if err == nil && rows == 0 {
			return noToken()
		}
		return err
	})
}

// TouchToken notes the use of a token.
func (d *DB) TouchToken(ctx context.Context, id string, at time.Time, ip string) error {
	_, err := d.run(ctx, "note use of token", "UPDATE tokens SET last_used_at = ?, last_used_ip = ? WHERE id = ?", nanos(at), ip, id)
	return err
}
