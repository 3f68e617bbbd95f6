package httplimit

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mockbase/mockbase/ratelimit"
)

const (
	// MinIdentitySecret is the least number of bytes of an identity secret.
	MinIdentitySecret = 16
	// DefaultAPIKeyHeader holds the API key of requests without a bearer token.
	DefaultAPIKeyHeader = "X-Api-Key" //nolint:gosec // It is the name of a field and no credential.
	// DefaultJA3Header is where a proxy puts the JA3 fingerprint of a client.
	DefaultJA3Header = "X-JA3-Fingerprint"
)

const (
	// digestMark begins every digest, and no value that was not digested.
	digestMark = "d_"
	// digestBytes is the part of the HMAC that is kept: 128 bits.
	digestBytes = 16
	// maxValue is the longest value that stays readable, so that no caller chooses the size of a key.
	maxValue = 128
	// maxNames bounds the names that an Identity keeps compiled; they come from the configuration.
	maxNames = 1024
)

// IdentityOptions say where the parts of keys are found. The zero options are usable.
type IdentityOptions struct {
	// Secret makes digests of secrets (rule RL81). Replicas that share a store must share it. It has at least
	// MinIdentitySecret bytes; none is a random one, which ends with the process.
	Secret []byte
	// Addresses finds the client and says whose JA3 header is believed; nil takes the peer and believes nobody.
	Addresses *Addresses
	// Base is what dot segments of paths cannot leave, together with the segment behind it, as in [ResolvePath].
	Base string
	// Pattern finds the route that will serve a request; nil is r.Pattern, which a ServeMux sets for what stands behind it.
	Pattern func(r *http.Request) string
	// IgnoreCase is that of LayerOptions.
	IgnoreCase func(r *http.Request) bool
	// Claims returns the claims of a JWT that authentication has verified; nil is what [WithClaims] handed in.
	Claims func(r *http.Request) map[string]any
	// User returns who is asking if authentication has verified it; nil is the verified claim "sub".
	User func(r *http.Request) (string, bool)
	// Session returns the session of a request; nil is the cookie SessionCookie, if that is set.
	Session       func(r *http.Request) (string, bool)
	SessionCookie string
	// APIKeyHeader is the header of the API key; "" is DefaultAPIKeyHeader.
	APIKeyHeader string
	// SecretNames are further names of headers and query parameters whose values are secrets. Names that speak of keys,
	// tokens, passwords and the like are known to be.
	SecretNames []string
	// JA3Header is read from trusted peers only; "" is DefaultJA3Header (rule RL84).
	JA3Header string
	// FingerprintLevel is that of KeyFingerprint without a level; "" is LevelNormal.
	FingerprintLevel Level
	// FingerprintParts are those of LevelCustom: Fingerprint parts, or KeyHeader with a name.
	FingerprintParts []string
	// HeaderOrder returns the names of the header fields in the order that they were received in, from a server that
	// knows it; nil is what [WithHeaderOrder] handed in (rule RL83).
	HeaderOrder func(r *http.Request) []string
}

// Identity finds the parts of keys in requests (rules RL78 to RL84). It is safe for concurrent use.
type Identity struct {
	options IdentityOptions
	secret  []byte
	custom  []fingerprintPart
	// names are the sources of Part, by name.
	names struct {
		sync.RWMutex

		known map[string]source
	}
}

// NewIdentity makes an identity. All that is wrong with the options is reported in one error that wraps
// ratelimit.ErrConfig.
func NewIdentity(o IdentityOptions) (*Identity, error) {
	if o.Addresses == nil {
		o.Addresses = NewAddresses(AddressOptions{})
	}
	o.APIKeyHeader = cmp.Or(o.APIKeyHeader, DefaultAPIKeyHeader)
	o.JA3Header = cmp.Or(o.JA3Header, DefaultJA3Header)
	o.FingerprintLevel = cmp.Or(o.FingerprintLevel, LevelNormal)
	i := &Identity{options: o, secret: slices.Clone(o.Secret)}
	i.names.known = make(map[string]source)
	if err := i.validate(); err != nil {
		return nil, fmt.Errorf("make identity: %w", err)
	}
	if len(i.secret) == 0 {
		i.secret = make([]byte, sha256.Size)
		_, _ = rand.Read(i.secret) // It never fails.
	}
	return i, nil
}

func (i *Identity) validate() error {
	faults := []error{oneOf("fingerprint level", i.options.FingerprintLevel, LevelStrict, LevelNormal, LevelRelaxed, LevelCustom)}
	if n := len(i.secret); n > 0 && n < MinIdentitySecret {
		faults = append(faults, fmt.Errorf("the secret has %d bytes, which is less than %d: %w", n, MinIdentitySecret, ratelimit.ErrConfig))
	}
	for what, name := range map[string]string{"API key": i.options.APIKeyHeader, "JA3": i.options.JA3Header} {
		if !token(name) {
			faults = append(faults, fmt.Errorf("%s header %q is not a header name: %w", what, name, ratelimit.ErrConfig))
		}
	}
	if name := i.options.SessionCookie; name != "" && !token(name) {
		faults = append(faults, fmt.Errorf("session cookie %q is not a cookie name: %w", name, ratelimit.ErrConfig))
	}
	for _, name := range i.options.FingerprintParts {
		part, err := fingerprintPartOf(name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		i.custom = append(i.custom, part)
	}
	return errors.Join(faults...)
}

// KeyOptions make a Key.
type KeyOptions struct {
	// Key is what [ParseKey] reads; "" is KeyIP.
	Key string
	// OnMissing is MissingIP, MissingSkip or MissingDeny; "" is MissingIP.
	OnMissing Missing
	// Unverified takes claims from a bearer token that nobody verified, where no verified ones are known. Only a limit
	// that is simulated may want that (rule RL80).
	Unverified bool
}

// Key finds the identifier of a counter in requests. It is safe for concurrent use.
type Key struct {
	identity   *Identity
	parts      []source
	names      []string
	missing    Missing
	unverified bool
}

// Key compiles a key. The error wraps ratelimit.ErrConfig.
func (i *Identity) Key(o KeyOptions) (*Key, error) {
	o.Key, o.OnMissing = cmp.Or(o.Key, KeyIP), cmp.Or(o.OnMissing, MissingIP)
	if err := oneOf("answer to a missing key", o.OnMissing, MissingIP, MissingSkip, MissingDeny); err != nil {
		return nil, err
	}
	names, err := ParseKey(o.Key)
	if err != nil {
		return nil, err
	}
	k := &Key{identity: i, names: names, missing: o.OnMissing, unverified: o.Unverified}
	for _, name := range names {
		part, err := i.compile(name)
		if err != nil {
			return nil, err
		}
		k.parts = append(k.parts, part)
	}
	return k, nil
}

// Check says what is wrong with names of parts that [Identity.Part] is to be asked for. The error wraps
// ratelimit.ErrConfig.
func (i *Identity) Check(names ...string) error {
	var faults []error
	for _, name := range names {
		if _, err := i.compile(name); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// compile returns the source of a part, or why this identity cannot find it.
func (i *Identity) compile(name string) (source, error) {
	switch {
	case strings.Contains(name, templateOpen):
		found, err := compileTemplate(name)
		if err != nil {
			return nil, err
		}
		for _, part := range found.uses {
			if _, err := i.compile(part); err != nil {
				return nil, err
			}
		}
		return found.source(), nil
	case name == KeySession && i.options.Session == nil && i.options.SessionCookie == "":
		return nil, fmt.Errorf("key %q is not served: no session cookie is set: %w", name, ratelimit.ErrConfig)
	case i.levelOf(name) == LevelCustom && len(i.custom) == 0:
		return nil, fmt.Errorf("key %q is not served: no fingerprint parts are set: %w", name, ratelimit.ErrConfig)
	default:
		return sourceOf(name)
	}
}

// levelOf returns the level of a part that is a fingerprint, and "" for any other.
func (i *Identity) levelOf(part string) Level {
	level, leveled := strings.CutPrefix(part, KeyFingerprint+":")
	switch {
	case leveled:
		return Level(level)
	case part == KeyFingerprint:
		return i.options.FingerprintLevel
	default:
		return ""
	}
}

// Strict says whether a key holds a fingerprint of LevelStrict, which needs a limit by the address beside it since its parts
// are easily varied (rule RL84).
func (i *Identity) Strict(key string) bool {
	compiled, err := i.Key(KeyOptions{Key: key})
	return err == nil && compiled.strict()
}

// Digest returns the digest of a text that is not to stand in a key itself. The kind keeps the digests of one text in two
// places apart.
func (i *Identity) Digest(kind, text string) string { return i.digest(kind, text) }

// Identifier returns the identifier of a request's counter. Where a part is missing it returns the address and whether
// that may stand in (MissingIP). A key that is the address alone is the address; all else is written with the length
// before each part, so that neither do parts run together nor does one pose as an address (rule RL78).
func (k *Key) Identifier(r *http.Request) (identifier string, ok bool) {
	q := k.identity.ask(r)
	q.unverified = k.unverified
	if len(k.names) == 1 && (k.names[0] == KeyIP || k.names[0] == KeyGlobal) {
		return k.parts[0](q)
	}
	values := make([]string, len(k.parts))
	for at, part := range k.parts {
		value, found := part(q)
		if !found {
			return q.address(), k.missing == MissingIP
		}
		values[at] = value
	}
	return JoinKey(values...), true
}

// strict says whether the key holds a fingerprint of LevelStrict.
func (k *Key) strict() bool {
	return slices.ContainsFunc(k.names, func(name string) bool {
		if !strings.Contains(name, templateOpen) {
			return k.identity.levelOf(name) == LevelStrict
		}
		t, err := compileTemplate(name)
		return err == nil && slices.ContainsFunc(t.uses, func(part string) bool { return k.identity.levelOf(part) == LevelStrict })
	})
}

// JoinKey joins the parts of a key, each with its length before it, so that two lists give one key only if they are the
// same (rule RL78).
func JoinKey(parts ...string) string {
	var joined []byte
	for _, part := range parts {
		joined = strconv.AppendInt(joined, int64(len(part)), 10)
		joined = append(joined, '~') // No address contains it.
		joined = append(joined, part...)
	}
	return string(joined)
}

// Part returns a part of a key by its name, such as "token" or "header:X-Tenant", for LayerOptions.Part. Names that
// [Identity.Check] refuses are missing from every request.
func (i *Identity) Part(r *http.Request, name string) (value string, ok bool) {
	i.names.RLock()
	found := i.names.known[name]
	i.names.RUnlock()
	if found == nil {
		compiled, err := i.compile(name)
		if err != nil {
			return "", false
		}
		found = compiled
		i.names.Lock()
		if len(i.names.known) < maxNames {
			i.names.known[name] = found
		}
		i.names.Unlock()
	}
	return found(i.ask(r))
}

// digest makes a secret fit for keys and logs. The kind keeps the digests of one text in two places apart.
func (i *Identity) digest(kind, secret string) string {
	return digestMark + hex.EncodeToString(i.mac(kind, secret)[:digestBytes])
}

func (i *Identity) mac(parts ...string) []byte {
	mac := hmac.New(sha256.New, i.secret)
	_, _ = mac.Write([]byte(JoinKey(parts...))) // A hash never fails.
	return mac.Sum(nil)
}

// memory keeps what was computed for one request.
type memory struct {
	sync.Mutex

	fingerprints map[Level]string
}

// memoryKey is the place of the memory of an identity in a context.
type memoryKey struct{ identity *Identity }

// Middleware lets everything behind it share what is computed for a request, so that a fingerprint is computed once even
// when several guards ask for it (rule RL84). Without it, each guard computes it once.
func (i *Identity) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(i.remember(r.Context())))
	})
}

func (i *Identity) remember(ctx context.Context) context.Context {
	if _, known := ctx.Value(memoryKey{i}).(*memory); known {
		return ctx
	}
	return context.WithValue(ctx, memoryKey{i}, &memory{fingerprints: make(map[Level]string)})
}
