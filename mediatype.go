package mockbase

import (
	"mime"
	"path"
	"strings"
)

// MediaTypeOf is the media type of a file by the extension of its name, "" if that is not known (rule O5). Where systems
// differ, the types of APIs win.
func MediaTypeOf(name string) string {
	switch extension := strings.ToLower(path.Ext(name)); extension {
	case ".json":
		return "application/json"
	case ".xml":
		return "application/xml"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".ndjson", ".jsonl":
		return "application/x-ndjson"
	case ".csv":
		return "text/csv; charset=utf-8"
	case ".md":
		return "text/markdown; charset=utf-8"
	case ".bin":
		return "application/octet-stream"
	default:
		return mime.TypeByExtension(extension)
	}
}
