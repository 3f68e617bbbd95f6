package management

import (
	"bytes"

	"github.com/mockbase/mockbase"
)

// seesSecrets tells whether the caller may see the secrets of recorded exchanges: where the project keeps them, editors and
// owners may (rule M-81).
func (c *call) seesSecrets() bool {
	return c.project.Project.RawTraffic && rank(c.role) >= rank(mockbase.RoleEditor)
}

// hiding masks the values of the secret variables that the project has now.
func (c *call) hiding() *mockbase.Hiding {
	if project := c.project.Project; c.hides != project {
		c.hides, c.hidden = project, project.Hiding()
	}
	return c.hidden
}

// hide does so with an exchange that the caller is shown, if he may not see it as it was.
func (c *call) hide(x *mockbase.Exchange) *mockbase.Exchange {
	if c.seesSecrets() {
		return x
	}
	return c.hiding().Exchange(x)
}

// mask makes a filter search what the caller is shown, so that nobody finds secrets out by searching.
func (c *call) mask(f *mockbase.TrafficFilter) { f.Masked, f.Hiding = true, c.hiding() }

// seen is an exchange as the caller may see it. What was kept when the project had other settings is masked by those of now.
func (c *call) seen(x *mockbase.Exchange) *mockbase.Exchange {
	if c.seesSecrets() {
		return x
	}
	return c.project.Project.Redaction().Exchange(x)
}

// masked is an exchange as everybody may see it, for what is carried away: events and exports.
func (c *call) masked(x *mockbase.Exchange) *mockbase.Exchange {
	return c.hiding().Exchange(withMaskedBody(c.project.Project.Redaction().Exchange(x)))
}

// shown is an exchange as the caller is shown it, with the body of its request. What is compared again is not: it is
// looked at as it was sent.
func (c *call) shown(x *mockbase.Exchange) *mockbase.Exchange {
	if c.seesSecrets() {
		return x
	}
	return c.hiding().Exchange(withMaskedBody(x))
}

// withMaskedBody is an exchange whose request shows no secrets in its body: itself if it has none, or a copy.
func withMaskedBody(x *mockbase.Exchange) *mockbase.Exchange {
	body := mockbase.MaskBody(x.Request.Header.Get("Content-Type"), x.Request.Body)
	if bytes.Equal(body, x.Request.Body) {
		return x
	}
	masked := *x
	masked.Request.Body, masked.Redacted = body, true
	return &masked
}

// sight is what explanations may show to the caller: who may change mocks can have them answer with everything that
// templates read, so that nothing is hidden from them alone.
func (c *call) sight() mockbase.Sight {
	if rank(c.role) >= rank(mockbase.RoleEditor) && c.caller.has(scopeMocksWrite) {
		return mockbase.SeesAll
	}
	return mockbase.SeesNoSecrets
}
