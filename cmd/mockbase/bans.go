package main

import (
	"net/http"
	"net/url"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// openBans makes what bans those who guess passwords. Bans are kept in this process's memory, so that no failing store
// lets guesses through (rule M-37).
func (s *server) openBans() error {
	if len(s.settings.LoginBan.Rules) == 0 {
		return nil
	}
	kept, err := memstore.NewBans(memstore.BanOptions{})
	if err != nil {
		return err
	}
	judge, err := guard.New(guard.Options{Rules: guard.Rules{Bans: s.settings.LoginBan.Rules}, Bans: kept, Clock: s.clock})
	if err != nil {
		return &failure{code: exitUsage, what: config.Spell("login-ban", s.origins["login-ban"]), err: err}
	}
	s.ends = append(s.ends, judge.Close)
	identity, err := httplimit.NewIdentity(httplimit.IdentityOptions{Addresses: s.shield.addresses})
	if err != nil {
		return err
	}
	layers, err := httplimit.NewLayers(httplimit.LayerOptions{
		Judge: judge, Addresses: s.shield.addresses, HeadersOn: httplimit.OnNever, Clock: s.clock,
		Part:       func(r *http.Request, name string) (string, bool) { return accountPart(identity, r, name) },
		LogMatches: httplimit.MatchLog(s.settings.ShieldLogMatches), Logger: s.log.Logger,
	})
	if err != nil {
		return err
	}
	s.ends = append(s.ends, layers.Close)
	s.shield.bans = layers
	return nil
}

// accountPart returns the account that a request signs in to, as a digest: a key holds nobody's address (rule RL81).
func accountPart(identity *httplimit.Identity, r *http.Request, name string) (string, bool) {
	account := management.SignInAccount(r.Context())
	if name != config.PartAccount || account == "" {
		return "", false
	}
	form := httplimit.WithForm(r.Context(), url.Values{"account": {account}})
	return identity.Part(r.WithContext(form), `{{formField "account"}}`)
}
