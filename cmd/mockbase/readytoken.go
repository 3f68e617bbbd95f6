package main

import (
	"context"
	"crypto/subtle"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/auth"
	"github.com/mockbase/mockbase/management/catalog"
)

// passingAccounts are the accounts of a server that keeps none, with the token of its ready file (rule C-24). The token
// lives in memory alone, and is for whatever projects are loaded.
type passingAccounts struct {
	management.Accounts

	catalog *catalog.Catalog
	secret  auth.APIToken
	began   time.Time
}

// accounts are what the management plane asks about people and tokens.
func (s *server) accounts() management.Accounts {
	if !s.ephemeral() || s.settings.ReadyFile == "" && !s.guest {
		return s.store
	}
	s.passing = &passingAccounts{Accounts: s.store, catalog: s.catalog, secret: auth.NewAPIToken(mockbase.TokenService), began: s.clock()}
	return s.passing
}

// readyToken is the secret of the token, "" on a server that keeps accounts.
func (s *server) readyToken() string {
	if s.passing == nil {
		return ""
	}
	return s.passing.secret.Text
}

// TokenByHash knows the token of the ready file beside those of people.
func (a *passingAccounts) TokenByHash(ctx context.Context, hash []byte) (*mockbase.Token, error) {
	if subtle.ConstantTimeCompare(hash, a.secret.Hash) != 1 {
		return a.Accounts.TokenByHash(ctx, hash)
	}
	token := &mockbase.Token{
		ID: mockbase.PrefixToken + "ready-file", Kind: mockbase.TokenService, Name: "ready file", Prefix: a.secret.Shown(), Hash: a.secret.Hash, CreatedAt: a.began,
		Scopes: []string{"mocks:read", "traffic:read", "traffic:clear", "verify", "sessions", "limits:read"},
	}
	for _, p := range a.catalog.Projects() {
		token.Projects = append(token.Projects, p.Project.ID)
	}
	return token, nil
}
