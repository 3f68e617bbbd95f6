package management

import "github.com/mockbase/mockbase"

// seesSecrets tells whether the caller may see the secrets of recorded exchanges: where the project keeps them, editors and
// owners may (rule M-81).
func (c *call) seesSecrets() bool {
	return c.project.Project.RawTraffic && rank(c.role) >= rank(mockbase.RoleEditor)
}

// seen is an exchange as the caller may see it. What was kept when the project had other settings is masked by those of now.
func (c *call) seen(x *mockbase.Exchange) *mockbase.Exchange {
	if c.seesSecrets() {
		return x
	}
	return c.project.Project.Redaction().Exchange(x)
}

// masked is an exchange as everybody may see it, for what is carried away: events and exports.
func (c *call) masked(x *mockbase.Exchange) *mockbase.Exchange {
	return c.project.Project.Redaction().Exchange(x)
}
