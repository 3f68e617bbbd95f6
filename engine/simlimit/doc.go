// Package simlimit keeps the simulated limits of mocks: what lets the authors of clients test how those behave when an API
// limits them (group X of the rules).
//
// A [Limit] is a compiled policy, a [Keeper] is where all buckets of the server are kept, and a [Space] holds those of one
// session. [Space.Ask] decides about one request under all limits of its mock; [Ruling.Settle] notes what became of it and
// [Ruling.Release] gives back its places. Everything here is about numbers: which key a request has, what it costs and how it
// is answered is for the caller to say.
//
// # Two limiters
//
// Limits of the shield protect the server, belong to its operator and run on the wall clock. These belong to the author of
// a mock and run on the clock of a session. They share the algorithms and nothing else: no store, no key, no counter.
//
// # Stores
//
// Buckets live in process memory, a store for each session, or in a store that several processes share. When that fails
// they go on in memory, which is counted, logged and shown (rule X12). Bans, and what the management API tells of keys, are
// always in memory and bounded.
package simlimit
