// Package sse plays scripts of server-sent events, and keeps the streams that are open.
//
// A [Script] is compiled once. [Hub.Play] writes it to one client until it ends, the client leaves or the server stops
// (rules U1 to U6). The hub bounds and lists the open streams and passes broadcasts on to them; a client that reads too
// slowly loses its stream and never holds up the others.
package sse
