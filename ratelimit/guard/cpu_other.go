//go:build !unix

package guard

import "time"

// processTime is unknown here.
func processTime() (time.Duration, bool) { return 0, false }
