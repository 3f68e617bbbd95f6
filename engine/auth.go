package engine

import (
	"encoding/base64"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/operator"
)

// authCondition is what the credentials of a request must satisfy (rule D7): a user name and a password, or a token.
type authCondition struct {
	basic                     bool
	username, password, token clauses
}

// compileAuth returns nil for no match at all.
func compileAuth(m *mockbase.AuthMatch, at string, faults *mockbase.Faults) *authCondition {
	switch {
	case m == nil:
		return nil
	case m.Basic != nil:
		return &authCondition{
			basic:    true,
			username: operator.Texts(m.Basic.Username, pointerTo(at, "basic", "username"), faults),
			password: operator.Texts(m.Basic.Password, pointerTo(at, "basic", "password"), faults),
		}
	default:
		return &authCondition{token: operator.Texts(m.Bearer, pointerTo(at, "bearer"), faults)}
	}
}

// credential is one Authorization line, read by its scheme.
type credential struct {
	username, password, token texts
}

// holds tells whether the credentials of one line satisfy the condition. Where none were sent, what asks for absence can
// still hold.
func (a *authCondition) holds(q *inquiry) bool {
	lines := q.header[headerAuthorization]
	found := false
	for _, line := range lines {
		if !q.effort.Spend(len(line)) {
			return false
		}
		c, ok := a.read(line)
		if !ok {
			continue
		}
		if a.accepts(&c) {
			return true
		}
		found = true
	}
	return !found && a.accepts(&credential{})
}

func (a *authCondition) accepts(c *credential) bool {
	return a.username.Failing(&c.username) == nil && a.password.Failing(&c.password) == nil &&
		a.token.Failing(&c.token) == nil
}

// read reads a line of the scheme that the condition is about; the scheme's letter case does not matter.
func (a *authCondition) read(line string) (credential, bool) {
	var c credential
	scheme, rest, _ := strings.Cut(strings.Trim(line, " \t"), " ")
	rest = strings.TrimLeft(rest, " \t")
	if !a.basic {
		c.token.List = []string{rest}
		return c, strings.EqualFold(scheme, "Bearer")
	}
	if !strings.EqualFold(scheme, "Basic") {
		return c, false
	}
	username, password, ok := parseBasic(rest)
	c.username.List, c.password.List = []string{username}, []string{password}
	return c, ok
}

// parseBasic decodes Basic credentials, which are UTF-8, and divides them at the first colon, so that a password may hold
// colons. Clients leave the padding out at times.
func parseBasic(coded string) (username, password string, ok bool) {
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(coded, "="))
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(decoded), ":")
}

// findings tells what became of each part. Of several lines, the first of the right scheme is described.
func (a *authCondition) findings(q *inquiry) []finding {
	var c credential
	for _, line := range q.header[headerAuthorization] {
		if read, ok := a.read(line); ok {
			c = read
			break
		}
	}
	if a.holds(q) {
		return []finding{{part: partAuth, name: a.scheme(), holds: true}}
	}
	if !a.basic {
		return []finding{clausesFinding(partAuth, "bearer", a.token, c.token)}
	}
	var found []finding
	if len(a.username) > 0 {
		found = append(found, clausesFinding(partAuth, "basic.username", a.username, c.username))
	}
	if len(a.password) > 0 {
		found = append(found, clausesFinding(partAuth, "basic.password", a.password, c.password))
	}
	return found
}

func (a *authCondition) scheme() string {
	if a.basic {
		return "basic"
	}
	return "bearer"
}
