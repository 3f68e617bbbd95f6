package management

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"

	"github.com/mockbase/mockbase"
)

//go:embed problem.html
var problemSource string

//go:embed problem.css
var problemStyle string

// problemPages are the pages at /docs/problems, made once.
type problemPages struct {
	// policy lets a page use its own style and nothing else, not even from here (rule M-18).
	policy string
	index  []byte
	byCode map[mockbase.Code][]byte
}

// problemView is what the template is given. Problem is nil on the page of all codes.
type problemView struct {
	Style    template.CSS
	Problem  *mockbase.ProblemPage
	Problems []mockbase.ProblemPage
}

func (p *problemPages) make() error {
	source, err := template.New("problem").Parse(problemSource)
	if err != nil {
		return fmt.Errorf("parse page: %w", err)
	}
	digest := sha256.Sum256([]byte(problemStyle))
	p.policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	style := template.CSS(problemStyle) //nolint:gosec // the style is ours
	all := mockbase.Problems()
	p.byCode = make(map[mockbase.Code][]byte, len(all))
	for i := range all {
		page, err := renderProblem(source, problemView{Style: style, Problem: &all[i]})
		if err != nil {
			return err
		}
		p.byCode[all[i].Code] = page
	}
	p.index, err = renderProblem(source, problemView{Style: style, Problems: all})
	return err
}

func renderProblem(source *template.Template, v problemView) ([]byte, error) {
	var page bytes.Buffer
	if err := source.Execute(&page, v); err != nil {
		return nil, fmt.Errorf("render page: %w", err)
	}
	return page.Bytes(), nil
}

// problemList shows all codes (M-246).
func (s *Server) problemList(c *call) error { return s.html(c, s.documents.problems.index) }

// problemPage explains one code: where the type of a problem leads, also without a network (M-246, rule M-5).
func (s *Server) problemPage(c *call) error {
	code, err := pathParam(c, "code")
	if err != nil {
		return err
	}
	page, ok := s.documents.problems.byCode[mockbase.Code(code)]
	if !ok {
		return &mockbase.Error{Code: mockbase.CodeNotFound, Message: "there is no problem code " + shown(code), Hint: "/docs/problems lists them"}
	}
	return s.html(c, page)
}

func (s *Server) html(c *call, page []byte) error {
	c.header().Set("Content-Security-Policy", s.documents.problems.policy)
	c.bytes(http.StatusOK, typeHTML+"; charset=utf-8", page)
	return nil
}
