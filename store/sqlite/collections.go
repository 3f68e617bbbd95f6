package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"

	"github.com/mockbase/mockbase"
)

// KeptCollections returns what is kept of the collections of a project, by name.
func (d *DB) KeptCollections(ctx context.Context, projectID string) ([]mockbase.CollectionData, error) {
	rows, err := d.definitions.read.QueryContext(ctx, "SELECT name, next_id, drawn, items FROM collections WHERE project_id = ? ORDER BY name", projectID)
	if err != nil {
		return nil, fault("read collections", err)
	}
	return collect("read collections", rows, func(row scanner) (mockbase.CollectionData, error) {
		var (
			c     mockbase.CollectionData
			items []byte
		)
		if err := row.Scan(&c.Name, &c.NextID, &c.Drawn, &items); err != nil {
			return c, err
		}
		for line := range bytes.SplitSeq(items, []byte("\n")) {
			if len(line) > 0 {
				c.Items = append(c.Items, json.RawMessage(line))
			}
		}
		return c, nil
	})
}

// KeepCollection stores what a collection holds. Compact JSON has no line break, so that a line is an item.
func (d *DB) KeepCollection(ctx context.Context, projectID string, c *mockbase.CollectionData) error {
	size := 0
	for _, item := range c.Items {
		size += len(item) + 1
	}
	items := make([]byte, 0, size)
	for _, item := range c.Items {
		items = append(append(items, item...), '\n')
	}
	return d.definitions.change(ctx, "keep collection", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO collections (project_id, name, next_id, drawn, items) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (project_id, name) DO UPDATE SET next_id = excluded.next_id, drawn = excluded.drawn, items = excluded.items`,
			projectID, c.Name, c.NextID, c.Drawn, items)
		if breaksReference(err) {
			return mockbase.Errorf(mockbase.CodeNotFound, "there is no project %s", projectID)
		}
		return err
	})
}

// ForgetCollection lets go of what is kept of a collection.
func (d *DB) ForgetCollection(ctx context.Context, projectID, name string) error {
	return d.definitions.change(ctx, "forget collection", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM collections WHERE project_id = ? AND name = ?", projectID, name)
		return err
	})
}
