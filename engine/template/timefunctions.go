package template

import (
	"net/http"
	"strings"
	"time"
	_ "time/tzdata" // zones are the same on a machine without a zone database

	"github.com/mockbase/mockbase"
)

// timeFunctions tell and write the session's time (rule P13).
var timeFunctions = map[string]*function{
	"now":  {most: 1, uses: UsesTime, call: now},
	"date": {least: 2, most: 3, call: date},
}

// maxLayout bounds a layout in bytes.
const maxLayout = 1000

// now gives the session's time, moved by a signed duration.
func now(r *run, arguments []any) (any, error) {
	at := r.scope.Now
	if len(arguments) == 0 || arguments[0] == nil {
		return instant{time: at}, nil
	}
	text := textOf(arguments[0])
	offset, err := signedDuration(text)
	if err != nil {
		return nil, err
	}
	return instant{time: at.Add(offset)}, nil
}

func signedDuration(text string) (time.Duration, error) {
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 {
		return 0, failuref("%s is no duration", shorten(text))
	}
	offset, err := mockbase.ParseDuration(digits)
	if err != nil {
		return 0, failure(err.Error())
	}
	if strings.HasPrefix(text, "-") {
		return -offset, nil
	}
	return offset, nil
}

// date writes a time in a layout and a zone; without a zone in UTC.
func date(r *run, arguments []any) (any, error) {
	value := arguments[len(arguments)-1]
	if value == nil {
		return nil, nil
	}
	at, err := toTime(value)
	if err != nil {
		return nil, err
	}
	zone := time.UTC
	if len(arguments) == 3 {
		if zone, err = r.cache.zone(textOf(arguments[1])); err != nil {
			return nil, err
		}
	}
	return layOut(at.In(zone), textOf(arguments[0]))
}

func layOut(at time.Time, layout string) (any, error) {
	switch layout {
	case "http":
		return at.UTC().Format(http.TimeFormat), nil
	case "rfc3339":
		return at.Format(time.RFC3339), nil
	case "unix":
		return integer(at.Unix()), nil
	case "unixMs":
		return integer(at.UnixMilli()), nil
	}
	if len(layout) > maxLayout {
		return nil, failuref("the layout is longer than %d bytes", maxLayout)
	}
	return at.Format(layout), nil
}

// toTime gives the time of now, of an RFC 3339 text, and of seconds since 1970.
func toTime(v any) (time.Time, error) {
	switch v := v.(type) {
	case instant:
		return v.time, nil
	case number:
		seconds, err := toInt(v)
		if err != nil {
			return time.Time{}, err
		}
		return time.Unix(seconds, 0), nil
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return at, nil
		}
		return time.Time{}, failuref("%s is no time in the form of RFC 3339", shorten(v))
	default:
		return time.Time{}, failuref("%s is no time", kindOf(v))
	}
}
