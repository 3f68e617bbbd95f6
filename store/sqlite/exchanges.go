package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

// AppendExchanges stores a batch in one transaction.
func (d *DB) AppendExchanges(ctx context.Context, batch []*mockbase.Exchange) error {
	return d.traffic.change(ctx, "record traffic", func(ctx context.Context, tx *sql.Tx) error {
		insert, err := tx.PrepareContext(ctx, "INSERT INTO exchanges (project_id, at, size, exchange) VALUES (?, ?, ?, ?)")
		if err != nil {
			return err
		}
		defer func() { _ = insert.Close() }()
		for _, x := range batch {
			record, err := encodeExchange(x)
			if err != nil {
				return fmt.Errorf("write exchange %s: %w", x.ID, err)
			}
			if _, err := insert.ExecContext(ctx, x.ProjectID, nanos(x.At), len(record), record); err != nil {
				return err
			}
		}
		return nil
	})
}

// AmendExchanges replaces stored exchanges in one transaction. They are found by their time, which has an index.
func (d *DB) AmendExchanges(ctx context.Context, batch []*mockbase.Exchange) error {
	return d.traffic.change(ctx, "amend traffic", func(ctx context.Context, tx *sql.Tx) error {
		for _, x := range batch {
			seq, err := placeOf(ctx, tx, x)
			if err != nil {
				return err
			}
			record, err := encodeExchange(x)
			if err != nil {
				return fmt.Errorf("write exchange %s: %w", x.ID, err)
			}
			if _, err := tx.ExecContext(ctx, "UPDATE exchanges SET size = ?, exchange = ? WHERE seq = ?", len(record), record, seq); err != nil {
				return err
			}
		}
		return nil
	})
}

// placeOf finds the row of an exchange; 0 is none.
func placeOf(ctx context.Context, tx *sql.Tx, x *mockbase.Exchange) (int64, error) {
	rows, err := tx.QueryContext(ctx, "SELECT seq, exchange FROM exchanges INDEXED BY exchanges_by_time WHERE at = ? AND project_id = ?", nanos(x.At), x.ProjectID)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var record sql.RawBytes
		if err := rows.Scan(&seq, &record); err != nil {
			return 0, err
		}
		if stored, err := decodeExchange(record); err == nil && stored.ID == x.ID {
			return seq, nil
		}
	}
	return 0, rows.Err()
}

// RecentExchanges reads a project's latest exchanges, newest first.
func (d *DB) RecentExchanges(ctx context.Context, projectID string, limit int) ([]*mockbase.Exchange, error) {
	rows, err := d.traffic.read.QueryContext(ctx, "SELECT exchange FROM exchanges WHERE project_id = ? ORDER BY seq DESC LIMIT ?", projectID, limit)
	if err != nil {
		return nil, fault("read traffic", err)
	}
	defer rows.Close()
	var exchanges []*mockbase.Exchange
	for rows.Next() {
		var record sql.RawBytes
		if err := rows.Scan(&record); err != nil {
			return nil, fault("read traffic", err)
		}
		x, err := decodeExchange(record)
		if err != nil {
			return nil, unreadable("an exchange of project "+projectID, err)
		}
		exchanges = append(exchanges, x)
	}
	return exchanges, fault("read traffic", rows.Err())
}

// DeleteExchanges deletes all exchanges of a project.
func (d *DB) DeleteExchanges(ctx context.Context, projectID string) error {
	return d.traffic.change(ctx, "delete traffic", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM exchanges WHERE project_id = ?", projectID)
		return err
	})
}

// TrimExchanges deletes what lies beyond the retention.
func (d *DB) TrimExchanges(ctx context.Context, keep store.Retention) (int, error) {
	var deleted int64
	err := d.traffic.change(ctx, "trim traffic", func(ctx context.Context, tx *sql.Tx) error {
		var err error
		if !keep.Since.IsZero() {
			deleted, err = execRows(ctx, tx, "DELETE FROM exchanges WHERE at < ?1 AND (?2 = '' OR project_id = ?2)", nanos(keep.Since), keep.ProjectID)
		}
		if err != nil || keep.Count == 0 && keep.Bytes == 0 {
			return err
		}
		projects, err := projectsBeyond(ctx, tx, keep)
		for _, id := range projects {
			n, err := execRows(ctx, tx, deleteBeyond, id, bound(int64(keep.Count)), bound(keep.Bytes))
			if err != nil {
				return err
			}
			deleted += n
		}
		return err
	})
	return int(deleted), err
}

// deleteBeyond walks from the newest exchange to the one that breaks a bound, and deletes it and all before it.
const deleteBeyond = `DELETE FROM exchanges WHERE project_id = ?1 AND seq <= (
	SELECT seq FROM (
		SELECT seq, row_number() OVER latest AS number, sum(size) OVER latest AS bytes
		FROM exchanges WHERE project_id = ?1 WINDOW latest AS (ORDER BY seq DESC)
	) WHERE number > ?2 OR bytes > ?3 ORDER BY seq DESC LIMIT 1)`

func projectsBeyond(ctx context.Context, tx *sql.Tx, keep store.Retention) ([]string, error) {
	rows, err := tx.QueryContext(ctx, "SELECT project_id FROM exchanges WHERE ?1 = '' OR project_id = ?1 GROUP BY project_id HAVING count(*) > ?2 OR sum(size) > ?3",
		keep.ProjectID, bound(int64(keep.Count)), bound(keep.Bytes))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// bound is a bound of the retention, where 0 stands for none.
func bound(n int64) int64 {
	if n == 0 {
		return math.MaxInt64
	}
	return n
}

func execRows(ctx context.Context, tx *sql.Tx, statement string, args ...any) (int64, error) {
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
