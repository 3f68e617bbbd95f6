// Package collection serves working create, read, update and delete over sample data (group V).
//
// # Definitions and data
//
// A [Set] is the collections of one project, compiled. It is immutable. A [Data] is what one session has made of the
// sample data: it shares the seeds until its first write to a collection, and from then on keeps items of its own
// (rule V16). A write is atomic and a read sees one state, of every collection together (rule V15).
//
// # Requests
//
// [Set.Find] tells which [Resource] a path names, and [Data.Serve] answers a request to it. The package knows nothing of
// HTTP connections: routing, limits, delays and recording are the engine's.
package collection
