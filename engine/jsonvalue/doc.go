// Package jsonvalue holds JSON as it was written and compares it exactly.
//
// # Values
//
// A [Value] keeps what other data models lose: the order and the repetition of members, the digits of numbers, and text
// that is no Unicode. Half of a surrogate pair is kept as the three bytes that UTF-8 would give its code point, and bytes
// that are not UTF-8 stay as they are, so that two different texts are never taken for the same one (rule G13).
//
// # Comparison
//
// [Equal] compares two values on the data model of JSON: blanks, the order of members and the spelling of escapes and
// numbers do not matter, and no number is rounded (rules G1 to G5). A [Pattern] is an expected document, compiled once,
// with the looser rules of a mock: extra members, array order, operators in place of values (rules G6 to G10 and G16).
package jsonvalue
