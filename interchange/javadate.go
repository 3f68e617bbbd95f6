package interchange

import (
	"strconv"
	"strings"
	"time"
)

// goLayout turns a date pattern of Java's SimpleDateFormat and its relatives into a layout of Go. It is not ok for letters
// without an equivalent, such as the week of the year.
func goLayout(pattern string) (string, bool) {
	letters := map[string]string{
		"yyyy": "2006", "yyy": "2006", "y": "2006", "uuuu": "2006", "YYYY": "2006", "yy": "06", "YY": "06",
		"MMMM": "January", "MMM": "Jan", "MM": "01", "M": "1", "LLLL": "January", "LLL": "Jan", "LL": "01", "L": "1",
		"dd": "02", "d": "2", "DD": "02", "HH": "15", "hh": "03", "h": "3", "mm": "04", "m": "4", "ss": "05", "s": "5",
		"a": "PM", "EEEE": "Monday", "EEE": "Mon", "EE": "Mon", "E": "Mon", "Z": "-0700", "XXX": "Z07:00", "XX": "Z0700", "X": "Z07", "z": "MST", "zzz": "MST",
		"DDD": "002",
	}
	var b strings.Builder
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c == '\'':
			n := strings.IndexByte(pattern[i+1:], '\'')
			if n < 0 {
				return "", false
			}
			if n == 0 {
				b.WriteByte('\'')
			}
			b.WriteString(pattern[i+1 : i+1+n])
			i += n + 2
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			run := i
			for i < len(pattern) && pattern[i] == c {
				i++
			}
			word := pattern[run:i]
			layout, ok := letters[word]
			if strings.Trim(word, "S") == "" {
				// Go reads a fraction only behind a point or a comma.
				layout = strings.Repeat("0", len(word))
				ok = run > 0 && (pattern[run-1] == '.' || pattern[run-1] == ',')
			}
			if !ok {
				return "", false
			}
			b.WriteString(layout)
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), true
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
