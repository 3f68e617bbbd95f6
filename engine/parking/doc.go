// Package parking keeps connections on which nothing happens at little cost: before their first request, between requests,
// and while an answer is delayed.
//
// net/http holds two buffers and two goroutines for every connection from the moment that it is accepted, and keeps them
// while a handler waits. Ten thousand clients that wait for a second cost it a quarter of a gigabyte. A [Lot] stands between
// the listener and net/http: what it keeps of a connection is the connection itself and one small goroutine that waits for
// the next byte.
//
// # How a connection goes back and forth
//
// net/http accepts a connection from the lot when its first byte is there. After a while without a request the lot lets a
// read of net/http end as if the client had gone; net/http gives its buffers back and closes the connection, which is where
// the lot takes it. The next byte makes it a new connection to net/http.
//
// An answer that is delayed works the same: its handler calls [Park] and gives up, net/http closes the connection, and the
// lot reads from it to notice the client leaving. When the delay ends, net/http accepts the connection once more and reads a
// head that the lot made up, with the method and the version of the real one. Its handler writes the answer. So everything
// about the answer is still net/http's work: framing, keep-alive, time-outs, hijacking.
//
// Neither is done unless the lot knows that net/http has read nothing beyond the requests so far: it follows the framing of
// all that passes. That is also how it notices requests that state two lengths (rule N5).
package parking
