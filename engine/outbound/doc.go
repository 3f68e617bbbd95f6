// Package outbound decides which addresses this server may call, and makes the transports that hold to it.
//
// # Where the check is
//
// Proxies and webhooks call addresses that the author of a mock chose, so the address that a connection is opened to is
// checked, after names are resolved, at every attempt (rule S5). A name that resolves to something else a moment later, a
// redirect and an address in disguise (IPv4 within IPv6, NAT64, 6to4) all meet the same check.
//
// # What is allowed
//
// Public addresses. Loopback, private, link-local and metadata addresses need the operator's word; a server that listens on
// loopback alone may call loopback too (rule S6). A project's own list narrows that and never widens it.
package outbound
