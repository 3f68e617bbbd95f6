package management

import "time"

// timeFormat is RFC 3339 in UTC with milliseconds (rule M-2).
const timeFormat = "2006-01-02T15:04:05.000Z"

func timeText(t time.Time) string { return t.UTC().Format(timeFormat) }

// maybeTime is nil for a time that never was.
func maybeTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := timeText(t)
	return &text
}

// milliseconds is a measured duration (rule M-2).
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
