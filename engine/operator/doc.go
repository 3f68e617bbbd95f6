// Package operator compiles the operators of a match and tests values with them.
//
// Operators stand in one object and must all hold (mock format, section 6, Operators). They are about the values of one
// name of a query or a header, which are texts ([Texts], [BodyTexts]), or about the nodes that a JSONPath selects
// ([Nodes]); one value suffices unless an operator says otherwise. For what was not sent, every operator is false but
// exists: false and the negation of what is false (rule K7).
package operator
