package auth

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mockbase/mockbase"
)

// AccessLife is how long an access token is valid (rule M-31). Short, because it is checked without asking who issued it.
const AccessLife = 10 * time.Minute

// Leeway is how far the clocks of two replicas may differ (rule M-31).
const Leeway = 30 * time.Second

// Audience is the aud claim of every access token (rule M-31).
const Audience = "mockbase-management"

// MaxTokenSize is the longest access token in bytes that is looked at (rule M-32).
const MaxTokenSize = 4 << 10

// tokenType is the typ header of an access token (RFC 9068, section 2.1).
const tokenType = "at+jwt"

// Claims is what an access token says.
type Claims struct {
	// UserID and SignInID are the sub and sid claims.
	UserID, SignInID string
	// TokenID is the jti claim. Issue makes it.
	TokenID string
	// IssuedAt and ExpiresAt are made by Issue.
	IssuedAt, ExpiresAt time.Time
	// AuthTime is when the password was last given.
	AuthTime time.Time
	// Epoch is the user's epoch at the time of issue; a raised epoch ends the token (rule M-39).
	Epoch int64
}

// wireClaims are the claims as they stand in a token.
type wireClaims struct {
	jwt.RegisteredClaims

	SignIn   string           `json:"sid"`
	AuthTime *jwt.NumericDate `json:"auth_time"` //nolint:tagliatelle // the name is OpenID Connect's
	Epoch    *int64           `json:"epoch"`
}

var errClaimMissing = errors.New("a required claim is missing")

// Validate is called by the parser after its own checks. It demands what the parser takes as optional.
func (c *wireClaims) Validate() error {
	if c.Subject == "" || c.SignIn == "" || c.ID == "" || c.IssuedAt == nil || c.AuthTime == nil || c.Epoch == nil {
		return errClaimMissing
	}
	return nil
}

var _ jwt.ClaimsValidator = (*wireClaims)(nil)

// Issue signs an access token for the user, the sign-in, the authentication time and the epoch in c. The token is valid
// from now on for AccessLife.
func (k *KeyRing) Issue(c Claims) (string, error) {
	now := k.clock()
	key := k.active()
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, &wireClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    k.instance,
			Subject:   c.UserID,
			Audience:  jwt.ClaimStrings{Audience},
			ExpiresAt: jwt.NewNumericDate(now.Add(AccessLife)),
			NotBefore: jwt.NewNumericDate(now),
			IssuedAt:  jwt.NewNumericDate(now),
			ID:        mockbase.NewID(mockbase.PrefixToken, now),
		},
		SignIn:   c.SignInID,
		AuthTime: jwt.NewNumericDate(c.AuthTime),
		Epoch:    &c.Epoch,
	})
	token.Header["typ"] = tokenType
	token.Header["kid"] = key.ID
	signed, err := token.SignedString(key.private)
	if err != nil {
		return "", fmt.Errorf("sign access token: %w", err)
	}
	return signed, nil
}

// Verify checks an access token as rules M-31 and M-32 demand and returns its claims. The error is a *mockbase.Error
// with CodeTokenExpired for a genuine token that is too old and CodeUnauthenticated for everything else; why stands in
// its private cause only.
func (k *KeyRing) Verify(token string) (Claims, error) {
	if len(token) > MaxTokenSize {
		return Claims{}, refuse(errTokenSize)
	}
	// The base64 decoder of the standard library skips line ends, which would make two texts of one token.
	if strings.ContainsAny(token, "\r\n") {
		return Claims{}, refuse(errTokenText)
	}
	if claims, known := k.verified.find(token, k); known {
		return claims, nil
	}
	var wire wireClaims
	parsed, err := k.parser().ParseWithClaims(token, &wire, k.keyFor)
	if err != nil {
		if errors.Is(err, jwt.ErrTokenExpired) {
			return Claims{}, &mockbase.Error{
				Code: mockbase.CodeTokenExpired, Message: "the access token has expired", Hint: "refresh or sign in again", Err: err,
			}
		}
		return Claims{}, refuse(err)
	}
	claims := Claims{
		UserID: wire.Subject, SignInID: wire.SignIn, TokenID: wire.ID, IssuedAt: wire.IssuedAt.Time,
		ExpiresAt: wire.ExpiresAt.Time, AuthTime: wire.AuthTime.Time, Epoch: *wire.Epoch,
	}
	if id, ok := parsed.Header["kid"].(string); ok {
		k.verified.keep(token, genuine{claims: claims, notBefore: wire.NotBefore.Time, key: k.lookup(id)})
	}
	return claims, nil
}

func (k *KeyRing) parser() *jwt.Parser {
	return jwt.NewParser(
		jwt.WithValidMethods([]string{algorithm}),
		jwt.WithStrictDecoding(),
		jwt.WithIssuer(k.instance),
		jwt.WithAudience(Audience),
		jwt.WithExpirationRequired(),
		jwt.WithNotBeforeRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(Leeway),
		jwt.WithTimeFunc(k.clock),
	)
}

var (
	errTokenSize   = errors.New("token is longer than 4 KiB")
	errTokenText   = errors.New("token holds a line end")
	errTokenHeader = errors.New("token header is not exactly alg, typ and kid")
	errTokenKey    = errors.New("token names no key of this instance")
	errTokenMethod = errors.New("token names another algorithm than its key")
)

// keyFor returns the key that verifies t. Only the three header members that Issue writes are known: jwk, jku, x5u, x5c,
// crit and whatever comes later are refused by not being among them.
func (k *KeyRing) keyFor(t *jwt.Token) (any, error) {
	if len(t.Header) != 3 || t.Header["typ"] != tokenType {
		return nil, errTokenHeader
	}
	id, ok := t.Header["kid"].(string)
	if !ok {
		return nil, errTokenHeader
	}
	key := k.lookup(id)
	if key == nil {
		return nil, errTokenKey
	}
	if t.Method.Alg() != key.Algorithm {
		return nil, errTokenMethod
	}
	return key.public, nil
}

// refuse hides why a token was refused: the reason helps only somebody who forges one.
func refuse(cause error) error {
	return &mockbase.Error{
		Code: mockbase.CodeUnauthenticated, Message: "the access token is not valid", Hint: "sign in again", Err: cause,
	}
}
