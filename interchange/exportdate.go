package interchange

import (
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// nowExpression is the present time, with an offset.
func nowExpression(a []hbExpression) (hbExpression, error) {
	x := hbCalled("now", hbGivesText)
	switch {
	case len(a) == 0:
		return x, nil
	case len(a) > 1 || !isLiteral(a[0]):
		return hbExpression{}, errNoHandlebars
	}
	text := unquoted(a[0])
	d, err := mockbase.ParseDuration(strings.TrimLeft(text, "+-"))
	if err != nil || d%time.Second != 0 {
		return hbExpression{}, errNoHandlebars
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign = "-"
	}
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"days", 24 * time.Hour}, {"hours", time.Hour}, {"minutes", time.Minute}, {"seconds", time.Second}} {
		if d%unit.size == 0 {
			return x.named("offset", "'"+sign+strconv.FormatInt(int64(d/unit.size), 10)+" "+unit.name+"'"), nil
		}
	}
	return hbExpression{}, errNoHandlebars
}

// dateExpression writes the present time in a layout.
func dateExpression(a []hbExpression) (hbExpression, error) {
	const layoutZoneTime = 3
	if len(a) != layoutZoneTime || !isLiteral(a[0]) || !isLiteral(a[1]) || !strings.HasPrefix(a[2].text, "now") {
		return hbExpression{}, errNoHandlebars
	}
	x := a[2]
	layout, zone := unquoted(a[0]), unquoted(a[1])
	if layout == "http" {
		layout, zone = "Mon, 02 Jan 2006 15:04:05 GMT", "UTC"
	}
	pattern, ok := javaPattern(layout)
	if !ok || strings.Contains(x.text, "format=") {
		return hbExpression{}, errNoHandlebars
	}
	quotes := "'"
	if strings.Contains(pattern, "'") {
		quotes = `"`
	}
	if zone != "UTC" {
		x = x.named("timezone", "'"+zone+"'")
	}
	x = x.named("format", quotes+pattern+quotes)
	if pattern == "unix" || pattern == "epoch" {
		x.kind = hbGivesNumber
	}
	return x, nil
}

// javaPattern turns a layout of Go into a date pattern of Java.
func javaPattern(layout string) (string, bool) {
	switch layout {
	case "unix":
		return "unix", true
	case "unixMs":
		return "epoch", true
	case "rfc3339":
		layout = time.RFC3339
	}
	var b strings.Builder
	for len(layout) > 0 {
		length, pattern, ok := javaPatternPart(layout)
		if !ok {
			return "", false
		}
		b.WriteString(pattern)
		layout = layout[length:]
	}
	return b.String(), true
}

// javaPatternPart translates the part that a layout begins with.
func javaPatternPart(layout string) (length int, pattern string, ok bool) {
	for _, p := range [][2]string{
		{"2006", "yyyy"},
		{"January", "MMMM"},
		{"Monday", "EEEE"},
		{"Jan", "MMM"},
		{"Mon", "EEE"},
		{"MST", "z"},
		{"GMT", "'GMT'"},
		{"Z07:00", "XXX"},
		{"-07:00", "xxx"},
		{"-0700", "Z"},
		{"01", "MM"},
		{"02", "dd"},
		{"03", "hh"},
		{"04", "mm"},
		{"05", "ss"},
		{"06", "yy"},
		{"15", "HH"},
		{"PM", "a"},
		{"1", "M"},
		{"2", "d"},
		{"3", "h"},
		{"4", "m"},
		{"5", "s"},
	} {
		if strings.HasPrefix(layout, p[0]) {
			return len(p[0]), p[1], true
		}
	}
	if fraction := layout[:len(layout)-len(strings.TrimLeft(layout, ".0"))]; len(fraction) > 1 {
		return len(fraction), "." + strings.Repeat("S", len(fraction)-1), true
	}
	c := layout[0]
	switch letter := c|0x20 >= 'a' && c|0x20 <= 'z'; {
	case letter:
		return 1, "'" + string(c) + "'", true
	case c == '\'' || c >= '0' && c <= '9' || c == '_':
		return 0, "", false
	}
	return 1, string(c), true
}
