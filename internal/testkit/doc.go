// Package testkit gives tests real parts to run against: a redis-server child, a TCP proxy that fails on demand, golden
// files and HTTP helpers.
//
// # Rules
//
// Only tests import it. What it starts it also ends, through the test's Cleanup. A missing program is a failure that
// says what to install, never a skip.
package testkit
