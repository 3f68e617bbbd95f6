package body

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// operation is one operation of a document, with the fragments beside it.
type operation struct {
	definition *ast.OperationDefinition
	fragments  map[string]*ast.FragmentDefinition
	// text is the canonical form, once somebody asks.
	text string
}

// canonical writes an operation with the fragments that it uses so that two are equal whose texts mean the same: without
// blanks, commas, comments and descriptions that do not count, and with arguments, members of objects, variables and
// fragments by their names. The order of fields is that of the answer, and stays.
func (o *operation) canonical() string {
	if o.text != "" {
		return o.text
	}
	w := graphQLWriter{}
	w.operation(o.definition)
	used := o.used()
	names := make([]string, 0, len(used))
	for name, f := range used {
		if f != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		w.fragment(used[name])
	}
	o.text = w.String()
	return o.text
}

// used returns the fragments that the operation uses, each once; one that the document lacks is nil.
func (o *operation) used() map[string]*ast.FragmentDefinition {
	used := map[string]*ast.FragmentDefinition{}
	pending := []ast.SelectionSet{o.definition.SelectionSet}
	for len(pending) > 0 {
		set := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, selection := range set {
			switch s := selection.(type) {
			case *ast.Field:
				pending = append(pending, s.SelectionSet)
			case *ast.InlineFragment:
				pending = append(pending, s.SelectionSet)
			case *ast.FragmentSpread:
				if _, seen := used[s.Name]; seen {
					continue
				}
				f := o.fragments[s.Name]
				if used[s.Name] = f; f != nil {
					pending = append(pending, f.SelectionSet)
				}
			}
		}
	}
	return used
}

// lacking returns the name of a fragment that the operation uses and the document lacks, "" if there is none.
func (o *operation) lacking() string {
	var missing []string
	for name, f := range o.used() {
		if f == nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return slices.Min(missing)
}

// fields returns the names of the root fields in their order, those of fragments among them. An alias is no name.
func (o *operation) fields() []string {
	var names []string
	seen := map[string]bool{}
	var visit func(set ast.SelectionSet)
	visit = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch s := selection.(type) {
			case *ast.Field:
				names = append(names, s.Name)
			case *ast.InlineFragment:
				visit(s.SelectionSet)
			case *ast.FragmentSpread:
				if f := o.fragments[s.Name]; f != nil && !seen[s.Name] {
					seen[s.Name] = true
					visit(f.SelectionSet)
				}
			}
		}
	}
	visit(o.definition.SelectionSet)
	return names
}

// graphQLWriter writes canonical forms.
type graphQLWriter struct{ strings.Builder }

func (w *graphQLWriter) operation(o *ast.OperationDefinition) {
	w.WriteString(string(o.Operation))
	if o.Name != "" {
		w.WriteString(" " + o.Name)
	}
	w.variables(o.VariableDefinitions)
	w.directives(o.Directives)
	w.selections(o.SelectionSet)
}

func (w *graphQLWriter) fragment(f *ast.FragmentDefinition) {
	w.WriteString(" fragment " + f.Name)
	w.variables(f.VariableDefinition)
	w.WriteString(" on " + f.TypeCondition)
	w.directives(f.Directives)
	w.selections(f.SelectionSet)
}

func (w *graphQLWriter) selections(set ast.SelectionSet) {
	if len(set) == 0 {
		return
	}
	w.WriteString(" { ")
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			if s.Alias != s.Name {
				w.WriteString(s.Alias + ": ")
			}
			w.WriteString(s.Name)
			w.arguments(s.Arguments)
			w.directives(s.Directives)
			w.selections(s.SelectionSet)
		case *ast.InlineFragment:
			w.WriteString("...")
			if s.TypeCondition != "" {
				w.WriteString(" on " + s.TypeCondition)
			}
			w.directives(s.Directives)
			w.selections(s.SelectionSet)
		case *ast.FragmentSpread:
			w.WriteString("..." + s.Name)
			w.directives(s.Directives)
		}
		w.WriteByte(' ')
	}
	w.WriteByte('}')
}

func (w *graphQLWriter) variables(list ast.VariableDefinitionList) {
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b *ast.VariableDefinition) int {
		return strings.Compare(a.Variable, b.Variable)
	})
	for i, v := range sorted {
		w.begin(i, '(')
		w.WriteString("$" + v.Variable + ": " + v.Type.String())
		if v.DefaultValue != nil {
			w.WriteString(" = ")
			w.value(v.DefaultValue)
		}
		w.directives(v.Directives)
	}
	w.end(len(sorted), ')')
}

func (w *graphQLWriter) directives(list ast.DirectiveList) {
	for _, d := range list {
		w.WriteString(" @" + d.Name)
		w.arguments(d.Arguments)
	}
}

func (w *graphQLWriter) arguments(list ast.ArgumentList) {
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b *ast.Argument) int { return strings.Compare(a.Name, b.Name) })
	for i, a := range sorted {
		w.begin(i, '(')
		w.WriteString(a.Name + ": ")
		w.value(a.Value)
	}
	w.end(len(sorted), ')')
}

func (w *graphQLWriter) value(v *ast.Value) {
	switch v.Kind {
	case ast.ListValue:
		w.WriteByte('[')
		for i, child := range v.Children {
			if i > 0 {
				w.WriteString(", ")
			}
			w.value(child.Value)
		}
		w.WriteByte(']')
	case ast.ObjectValue:
		w.WriteByte('{')
		members := slices.SortedStableFunc(slices.Values(v.Children), func(a, b *ast.ChildValue) int { return strings.Compare(a.Name, b.Name) })
		for i, member := range members {
			if i > 0 {
				w.WriteString(", ")
			}
			w.WriteString(member.Name + ": ")
			w.value(member.Value)
		}
		w.WriteByte('}')
	default:
		w.WriteString(v.String())
	}
}

// begin writes what stands before an entry of a list that is left out when it is empty.
func (w *graphQLWriter) begin(i int, bracket byte) {
	if i == 0 {
		w.WriteByte(bracket)
		return
	}
	w.WriteString(", ")
}

func (w *graphQLWriter) end(entries int, bracket byte) {
	if entries > 0 {
		w.WriteByte(bracket)
	}
}
