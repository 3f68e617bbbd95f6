// Package ratelimit decides, from a policy, a state and a time, whether an action may proceed.
//
// # Policies
//
// A [Policy] is an algorithm and its numbers: so many units per window. It says nothing of where it applies; a [Key] does
// that. The zero Policy means no limit. Served today is the fixed window in both alignments: windows on the clock, which
// many processes can share without speaking to each other, and windows that the first request opens. Policies are
// written as rule strings such as "120/minute" ([ParseRules]) and checked by [Policy.Validate]; an algorithm that is
// known and not served yet is refused there and never replaced by another one.
//
// # Decisions
//
// [Step] is the specification of every algorithm as a pure function: it has no clock, shares no memory and never
// panics. A [Store] keeps the states and gives the decisions of Step bit for bit: package memstore in process memory,
// package redisstore in Redis. A fixed window on the clock admits at most the limit in each window, and therefore up to
// twice the limit around a boundary.
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
// same check would be refused again.
package ratelimit
