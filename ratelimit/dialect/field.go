package dialect

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// maxFields bounds the fields of Custom.
const maxFields = 32

// Field is a field of Custom (rules RL117, RL119).
type Field struct {
	// Name is written in this very case.
	Name string
	// Value is a text with the placeholders {limit}, {remaining}, {used}, {reset}, {resetSeconds}, {resetUnix},
	// {retryAfter}, {policy} and {windowSeconds}. {reset} has the form of the options; waits and windows are whole seconds,
	// rounded up. A field with {retryAfter} is left out where there is nothing to wait for, or no wait helps.
	Value string
}

// field is a field that is ready to be written.
type field struct {
	name string
	// texts stand around the placeholders: one more than those.
	texts        []string
	placeholders []placeholder
}

// placeholder is the name of a value. It is a name and no function, so that answers stay on the stack.
type placeholder string

func (p placeholder) known() bool {
	switch p {
	case "limit", "remaining", "used", "reset", "resetSeconds", "resetUnix", "retryAfter", "policy", "windowSeconds":
		return true
	default:
		return false
	}
}

// appendTo appends the value, and returns false if there is none.
func (p placeholder) appendTo(text []byte, a *Answer, reset Reset) (longer []byte, ok bool) {
	var number int64
	ok = true
	switch p {
	case "policy":
		return append(text, a.name()...), true
	case "reset":
		return append(text, resetText(reset, a)...), true
	case "limit":
		number = a.Limit
	case "remaining":
		number = a.Remaining
	case "used":
		number = a.Limit - a.Remaining
	case "resetSeconds":
		number = seconds(a.Reset)
	case "resetUnix":
		number = after(a.Now, a.Reset, time.Second).Unix()
	case "windowSeconds":
		number = int64((a.Policy.Window + time.Second - 1) / time.Second)
	default:
		number, ok = ratelimit.RetryAfterSeconds(a.RetryAfter)
	}
	return strconv.AppendInt(text, number, 10), ok
}

// compileFields reads the fields of Custom, which are there if and only if the dialect is.
func compileFields(dialects []Dialect, fields []Field) ([]field, error) {
	if slices.Contains(dialects, Custom) != (len(fields) > 0) {
		return nil, fmt.Errorf("header dialect %s and its fields need each other: %w", Custom, ratelimit.ErrConfig)
	}
	if len(fields) > maxFields {
		return nil, fmt.Errorf("more than %d fields: %w", maxFields, ratelimit.ErrConfig)
	}
	compiled := make([]field, 0, len(fields))
	for _, f := range fields {
		if !token(f.Name) || ownField(f.Name) {
			return nil, fmt.Errorf("field %q cannot be a limit field: %w", f.Name, ratelimit.ErrConfig)
		}
		for _, other := range compiled {
			if strings.EqualFold(other.name, f.Name) {
				return nil, fmt.Errorf("two fields are named %q: %w", f.Name, ratelimit.ErrConfig)
			}
		}
		c, err := compileField(f)
		if err != nil {
			return nil, err
		}
		compiled = append(compiled, c)
	}
	return compiled, nil
}

// ownField says whether a field is the server's, so that no dialect may write it (rule RL116).
func ownField(name string) bool {
	return slices.Contains([]string{
		retryAfter, LimitedBy, "Mockbase-Would-Limit", "Cache-Control", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Date",
		"Keep-Alive", "Location", "Set-Cookie", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	}, http.CanonicalHeaderKey(name))
}

// token says whether a name is a token of RFC 9110.
func token(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	}) < 0
}

func compileField(f Field) (field, error) {
	if strings.IndexFunc(f.Value, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
		return field{}, fmt.Errorf("field %s: its value is not visible ASCII: %w", f.Name, ratelimit.ErrConfig)
	}
	c, rest := field{name: f.Name}, f.Value
	for {
		before, after, opened := strings.Cut(rest, "{")
		c.texts = append(c.texts, before)
		if !opened {
			return c, nil
		}
		name, behind, closed := strings.Cut(after, "}")
		if !closed || !placeholder(name).known() {
			return field{}, fmt.Errorf("field %s: {%s is none of {limit} {remaining} {used} {reset} {resetSeconds} {resetUnix} {retryAfter} "+
				"{policy} {windowSeconds}: %w", f.Name, after, ratelimit.ErrConfig)
		}
		c.placeholders = append(c.placeholders, placeholder(name))
		rest = behind
	}
}

// set writes the field, unless something in it has no value.
func (c *field) set(h http.Header, a *Answer, reset Reset) {
	text := []byte(c.texts[0])
	for i, found := range c.placeholders {
		var ok bool
		if text, ok = found.appendTo(text, a, reset); !ok {
			return
		}
		text = append(text, c.texts[i+1]...)
	}
	put(h, c.name, string(text))
}
