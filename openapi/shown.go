package openapi

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// shownAt shows the value at a place within another with a blank behind it, "" for what is none of a text, a number and a boolean.
func shownAt(value any, names []string) string {
	for _, name := range names {
		switch outer := value.(type) {
		case map[string]any:
			value = outer[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(outer) {
				return ""
			}
			value = outer[i]
		default:
			return ""
		}
	}
	switch value.(type) {
	case string, json.Number, bool:
		return quoted(fmt.Sprint(value)) + " "
	default:
		return ""
	}
}
