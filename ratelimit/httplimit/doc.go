// Package httplimit puts a limiter before an http.Handler: client address, header dialects, and the 429.
//
// # Who is asking
//
// [Addresses] finds the client. A peer that is no trusted proxy is the client, and its headers are ignored. A trusted
// one is believed about one header, read from the right: the entry that our own proxy wrote comes first, and nothing to
// the left of the first untrusted hop counts. IPv4 clients are counted one by one, IPv6 clients by their network.
//
// An [Identity] finds everything else that a counter may go by: tokens, headers, cookies, claims of verified JWTs,
// sessions, routes, fingerprints, lists of them and small templates, as [ParseKey] reads them. Secrets stand in keys as
// digests alone. [Identity.Part] gives the same parts to [Layers]. A key never reads a body.
//
// # The guard
//
// A [Guard] asks its policies in order and lets the request through if all allow. It comes before any body is read, as
// [Guard.Middleware] around a handler or as [Guard.Admit] inside one. An allowed request costs no allocation while the
// limit fields go on denials only and it counts by the address.
//
// Places of concurrency policies are held while the handler works, renewed if that takes long, and given back when it is
// done, also after a panic. A handler asks a policy of its own by [Check].
//
// [Guard.Middleware] is a func(http.Handler) http.Handler, as routers take it. An Echo e is a handler itself, so that
// guard.Middleware(e) guards all of it; for some routes it is e.Group("/x", echo.WrapMiddleware(guard.Middleware)). Layers
// belong around the whole, since Echo answers the errors of its handlers only after its middleware has returned.
// Addresses.IPExtractor returns what Echo.IPExtractor wants.
//
// # Layers
//
// [Layers] put a whole guard of package guard before a handler: lists, bans, tiers of limits and a circuit breaker. They
// look at the status that the handler answers, and at what it says by [ReportFailure], [ReportSuccess] and [AddCost], so
// that failures are counted that really happened.
//
// # The refusal
//
// A refusal is 429 with Retry-After in whole seconds, Mockbase-Limited-By, Cache-Control: no-store, limit fields in the
// chosen dialects and a problem document. While the limiter's store fails, a limiter in mode open lets everything pass
// with the full quota remaining, and one in mode closed answers 503: the client did nothing wrong.
package httplimit
