// Package bench measures MockBase against a bare net/http handler that writes the same bytes.
//
// # How it measures
//
// Absolute figures say more about a machine than about a program, so every figure is a ratio to a floor: an http.Server
// with the same settings whose handler does nothing but write the answer. Floor and subject are processes of their own,
// each with its own heap, and take turns within one run; rounds that were disturbed show in the distance between the
// median and the best. Load comes from connections that are kept open, send prepared bytes and look only at the status
// and the length of what comes back, because a real client would cost more than the server.
//
// # How to run it
//
// `go run ./cmd/ratios` prints every ratio beside its target; `-strict` makes a missed target an error. The benchmarks
// of the package do the same work once each, in one process: they show that it runs, and where its time goes
// (-cpuprofile).
package bench
