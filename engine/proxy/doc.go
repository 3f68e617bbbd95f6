// Package proxy passes a request on to an upstream and its answer back, changing as little as HTTP allows.
//
// # What changes
//
// The target is the base path of the upstream, then the raw path and query of the request, byte for byte (rule T1).
// Hop-by-hop headers end here, and so do the headers by which a client steers this server (rule T3). Everything else, body
// bytes and codings among it, passes unchanged in both directions, as it comes (rules T2, T7 and T11).
//
// # When it fails
//
// Before the answer has begun, [Forwarder.Forward] returns a *[UpstreamError] that holds the status to answer with, and nothing
// is written. Afterwards the answer can only be broken off, which [Result.Broken] asks the caller to do (rule T12).
package proxy
