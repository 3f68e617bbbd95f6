package client

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"strconv"
)

// pageSize is the longest page that a list gives at once (rule M-13).
const pageSize = 200

// Page is a part of a list.
type Page struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor string            `json:"nextCursor"`
}

// List asks for a list page by page and calls each with its items, at most limit of them; 0 is all there are. An error of
// each ends it.
func (c *Client) List(ctx context.Context, path string, query url.Values, limit int, each func(item json.RawMessage) error) error {
	q := url.Values{}
	maps.Copy(q, query)
	for left := limit; ; {
		size := pageSize
		if limit > 0 {
			size = min(size, left)
		}
		q.Set("limit", strconv.Itoa(size))
		var page Page
		if err := c.Get(ctx, path, q, &page); err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := each(item); err != nil {
				return err
			}
		}
		left -= len(page.Items)
		if page.NextCursor == "" || len(page.Items) == 0 || limit > 0 && left <= 0 {
			return nil
		}
		q.Set("cursor", page.NextCursor)
	}
}
