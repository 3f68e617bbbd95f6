package management

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// variableRoutes are those of variables. The parameters of lists are list.
func variableRoutes(list []string) []route {
	const variables = apiPrefix + "/projects/{project}/variables"
	return []route{
		{id: "M-195", method: http.MethodGet, path: variables, access: accessViewer, scope: scopeMocksRead, operation: "listVariables", handle: (*Server).listVariables, query: list},
		{id: "M-196", method: http.MethodPut, path: variables + "/{variable}", access: accessEditor, scope: scopeMocksWrite, operation: "setVariable", handle: (*Server).setVariable, versioned: true},
		{id: "M-197", method: http.MethodDelete, path: variables + "/{variable}", access: accessEditor, scope: scopeMocksWrite, operation: "deleteVariable", handle: (*Server).deleteVariable, versioned: true},
	}
}

// variableView is a variable as the API shows one (M-195).
type variableView struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	Secret  bool            `json:"secret"`
	Version int64           `json:"version"`
	Source  *string         `json:"source"`
}

func viewOfVariable(p *mockbase.Project, v *mockbase.Variable) variableView {
	note := p.NoteOf(v.Name)
	view := variableView{Name: v.Name, Value: v.Value, Secret: note.Secret, Version: note.Version, Source: maybeText(p.Owners["variables/"+v.Name])}
	if note.Secret {
		view.Value = encode(catalog.Mask)
	}
	return view
}

// listVariables lists the variables of a project; the values of secrets are masked (M-195).
func (*Server) listVariables(c *call) error {
	p := c.project.Project
	return listNamed(c, p.Config.Variables, func(v *mockbase.Variable) string { return v.Name },
		func(v *mockbase.Variable) variableView { return viewOfVariable(p, v) })
}

// variableOf finds a variable of a project, nil when there is none.
func variableOf(p *mockbase.Project, name string) *mockbase.Variable {
	for i := range p.Config.Variables {
		if v := &p.Config.Variables[i]; v.Name == name {
			return v
		}
	}
	return nil
}

// variableMatch compares If-Match with the version of a variable.
func (c *call) variableMatch(name string) (catalog.Match, error) {
	if variableOf(c.project.Project, name) == nil {
		return catalog.Match{}, nil
	}
	return c.ifMatch(c.project.Project.NoteOf(name).Version)
}

// setVariable makes a variable or changes one (M-196).
func (s *Server) setVariable(c *call) error {
	name, err := pathParam(c, "variable")
	if err != nil {
		return err
	}
	match, err := c.variableMatch(name)
	if err != nil {
		return err
	}
	v := catalog.VariableChange{Name: name, Match: match, OnlyNew: readCondition(c, "If-None-Match").any}
	err = c.object(typeJSON, func(f *mockbase.Fields) {
		readVariable(f, &v)
		if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name) {
			f.FaultHere(mockbase.FieldPattern, "%s is no variable name: use letters, digits and _, without a digit in front", shown(name))
		}
	})
	if err != nil {
		return err
	}
	made, err := s.Catalog.SetVariable(c.ctx(), c.project.Project.ID, v)
	if err != nil {
		return err
	}
	return s.answerVariable(c, name, made)
}

func readVariable(f *mockbase.Fields, v *catalog.VariableChange) {
	if value := f.Node("value"); value != nil {
		if !scalar(value) {
			f.Fault("value", mockbase.FieldType, "must be a text, a number or a boolean")
		}
		v.Value = value.JSON()
	}
	var secret bool
	if f.Bool("secret", &secret) {
		v.Secret = &secret
	}
	f.Required("value")
	f.ReadOnly("name", "version", "source")
}

func (s *Server) answerVariable(c *call, name string, made bool) error {
	fresh, ok := s.Catalog.Project(c.project.Project.ID)
	if !ok {
		return noSuchProject()
	}
	v := variableOf(fresh.Project, name)
	if v == nil {
		return mockbase.Errorf(mockbase.CodeNotFound, "the variable %s was deleted meanwhile", shown(name))
	}
	view := viewOfVariable(fresh.Project, v)
	return c.written(made, view.Version, view)
}

// deleteVariable deletes a variable that no template names (M-197).
func (s *Server) deleteVariable(c *call) error {
	name, err := pathParam(c, "variable")
	if err != nil {
		return err
	}
	match, err := c.variableMatch(name)
	if err != nil {
		return err
	}
	if err := s.Catalog.DeleteVariable(c.ctx(), c.project.Project.ID, name, match); err != nil {
		return err
	}
	return c.nothing()
}

// withoutSecrets is a project as a definition shows it: a document that is written down holds no secrets. What it leaves out
// stays as it is when the document is applied.
func withoutSecrets(p *mockbase.Project) *mockbase.Project {
	root := &mockbase.Node{Kind: mockbase.NodeObject}
	for _, v := range p.Config.Variables {
		if p.NoteOf(v.Name).Secret {
			continue
		}
		if n, err := stored(v.Value); err == nil {
			root.Members = append(root.Members, mockbase.Member{Key: v.Name, Value: n})
		}
	}
	if len(root.Members) == len(p.Config.Variables) {
		return p
	}
	shown := *p
	shown.Config.Source = maps.Clone(p.Config.Source)
	delete(shown.Config.Source, "variables")
	if len(root.Members) > 0 {
		shown.Config.Source["variables"] = root.JSON()
	}
	return &shown
}
