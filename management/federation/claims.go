package federation

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// maxGroups bounds a person's groups, maxSaid what is repeated of a provider's words, in bytes.
	maxGroups = 1000
	maxSaid   = 64
)

// Claims that are read by name (OpenID Connect Core 1.0, sections 2 and 5.1).
const (
	claimEmail    = "email"
	claimVerified = "email_verified"
	claimProof    = "auth_time"
)

// claims are what a provider says of a person.
type claims map[string]any

func (c claims) text(name string) string {
	text, _ := c[name].(string)
	return text
}

// verified reads a truth value, which some providers write as text.
func (c claims) verified() bool { return c[claimVerified] == true || c[claimVerified] == "true" }

// moment reads seconds since 1970; the zero time stands for none.
func (c claims) moment(name string) time.Time {
	seconds, _ := c[name].(float64)
	if seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}

// groups reads a claim that is a list of names or one name. What is no text is no group.
func (c claims) groups(name string) []string {
	if one := c.text(name); one != "" {
		return []string{one}
	}
	list, _ := c[name].([]any)
	var names []string
	for _, one := range list {
		if group, ok := one.(string); ok && len(names) < maxGroups {
			names = append(names, group)
		}
	}
	return names
}

// complete adds what the provider answers about the person, where it has an address for that. What the ID token says stays;
// an address comes with the word on whether it is verified.
func (c claims) complete(ctx context.Context, known *oidc.Provider, tokens *oauth2.Token) error {
	if known.UserInfoEndpoint() == "" {
		return nil
	}
	answer, err := known.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return fmt.Errorf("%w: ask about the person: %w", ErrUnreachable, err)
	}
	if answer.Subject != c.text("sub") { // OpenID Connect Core 1.0, section 5.3.2
		return fmt.Errorf("%w: it answered about somebody else", ErrDenied)
	}
	more := claims{}
	if err := answer.Claims(&more); err != nil {
		return fmt.Errorf("%w: read claims: %w", ErrDenied, err)
	}
	if c[claimEmail] == nil {
		c[claimVerified] = more[claimVerified]
	}
	for name, value := range more {
		if c[name] == nil && name != claimVerified && name != claimProof {
			c[name] = value
		}
	}
	return nil
}

func cut(said string) string { return said[:min(len(said), maxSaid)] }

// bounded is a transport whose answers end with an error when they are too long.
type bounded struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	}
	return answer, err //nolint:wrapcheck // a transport's errors are the client's
}
