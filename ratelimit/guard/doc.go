// Package guard puts layers before a server: lists, bans, tiers of limits and a circuit breaker, any of them in dry run.
//
// # Layers
//
// A [Guard] judges a ratelimit.Attempt in a fixed order and stops at the first layer that refuses: excluded paths,
// safelist, blocklist, bans, tiers, circuit. Later layers are neither asked nor counted, but for the circuit's count of
// what was offered, which is taken behind the safelist. Each layer may be absent; a guard without any costs no
// allocation. After the response the guard is told the outcome ([Guard.Done]): failures are counted then, and what a
// request cost beyond its announced cost is charged.
//
// # Rules
//
// [Rules] are compiled once and swapped whole by [Guard.Update]; requests that are under way keep the rules that they
// began with, and no count is lost. A rule in dry run computes and counts everything and refuses nothing.
//
// # State
//
// Counters live in the store of a ratelimit.Limiter, offences and bans in ratelimit.Bans, and the circuit's record in
// ratelimit.Circuits, each of which several processes may share. The guard keeps a copy of the bans in force, renewed
// every two seconds, so that a known ban needs no store and holds while the store fails.
//
// # Protocols
//
// The package does not speak HTTP, although statuses are HTTP's. Package httplimit builds attempts from requests, writes
// refusals and reports outcomes.
package guard
