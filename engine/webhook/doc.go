// Package webhook makes the calls that follow an answer: later, signed, again when they fail (rules S1 to S9).
//
// A [Queue] holds the calls that wait, bounded for each project. Each attempt is reported; errors affect nothing else.
package webhook
