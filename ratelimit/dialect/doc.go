// Package dialect tells clients of a limit: the header fields in the ways that are in use, Retry-After, and the problem
// document of a refusal.
//
// It decides nothing. A [Writer] is made once from [Options] and writes the fields of one [Answer] after another; the
// decision in it may come from a limiter, or be made up by whoever refuses without one. Shields and simulated limits share
// it, so that they cannot differ in a name or a rounding.
//
// # Rounding
//
// Waits are rounded up to the unit that is told, and instants to the end of it: a client that waits as long as it is told
// finds the limit as promised. Waits that nobody can promise are left out.
//
// # Names
//
// Names are assigned to the header map as they are written in [Dialect] and [Field], since [net/http.Header.Set] would
// write "Ratelimit". Fields that are set already are kept.
package dialect
