// Package ratelimit decides, from a policy, a state and a time, whether an action may proceed.
//
// # Policies
//
// A [Policy] is an algorithm and its numbers: so many units per window. It says nothing of where it applies; a [Key] does
// that. The zero Policy means no limit. Policies are written as rule strings such as "120/minute" or
// "60/minute algorithm=gcra burst=5" ([ParseRules]) and checked by [Policy.Validate]: within its bounds every sum is exact.
//
// # Choosing an algorithm
//
//   - [FixedWindow] counts to the limit in each window. It is the cheapest, and many processes can share its windows on
//     the clock without speaking to each other. Around a boundary up to twice the limit passes. Its windows may also begin
//     with the first request.
//   - [SlidingWindow] takes the window before for evenly spread. It has no burst at a boundary, but may admit up to twice
//     the limit less one within a window if the requests were not spread.
//   - [SlidingLog] remembers each admission and never admits more than the limit within any window. It takes memory for
//     each, and serves limits up to a million.
//   - [TokenBucket], [LeakyBucket] and [GCRA] are one law and admit the same: a burst at once, then the limit per window,
//     evenly. Nothing is queued.
//   - [Concurrency] counts what is in flight. Each check names a lease, which holds a place until it is released, or for
//     one window if nobody does.
//
// # Decisions
//
// [Step] is the specification of every algorithm as a pure function: it has no clock, shares no memory and never
// panics. [Judge] is the same in place, and knows leases. A [Store] keeps the states and gives their decisions bit for bit:
// package memstore in process memory, package redisstore in Redis. A store may also judge several requests in order
// ([OrderedStore]), or charge them together or not at all ([AtomicStore]); one that does not serve every algorithm says so
// ([SelectiveStore]).
//
// # Failures
//
// A [Limiter] puts a failure mode before a store. When the store cannot answer, every check passes ([FailOpen]), none
// does ([FailClosed]), or the same policy is kept in process memory ([FailMemory]). The failure is counted for each
// check, logged when it begins, once a minute while it lasts and when it ends, and shown by [Limiter.Health].
//
// # Units
//
// Instants are ticks of one microsecond, cut toward minus infinity. Waits are exact to a tick: one tick less and the
// same check would be refused again; only Concurrency, which cannot know, always says a second. An instant before the
// newest that a state knows is judged at that newest one, and beyond the time in which a full state recovers the state is
// forgotten, so that a clock which once ran far ahead locks nobody out.
package ratelimit
