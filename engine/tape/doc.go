// Package tape turns what passed through a proxy into mocks that answer the same (rules T15 to T20).
//
// # From exchange to mock
//
// [Add] is a pure function: from an [Exchange], and the mock that was recorded of the same request before, it makes the
// mock that also gives this answer. [Name] tells which mock that is. Neither depends on the time or on chance, so that
// recording again gives the same documents.
//
// # Recording
//
// A [Recorder] takes exchanges from the path of requests through a bounded queue, and hands them to a [Keeper] one after
// the other.
package tape
