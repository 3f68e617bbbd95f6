package main

import (
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/federation"
)

// federate lets people sign in by the identity provider of the settings (rule M-43).
func (s *server) federate(o *management.Options) error {
	set := &s.settings.Provider
	if set.OIDCIssuer == "" {
		return nil
	}
	provider, err := federation.New(federation.Options{
		Issuer: set.OIDCIssuer, ClientID: set.OIDCClientID, ClientSecret: set.OIDCClientSecret.Reveal(), Scopes: set.OIDCScopes,
		GroupsClaim: set.OIDCGroupsClaim, Key: s.keys.Derive("identity provider"), Clock: s.clock,
	})
	if err != nil {
		return &failure{code: exitUsage, what: "sign in by OpenID Connect", err: err}
	}
	o.Federation = &management.Federation{Provider: provider, Issuer: set.OIDCIssuer, Roles: config.GroupRoles(set.OIDCRoles)}
	o.HidePasswords = !set.PasswordSignIn
	return nil
}
