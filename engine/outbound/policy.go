package outbound

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// dialTimeout bounds one connection attempt, whatever the call's own time-out.
const dialTimeout = 10 * time.Second

// Options say what the operator allows.
type Options struct {
	// Allow holds the addresses that may be called besides public ones.
	Allow []netip.Prefix
	// Loopback allows loopback addresses: that every listener of the server is on loopback (rule S6).
	Loopback bool
	// Own tells whether an address is one that this server listens on; nil is none. Proxies do not call it (rule T13).
	Own func(netip.AddrPort) bool
	// Resolver looks names up; nil is the system's.
	Resolver *net.Resolver
}

// Policy decides which addresses may be called. It is immutable and may be shared.
type Policy struct {
	options  Options
	classes  []addressClass
	carriers []carrier
	// narrow is the project's own list; nil is none.
	narrow *List
}

// BlockedError is the error of a call that was not made.
type BlockedError struct {
	Reason Reason
	// Address is the one that was refused; its zero value means that no address was looked up.
	Address netip.Addr
	// Detail says more where the reason alone does not.
	Detail string
}

// Error names the address and the reason.
func (b *BlockedError) Error() string {
	switch {
	case b.Detail != "":
		return "blocked: " + b.Detail
	case b.Reason == ReasonProject:
		return fmt.Sprintf("blocked: %s is not in the project's list of addresses that may be called", b.Address)
	case b.Reason == ReasonSelf:
		return fmt.Sprintf("blocked: %s is this server", b.Address)
	default:
		return fmt.Sprintf("blocked: %s is a %s address, which the operator does not allow", b.Address, b.Reason)
	}
}

// New makes the operator's policy.
func New(o Options) *Policy {
	o.Allow = slices.Clone(o.Allow)
	for i := range o.Allow {
		o.Allow[i] = unmapPrefix(o.Allow[i])
	}
	return &Policy{options: o, classes: classes(), carriers: carriers()}
}

// Narrow returns the policy of a project that lists what it may call. An empty list narrows nothing, and no list allows more
// than the operator does.
func (p *Policy) Narrow(list List) *Policy {
	if len(list.prefixes)+len(list.hosts) == 0 {
		return p
	}
	narrowed := *p
	narrowed.narrow = &list
	return &narrowed
}

// Check returns a *[BlockedError] when the address may not be called. The name that it was looked up by is not known; a
// project's list allows an address by its prefixes alone then.
func (p *Policy) Check(address netip.Addr) error {
	address = address.WithZone("").Unmap()
	if p.narrow != nil && !holds(p.narrow.prefixes, address) && !holds(p.narrow.prefixes, carried(p.carriers, address)) {
		return &BlockedError{Reason: ReasonProject, Address: address}
	}
	return p.checkOperator(address)
}

// checkOperator leaves the project's own list out.
func (p *Policy) checkOperator(address netip.Addr) error {
	reached := carried(p.carriers, address)
	if holds(p.options.Allow, address) || holds(p.options.Allow, reached) {
		return nil
	}
	reason := p.reason(reached)
	if reason == "" || reason == ReasonLoopback && p.options.Loopback {
		return nil
	}
	return &BlockedError{Reason: reason, Address: address}
}

// reason is why an address is not public; "" means that it is.
func (p *Policy) reason(address netip.Addr) Reason {
	for _, class := range p.classes {
		if holds(class.within, address) {
			return class.reason
		}
	}
	if public := netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3); address.Is6() && !public.Contains(address) {
		return ReasonReserved
	}
	return ""
}

// CheckURL returns a *[BlockedError] when a URL can never be called: only http and https are, and a URL carries no user and
// password (rule S5). What its host resolves to is checked when it is called.
func CheckURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return &BlockedError{Reason: ReasonURL, Detail: fmt.Sprintf("%q is no http or https URL", u.Redacted())}
	case u.User != nil:
		return &BlockedError{Reason: ReasonURL, Detail: "the URL carries a user and password"}
	case u.Hostname() == "":
		return &BlockedError{Reason: ReasonURL, Detail: fmt.Sprintf("%q names no host", u.Redacted())}
	}
	return nil
}

// dialing opens a connection to a host and port.
type dialing func(ctx context.Context, network, address string) (net.Conn, error)

// dialing returns what opens connections, to what may be called alone. A host that the project's list names is free of the
// list, and its addresses still are the operator's to allow.
func (p *Policy) dialing(self SelfCalls) dialing {
	listed := p.dialer(self, p.Check).DialContext
	if p.narrow == nil || len(p.narrow.hosts) == 0 {
		return listed
	}
	named := p.dialer(self, p.checkOperator).DialContext
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(address); err == nil && p.narrow.names(host) {
			return named(ctx, network, address)
		}
		return listed(ctx, network, address)
	}
}

// dialer returns what opens connections to addresses that pass the check.
func (p *Policy) dialer(self SelfCalls, check func(netip.Addr) error) *net.Dialer {
	return &net.Dialer{
		Timeout:  dialTimeout,
		Resolver: p.options.Resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			target, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("read address to call: %w", err)
			}
			bare := target.Addr().WithZone("").Unmap()
			if self == SelfRefused && p.options.Own != nil && p.options.Own(netip.AddrPortFrom(bare, target.Port())) {
				return &BlockedError{Reason: ReasonSelf, Address: bare}
			}
			return check(bare)
		},
	}
}
