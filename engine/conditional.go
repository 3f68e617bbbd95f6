package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// hashTag is a strong entity tag of bytes (rule O12).
func hashTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// precondition returns the status of the answer instead, 0 if the conditions of the request hold or it states none
// (rule O11; RFC 9110, section 13.2.2).
func (w *dressing) precondition(asked, h http.Header, method string) int {
	tag := headerOf(h, headerETag)
	if match := asked["If-Match"]; len(match) > 0 {
		if !listsTag(match, tag, strongly) {
			return http.StatusPreconditionFailed
		}
	} else if w.modifiedAfter(asked.Get("If-Unmodified-Since")) {
		return http.StatusPreconditionFailed
	}
	reads := method == http.MethodGet || method == http.MethodHead
	if none := asked["If-None-Match"]; len(none) > 0 {
		return matched(listsTag(none, tag, weakly), reads)
	}
	since := asked.Get("If-Modified-Since")
	if _, err := http.ParseTime(since); !reads || err != nil || w.modified.IsZero() || w.modifiedAfter(since) {
		return 0
	}
	return http.StatusNotModified
}

// matched is the status after If-None-Match, 0 if the answer is another one than the client has.
func matched(same, reads bool) int {
	switch {
	case !same:
		return 0
	case reads:
		return http.StatusNotModified
	default:
		return http.StatusPreconditionFailed
	}
}

// modifiedAfter tells whether the answer is newer than a date. A date that cannot be read, and an answer without one, say
// nothing.
func (w *dressing) modifiedAfter(date string) bool {
	since, err := http.ParseTime(date)
	return err == nil && !w.modified.IsZero() && w.modified.Truncate(time.Second).After(since)
}

// Two tags are equal strongly if neither is weak, and weakly in any case (RFC 9110, section 8.8.3.2).
func strongly(a, b string) bool { return a == b && !strings.HasPrefix(a, "W/") }

func weakly(a, b string) bool { return strings.TrimPrefix(a, "W/") == strings.TrimPrefix(b, "W/") }

// listsTag tells whether the lines of a condition hold the tag of the answer. A star stands for every answer.
func listsTag(lines []string, tag string, equal func(a, b string) bool) bool {
	for _, line := range lines {
		rest := strings.Trim(line, " \t,")
		if rest == "*" {
			return true
		}
		for rest != "" {
			var listed string
			if listed, rest = cutTag(rest); listed == "" {
				break
			}
			if tag != "" && equal(listed, tag) {
				return true
			}
		}
	}
	return false
}

// cutTag takes the first tag off a list, "" if there is none. A comma inside the quotes belongs to the tag.
func cutTag(list string) (tag, rest string) {
	start := 0
	if strings.HasPrefix(list, "W/") {
		start = 2
	}
	if len(list) <= start || list[start] != '"' {
		return "", ""
	}
	end := strings.IndexByte(list[start+1:], '"')
	if end < 0 {
		return "", ""
	}
	end += start + 2
	return list[:end], strings.TrimLeft(list[end:], " \t,")
}
