package management

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"

	"github.com/mockbase/mockbase"
)

//go:embed problem.html
var problemSource string

//go:embed problem.css
var problemStyle string

// problemPages shows the pages at /docs/problems.
type problemPages struct {
	source *template.Template
	// policy lets a page use its own style and nothing else, not even from here (rule M-18).
	policy string
	all    []mockbase.ProblemPage
}

// problemView is what the template is given. Problem is nil on the page of all codes.
type problemView struct {
	Style    template.CSS
	Problem  *mockbase.ProblemPage
	Problems []mockbase.ProblemPage
}

func newProblemPages() (*problemPages, error) {
	source, err := template.New("problem").Parse(problemSource)
	if err != nil {
		return nil, defect("parse problem page", err)
	}
	digest := sha256.Sum256([]byte(problemStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return &problemPages{source: source, policy: policy, all: mockbase.Problems()}, nil
}

// show answers with a page of one code, or with that of all codes.
func (p *problemPages) show(c *call, one *mockbase.ProblemPage) error {
	v := problemView{Style: template.CSS(problemStyle), Problem: one} //nolint:gosec // the style is ours
	if one == nil {
		v.Problems = p.all
	}
	var page bytes.Buffer
	if err := p.source.Execute(&page, v); err != nil {
		return defect("render problem page", err)
	}
	c.header().Set("Content-Security-Policy", p.policy)
	c.bytes(http.StatusOK, typeHTML+"; charset=utf-8", page.Bytes())
	return nil
}

// problemList shows all codes (M-246).
func (s *Server) problemList(c *call) error {
	pages, err := s.documents.problemPages()
	if err != nil {
		return err
	}
	return pages.show(c, nil)
}

// problemPage explains one code: where the type of a problem leads, also without a network (M-246, rule M-5).
func (s *Server) problemPage(c *call) error {
	code, err := pathParam(c, "code")
	if err != nil {
		return err
	}
	pages, err := s.documents.problemPages()
	if err != nil {
		return err
	}
	for i := range pages.all {
		if string(pages.all[i].Code) == code {
			return pages.show(c, &pages.all[i])
		}
	}
	return &mockbase.Error{Code: mockbase.CodeNotFound, Message: "there is no problem code " + shown(code), Hint: "/docs/problems lists them"}
}
