package federation

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// answerTimeout bounds each request to the provider.
	answerTimeout = 10 * time.Second
	// maxAnswer bounds what is read of each answer, in bytes.
	maxAnswer = 1 << 20
	// maxAway is how long a person may take at the provider.
	maxAway = 10 * time.Minute
	// pause is how long a failure to read the provider's document is repeated to those who waited for the attempt.
	pause = time.Second
	// justNow is how old the proof of a person may be who was asked for it again.
	justNow = 5 * time.Minute
)

// Options are a provider and what it knows of this server.
type Options struct {
	// Issuer is the provider's identifier, an https address, or http on a loopback address. Its document is found below it
	// (OpenID Connect Discovery 1.0, section 4).
	Issuer                 string
	ClientID, ClientSecret string
	// Scopes are asked for besides openid; empty means email and profile.
	Scopes []string
	// GroupsClaim is the claim with a person's groups; empty means groups.
	GroupsClaim string
	// Key seals what the browser keeps: 32 bytes that stay the same as long as sign-ins may take, in all replicas.
	Key   []byte
	Clock func() time.Time
	// Transport makes the requests to the provider; nil is one of its own, which takes the proxies of the environment.
	Transport http.RoundTripper
}

// Provider signs people in. Its methods may be called at the same time.
type Provider struct {
	Options

	client *http.Client

	mu    sync.Mutex
	known *oidc.Provider // nil until the provider's document was read
	// failure is how the last attempt to read it ended, at failedAt.
	failure  error
	failedAt time.Time
}

// The ways in which a sign-in fails.
var (
	// ErrUnreachable is a provider that does not answer, or not as it should.
	ErrUnreachable = errors.New("the identity provider can't be asked")
	// ErrLost is a browser that brings back something else than it was given, or too late.
	ErrLost = errors.New("this is no sign-in that was begun here")
	// ErrDenied is a provider that says no, or that vouches for nobody.
	ErrDenied = errors.New("the identity provider vouches for nobody")
)

// New checks the options and returns their provider. It asks nothing of the network.
func New(o Options) (*Provider, error) {
	if err := CheckIssuer(o.Issuer); err != nil {
		return nil, err
	}
	if o.ClientID == "" {
		return nil, errors.New("the client id is missing")
	}
	if len(o.Scopes) == 0 {
		o.Scopes = []string{"email", "profile"}
	}
	if o.GroupsClaim == "" {
		o.GroupsClaim = "groups"
	}
	if o.Transport == nil {
		o.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: answerTimeout, IdleConnTimeout: time.Minute}
	}
	return &Provider{Options: o, client: &http.Client{Timeout: answerTimeout, Transport: bounded{o.Transport}}}, nil
}

// CheckIssuer tells what is wrong with the address of a provider: what it answers decides who signs in, so that it must come
// over TLS, or from this machine.
func CheckIssuer(issuer string) error {
	at, err := url.Parse(issuer)
	switch {
	case err != nil || at.Host == "" || at.RawQuery != "" || at.Fragment != "" || at.User != nil:
		return fmt.Errorf("issuer %q: must be an address like https://id.example.com", issuer)
	case at.Scheme != "https" && (at.Scheme != "http" || !loopback(at.Hostname())):
		return fmt.Errorf("issuer %q: must begin with https://, or be on a loopback address", issuer)
	}
	return nil
}

func loopback(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.IsLoopback()
}

// Start is what a sign-in begins with.
type Start struct {
	// RedirectURL is where the provider sends the browser back to; it must be registered there.
	RedirectURL string
	// Next is the place on this server that the person wanted to see.
	Next string
	// Fresh asks the person for their proof even if the provider knows them already (rule M-40).
	Fresh bool
}

// Journey is what a browser is given on its way to the provider.
type Journey struct {
	// URL is where it goes.
	URL string
	// Sealed is what it keeps, for Lasts at most.
	Sealed string
	Lasts  time.Duration
}

// Begin sends a browser on its way. It fails with ErrUnreachable.
func (p *Provider) Begin(ctx context.Context, s Start) (Journey, error) {
	config, err := p.config(ctx, s.RedirectURL)
	if err != nil {
		return Journey{}, err
	}
	kept := luggage{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: s.Next, Fresh: s.Fresh, Until: p.Clock().Add(maxAway)}
	options := []oauth2.AuthCodeOption{oidc.Nonce(kept.Nonce), oauth2.S256ChallengeOption(kept.Verifier)}
	if s.Fresh {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	sealed, err := seal(p.Key, kept)
	if err != nil {
		return Journey{}, err
	}
	return Journey{URL: config.AuthCodeURL(kept.State, options...), Sealed: sealed, Lasts: maxAway}, nil
}

// Identity is a person as the provider knows them.
type Identity struct {
	// Issuer and Subject name the person for good.
	Issuer, Subject string
	Email           string
	EmailVerified   bool
	Name            string
	Groups          []string
	// ProvedAt is when the person last gave their proof to the provider; zero where it does not tell.
	ProvedAt time.Time
}

// Return is what a browser brings back.
type Return struct {
	// RedirectURL is the one that it was sent away with.
	RedirectURL string
	Sealed      string
	// Query is that of the address that the provider sent it to.
	Query url.Values
}

// Finish returns whom the provider vouches for, and where they wanted to go. It fails with ErrLost, ErrDenied or
// ErrUnreachable.
func (p *Provider) Finish(ctx context.Context, r Return) (*Identity, string, error) {
	kept, err := open(p.Key, r.Sealed, p.Clock())
	if err != nil {
		return nil, "", err
	}
	if !kept.began(r.Query.Get("state")) || (r.Query.Has("iss") && r.Query.Get("iss") != p.Issuer) { // RFC 9207
		return nil, "", ErrLost
	}
	if said := r.Query.Get("error"); said != "" {
		return nil, "", fmt.Errorf("%w: it answered %s", ErrDenied, strconv.Quote(cut(said)))
	}
	config, err := p.config(ctx, r.RedirectURL)
	if err != nil {
		return nil, "", err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	tokens, err := config.Exchange(ctx, r.Query.Get("code"), oauth2.VerifierOption(kept.Verifier))
	if err != nil {
		return nil, "", asExchange(err)
	}
	who, err := p.identity(ctx, tokens, kept)
	return who, kept.Next, err
}

// asExchange tells a refused code from a provider that could not be asked.
func asExchange(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode != "" {
		return fmt.Errorf("%w: it answered %s to the code", ErrDenied, strconv.Quote(cut(refused.ErrorCode)))
	}
	return fmt.Errorf("%w: redeem code: %w", ErrUnreachable, err)
}

// identity checks the ID token and reads whom it is about.
func (p *Provider) identity(ctx context.Context, tokens *oauth2.Token, kept luggage) (*Identity, error) {
	raw, _ := tokens.Extra("id_token").(string)
	known, err := p.provider(ctx)
	if err != nil {
		return nil, err
	}
	token, err := known.VerifierContext(ctx, &oidc.Config{ClientID: p.ClientID, Now: p.Clock}).Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDenied, err)
	}
	said := claims{}
	if err := token.Claims(&said); err != nil {
		return nil, fmt.Errorf("%w: read claims: %w", ErrDenied, err)
	}
	if err := p.mine(token, tokens, said, kept); err != nil {
		return nil, err
	}
	if said[p.GroupsClaim] == nil || said[claimEmail] == nil {
		if err := said.complete(ctx, known, tokens); err != nil {
			return nil, err
		}
	}
	return &Identity{
		Issuer: token.Issuer, Subject: token.Subject, Email: said.text(claimEmail), EmailVerified: said.verified(), Name: said.text("name"),
		Groups: said.groups(p.GroupsClaim), ProvedAt: said.moment(claimProof),
	}, nil
}

// mine tells whether a genuine token was made for this sign-in, and after the proof that it asked for.
func (p *Provider) mine(token *oidc.IDToken, tokens *oauth2.Token, said claims, kept luggage) error {
	switch {
	case token.Subject == "":
		return fmt.Errorf("%w: the token names no subject", ErrDenied)
	case token.Nonce != kept.Nonce:
		return fmt.Errorf("%w: the nonce is another one", ErrDenied)
	case len(token.Audience) > 1 && said.text("azp") != p.ClientID:
		return fmt.Errorf("%w: the token was made for somebody else", ErrDenied)
	case token.AccessTokenHash != "" && token.VerifyAccessToken(tokens.AccessToken) != nil:
		return fmt.Errorf("%w: the access token belongs to another ID token", ErrDenied)
	case kept.Fresh && p.Clock().Sub(said.moment(claimProof)) > justNow:
		return fmt.Errorf("%w: the person was not asked again", ErrDenied)
	}
	return nil
}

// config is this server as a client of the provider.
func (p *Provider) config(ctx context.Context, redirectURL string) (*oauth2.Config, error) {
	known, err := p.provider(ctx)
	if err != nil {
		return nil, err
	}
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: known.Endpoint(), RedirectURL: redirectURL,
		Scopes: slices.Concat([]string{oidc.ScopeOpenID}, p.Scopes),
	}, nil
}

// provider reads the provider's document when that was not yet done. One request reads it while others wait.
func (p *Provider) provider(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil {
		return p.known, nil
	}
	if p.failure != nil && p.Clock().Sub(p.failedAt) < pause {
		return nil, p.failure
	}
	known, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.Issuer)
	if err != nil {
		p.failure, p.failedAt = fmt.Errorf("%w: read its document: %w", ErrUnreachable, err), p.Clock()
		return nil, p.failure
	}
	p.known = known
	return known, nil
}
