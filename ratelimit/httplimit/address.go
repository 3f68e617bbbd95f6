package httplimit

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"log/slog"
	"net/http"
	"net/netip"
	"net/textproto"
	"strings"
	"sync/atomic"

	"github.com/mockbase/mockbase/ratelimit"
)

// The sources of the client address besides a header of one's own (rule RL71).
const (
	SourceForwardedFor = "x-forwarded-for"
	SourceForwarded    = "forwarded"
	SourceNone         = "none"
)

const (
	// DefaultIPv6Prefix is what one IPv6 client usually has to itself (rule RL75).
	DefaultIPv6Prefix = 64
	minIPv6Prefix     = 32
	maxIPv6Prefix     = 128
	// UnixClient is the identifier of whoever has no address: a unix socket, or an empty peer.
	UnixClient = "unix"
)

// AddressOptions say whom to believe about the client's address. The zero options believe nobody.
type AddressOptions struct {
	// TrustedProxies are the networks whose forwarding header is believed. They match after unwrapping, so that
	// 10.0.0.0/8 matches the peer ::ffff:10.0.0.1.
	TrustedProxies []netip.Prefix
	// Header is the one source that trusted proxies write: "x-forwarded-for", which "" means too, "forwarded", "none",
	// or the name of a header that holds a single address, such as "x-real-ip" or "cf-connecting-ip".
	Header string
	// IPv6Prefix is the length of the network that counts as one IPv6 client, 32 to 128; 0 is DefaultIPv6Prefix.
	IPv6Prefix int
	// Digest replaces the text of an address in identifiers, for stores that are to hold no personal data (rule RL133);
	// nil leaves it readable. It must be a pure function. Identity.Digest makes one.
	Digest func(text string) string
	// Logger gets one warning when a forwarding header arrives and no proxy is trusted (rule RL131); nil is silent.
	Logger *slog.Logger
}

// Validate reports a header or a prefix length that cannot be as ratelimit.ErrConfig.
func (o AddressOptions) Validate() error {
	if !token(o.Header) && o.Header != "" {
		return fmt.Errorf("read client address header %q: not a header name: %w", o.Header, ratelimit.ErrConfig)
	}
	if o.IPv6Prefix != 0 && (o.IPv6Prefix < minIPv6Prefix || o.IPv6Prefix > maxIPv6Prefix) {
		return fmt.Errorf("read IPv6 prefix length %d: not in 32…128: %w", o.IPv6Prefix, ratelimit.ErrConfig)
	}
	for _, p := range o.TrustedProxies {
		if !p.IsValid() {
			return fmt.Errorf("read trusted proxies: a network has no address: %w", ratelimit.ErrConfig)
		}
	}
	return nil
}

// token says whether a name is a token of RFC 9110.
func token(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	}) < 0
}

// Addresses finds out who is asking (rules RL70 to RL77). It is safe for concurrent use.
type Addresses struct {
	present atomic.Pointer[addressing]
	logger  *slog.Logger
	warned  atomic.Bool
}

// addressing is what the options say.
type addressing struct {
	trusted []netip.Prefix
	// header is the canonical name of the source; it is empty for none.
	header string
	// chain says how the header lists hops; nil says that it holds one address.
	chain      *chain
	ipv6Prefix int
	digest     func(string) string
	names      identifiers
}

// NewAddresses makes the finder. What [AddressOptions.Validate] refuses falls back to its safe side: a header that
// cannot be is none, an impossible prefix length is the default, an invalid network is not trusted.
func NewAddresses(o AddressOptions) *Addresses {
	a := &Addresses{logger: o.Logger}
	a.Update(o)
	return a
}

// Update replaces the options, except the logger, from the next request on. What [AddressOptions.Validate] refuses falls
// back as in [NewAddresses].
func (a *Addresses) Update(o AddressOptions) { a.present.Store(newAddressing(&o)) }

func newAddressing(o *AddressOptions) *addressing {
	a := &addressing{ipv6Prefix: o.IPv6Prefix, digest: o.Digest}
	if o.IPv6Prefix < minIPv6Prefix || o.IPv6Prefix > maxIPv6Prefix {
		a.ipv6Prefix = DefaultIPv6Prefix
	}
	for _, p := range o.TrustedProxies {
		if p.IsValid() {
			a.trusted = append(a.trusted, ratelimit.UnwrapNetwork(p))
		}
	}
	switch source := strings.ToLower(o.Header); {
	case source == "" || source == SourceForwardedFor:
		a.header, a.chain = "X-Forwarded-For", forwardedForChain()
	case source == SourceForwarded:
		a.header, a.chain = "Forwarded", forwardedChain()
	case source != SourceNone && token(source):
		a.header = textproto.CanonicalMIMEHeaderKey(source)
	default:
	}
	a.names.open()
	return a
}

// addressKey is the place of the client address in a context.
type addressKey struct{}

// Middleware finds the client address once and keeps it in the request's context, so that logs, lists, limits and
// journal never disagree, whatever becomes of the headers (rule RL77).
func (a *Addresses) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), addressKey{}, a.Client(r))))
	})
}

// ClientAddress returns the address that [Addresses.Middleware] found, and the peer's address where it did not run. It is
// the zero address for a unix socket.
func ClientAddress(r *http.Request) netip.Addr {
	if found, ok := r.Context().Value(addressKey{}).(netip.Addr); ok {
		return found
	}
	return peerOf(r)
}

// Client returns the address of the client: what the context holds, else what the peer and the headers say. It is the
// zero address for a unix socket.
func (a *Addresses) Client(r *http.Request) netip.Addr {
	if found, ok := r.Context().Value(addressKey{}).(netip.Addr); ok {
		return found
	}
	peer := peerOf(r)
	now := a.present.Load()
	if !now.trusts(peer) {
		a.warnOnce(r, now, peer)
		return peer
	}
	return now.client(r, peer)
}

// client returns the address that a trusted peer tells of.
func (a *addressing) client(r *http.Request, peer netip.Addr) netip.Addr {
	lines := r.Header[a.header]
	switch {
	case a.header == "" || len(lines) == 0:
		return peer
	case a.chain != nil:
		return a.walk(lines, peer)
	case len(lines) > 1: // Two values of a header that holds one: which is the proxy's is anybody's guess.
		return peer
	}
	if client, ok := readEntry(lines[0]); ok {
		return client
	}
	return peer
}

// IPExtractor returns the client address as text, in the form that Echo wants for Echo.IPExtractor.
func (a *Addresses) IPExtractor() func(*http.Request) string {
	return func(r *http.Request) string {
		client := a.Client(r)
		if !client.IsValid() {
			return UnixClient
		}
		return client.String()
	}
}

// Identifier returns the part of a limiter's key that stands for the address: IPv4 whole, IPv6 as its network, and
// "unix" for the zero address (rule RL75).
func (a *Addresses) Identifier(client netip.Addr) string {
	client = ratelimit.UnwrapAddress(client)
	if !client.IsValid() {
		return UnixClient
	}
	now := a.present.Load()
	if client.Is6() {
		network, err := client.Prefix(now.ipv6Prefix)
		if err != nil {
			return client.String()
		}
		client = network.Addr()
	}
	return now.nameOf(client)
}

// Trusts says whether a peer is a proxy whose header is believed, and which header that is; "" is none.
func (a *Addresses) Trusts(peer netip.Addr) (trusted bool, header string) {
	now := a.present.Load()
	return now.trusts(ratelimit.UnwrapAddress(peer)), now.header
}

// trusts says whether the address is one of our proxies.
func (a *addressing) trusts(address netip.Addr) bool {
	for _, p := range a.trusted {
		if p.Contains(address) {
			return true
		}
	}
	return false
}

// warnOnce tells the operator of a server behind a proxy that all clients share one address.
func (a *Addresses) warnOnce(r *http.Request, now *addressing, peer netip.Addr) {
	if a.logger == nil || len(now.trusted) > 0 || now.header == "" || a.warned.Load() || len(r.Header[now.header]) == 0 {
		return
	}
	if a.warned.CompareAndSwap(false, true) {
		a.logger.WarnContext(r.Context(), "a forwarding header was ignored because no proxy is trusted",
			slog.String("header", now.header), slog.String("peer_to_trust", peer.String()))
	}
}

// peerOf returns the address of the connection's other end.
func peerOf(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		bare, _ := readEntry(r.RemoteAddr)
		return bare
	}
	return ratelimit.UnwrapAddress(peer.Addr())
}

// identifierSlots is the number of texts that are kept: enough for the clients of a busy server, and 32 KiB when empty.
const identifierSlots = 4096

// identifiers remembers the texts of recent addresses, so that a known client costs no allocation. Each address has one
// slot, and takes it from whoever had it before.
type identifiers struct {
	seed  uint64
	slots []atomic.Pointer[namedAddress]
}

type namedAddress struct {
	address netip.Addr
	name    string
}

func (n *identifiers) open() {
	n.seed = maphash.Bytes(maphash.MakeSeed(), nil) | 1
	n.slots = make([]atomic.Pointer[namedAddress], identifierSlots)
}

func (a *addressing) nameOf(address netip.Addr) string {
	slot := a.names.slot(address)
	if known := slot.Load(); known != nil && known.address == address {
		return known.name
	}
	name := address.String()
	if address.Is6() {
		name = netip.PrefixFrom(address, a.ipv6Prefix).String()
	}
	if a.digest != nil {
		name = a.digest(name)
	}
	slot.Store(&namedAddress{address: address, name: name})
	return name
}

func (n *identifiers) slot(address netip.Addr) *atomic.Pointer[namedAddress] {
	const spread, upper = 0x9e3779b97f4a7c15, 52
	whole := address.As16()
	mixed := (binary.BigEndian.Uint64(whole[:8])*spread ^ binary.BigEndian.Uint64(whole[8:]) ^ n.seed) * spread
	return &n.slots[mixed>>upper]
}
