package files

import "time"

// Pace changes how long it must be quiet after a change, and how often the watcher looks by itself.
func (w *Watcher) Pace(quiet, scanning time.Duration) { w.quiet, w.scanning = quiet, scanning }
