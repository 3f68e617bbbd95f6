// Package examples holds the mocks of the demo project: the files beside this one, as they are.
//
// A server with an empty data directory serves them at /m/demo; "mockbase serve ./examples" serves them from the files.
package examples

import "embed"

// Files are the definition files of the demo project, with their folders.
//
//go:embed *.yaml shop/*.yaml
var Files embed.FS
