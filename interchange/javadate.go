package interchange

import (
	"strconv"
	"strings"
	"time"
)

// goLayout turns a date pattern of Java's SimpleDateFormat and its relatives into a layout of Go. It is not ok for letters
// without an equivalent, such as the week of the year.
func goLayout(pattern string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); {
		length, layout, ok := goLayoutPart(pattern, i)
		if !ok {
			return "", false
		}
		b.WriteString(layout)
		i += length
	}
	return b.String(), true
}

// goLayoutPart translates the part of a pattern that begins at i: a quoted text, a run of one letter, or any other byte.
func goLayoutPart(pattern string, i int) (length int, layout string, ok bool) {
	c := pattern[i]
	switch {
	case c == '\'':
		n := strings.IndexByte(pattern[i+1:], '\'')
		if n == 0 {
			return 2, "'", true
		}
		return n + 2, pattern[i+1 : i+1+max(n, 0)], n > 0
	case c|0x20 < 'a' || c|0x20 > 'z':
		return 1, string(c), true
	}
	rest := pattern[i:]
	word := rest[:len(rest)-len(strings.TrimLeft(rest, string(c)))]
	if c == 'S' {
		// Go reads a fraction only behind a point or a comma.
		return len(word), strings.Repeat("0", len(word)), i > 0 && (pattern[i-1] == '.' || pattern[i-1] == ',')
	}
	layout, ok = javaLetters()[word]
	return len(word), layout, ok
}

// javaLetters are the runs of letters that Go has a layout for.
func javaLetters() map[string]string {
	return map[string]string{
		"yyyy": "2006", "yyy": "2006", "y": "2006", "uuuu": "2006", "YYYY": "2006", "yy": "06", "YY": "06",
		"MMMM": "January", "MMM": "Jan", "MM": "01", "M": "1", "LLLL": "January", "LLL": "Jan", "LL": "01", "L": "1",
		"dd": "02", "d": "2", "DD": "02", "HH": "15", "hh": "03", "h": "3", "mm": "04", "m": "4", "ss": "05", "s": "5",
		"a": "PM", "EEEE": "Monday", "EEE": "Mon", "EE": "Mon", "E": "Mon", "Z": "-0700", "XXX": "Z07:00", "XX": "Z0700", "X": "Z07", "z": "MST", "zzz": "MST",
		"DDD": "002",
	}
}

// javaOffset turns "3 days" or "-2 hours" into a duration such as +72h. Months and years have no fixed length.
func javaOffset(text string) (string, bool) {
	count, unit, found := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.Atoi(count)
	const most = 1_000_000
	if !found || err != nil || n > most || n < -most {
		return "", false
	}
	units := map[string]time.Duration{
		"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
	}
	step, ok := units[strings.TrimSuffix(strings.ToLower(strings.TrimSpace(unit)), "s")]
	if !ok {
		return "", false
	}
	return signedDuration(time.Duration(n), step), true
}

// signedDuration writes n steps as the function now takes them.
func signedDuration(n, step time.Duration) string {
	sign := "+"
	if n < 0 {
		sign, n = "-", -n
	}
	seconds := int64(n) * int64(step/time.Second)
	return sign + strconv.FormatInt(seconds, 10) + "s"
}
