package engine

import (
	"strings"

	"github.com/mockbase/mockbase/engine/body"
)

// pair is one name and value of a query.
type pair struct{ name, value string }

// parseQuery reads a query as form-urlencoded text (rules C1 to C5).
func parseQuery(raw string) []pair {
	if raw == "" {
		return nil
	}
	pairs := make([]pair, 0, 1+strings.Count(raw, "&"))
	for name, value := range body.FormPairs(raw) {
		pairs = append(pairs, pair{name: name, value: value})
	}
	return pairs
}
