package body

import (
	"unicode/utf8"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/operator"
)

// graphql compiles what a GraphQL request must be.
func (k *compiler) graphql() {
	g := k.match.GraphQL
	if g == nil {
		return
	}
	if g.Operation != "" {
		k.graphText("operation", mockbase.Match{{Equals: jsonvalue.NewString(g.Operation).Append(nil)}}, (*graphQL).operationTexts)
	}
	k.graphText("operationName", g.OperationName, (*graphQL).nameTexts)
	k.graphText("fields", g.Fields, (*graphQL).fieldTexts)
	if g.Query != nil {
		k.graphQuery(*g.Query)
	}
	for _, d := range []struct {
		key      string
		document []byte
	}{{"variables", g.Variables}, {"variablesExact", g.VariablesExact}} {
		k.document(jsonDocument{
			path: []string{"graphql", d.key}, label: "graphql " + d.key, document: d.document,
			isExact: d.key == "variablesExact", options: g.JSONOptions, of: (*Message).graphQLVariables,
		})
	}
}

// graphText compiles a match on texts of a GraphQL request.
func (k *compiler) graphText(key string, list mockbase.Match, of func(*graphQL) *texts) {
	if len(list) == 0 {
		return
	}
	match := operator.Texts(list, k.below("graphql", key), k.faults)
	values := func(m *Message) (*texts, error) {
		g, err := m.graphQL()
		if err != nil {
			return &texts{}, err
		}
		return of(g), nil
	}
	k.add(check{
		name: "graphql " + key, stated: cut(match.String()),
		holds: func(m *Message) bool {
			v, err := values(m)
			return err == nil && match.Holds(v)
		},
		explain: func(m *Message) mockbase.MissedPart {
			v, err := values(m)
			return missedTexts(match, v, err)
		},
	})
}

func (g *graphQL) nameTexts() *texts {
	if !g.named {
		return &texts{}
	}
	return &texts{List: []string{g.name}}
}

func (g *graphQL) operationTexts() *texts {
	if g.operation == nil {
		return &texts{}
	}
	return &texts{List: []string{string(g.operation.definition.Operation)}}
}

func (g *graphQL) fieldTexts() *texts {
	if g.operation == nil {
		return &texts{}
	}
	return &texts{List: g.operation.fields()}
}

func (m *Message) graphQLVariables() (*jsonvalue.Value, error) {
	g, err := m.graphQL()
	if err != nil {
		return nil, err
	}
	return g.variables, nil
}

// graphQuery compiles the operation that the request's must equal.
func (k *compiler) graphQuery(text string) {
	document, err := parseGraphQL(text)
	if err != nil {
		k.wrong(mockbase.FieldSyntax, err.Error(), "graphql", "query")
		return
	}
	if n := len(document.operations); n != 1 {
		k.wrong(mockbase.FieldSyntax, "must have one operation, found "+counted(n), "graphql", "query")
		return
	}
	expected := &operation{definition: document.operations[0], fragments: document.fragments}
	if name := expected.lacking(); name != "" {
		k.wrong(mockbase.FieldSyntax, "uses the fragment "+name+", which it does not define: add it to the text", "graphql", "query")
		return
	}
	want := expected.canonical()
	k.add(check{
		name: "graphql query", stated: cut(mockbase.MaskText(want)),
		holds: func(m *Message) bool {
			g, err := m.graphQL()
			return err == nil && g.operation != nil && g.operation.canonical() == want
		},
		explain: func(m *Message) mockbase.MissedPart {
			told := mockbase.MaskText(want)
			missed := mockbase.MissedPart{Operator: "equals", Expected: cut(told), Actual: notSent}
			g, err := m.graphQL()
			switch {
			case err != nil:
				missed.Actual = err.Error()
			case g.operation != nil:
				missed.Expected, missed.Actual = fromDifference(told, mockbase.MaskText(g.operation.canonical()))
			}
			return missed
		},
	})
}

func counted(n int) string {
	if n == 0 {
		return "none"
	}
	return "several"
}

// fromDifference shows two texts from a little before the place where they differ.
func fromDifference(expected, actual string) (string, string) {
	const before = 40
	at := 0
	for at < len(expected) && at < len(actual) && expected[at] == actual[at] {
		at++
	}
	if at <= 2*before {
		return cut(expected), cut(actual)
	}
	from := at - before
	for !utf8.RuneStart(expected[from]) {
		from--
	}
	return "…" + cut(expected[from:]), "…" + cut(actual[from:])
}
