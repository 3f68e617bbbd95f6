package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// failure is a request that is refused before any mock is asked.
type failure struct {
	status int
	code   mockbase.Code
	title  string
	detail string
	// close ends the connection, as the rest of the request is not read.
	close bool
	// own tells that a mock did answer, and its answer failed.
	own bool
	// template tells what of a template failed.
	template *failedTemplate
	// header holds what the answer must carry.
	header http.Header
	// challenge is the WWW-Authenticate header of a 401.
	challenge string
}

func targetTooLong(limit int64) *failure {
	return &failure{
		status: http.StatusRequestURITooLong, code: mockbase.CodeTargetTooLong, title: "Request target too long",
		detail: fmt.Sprintf("The request target is longer than %d bytes.", limit),
	}
}

func noProject(slug string) *failure {
	return &failure{
		status: http.StatusNotFound, code: mockbase.CodeNoProject, title: "No such project",
		detail: fmt.Sprintf("There is no project %s here.", quoted(slug)),
	}
}

func tokenNeeded() *failure {
	return &failure{
		status: http.StatusUnauthorized, code: mockbase.CodeUnauthenticated, title: "Token needed",
		challenge: `Mockbase-Token realm="mocks"`,
		detail:    "The mocks of this project answer only with a valid Mockbase-Token.",
	}
}

func noServiceWorker() *failure {
	return &failure{
		status: http.StatusForbidden, code: mockbase.CodeForbidden, title: "No service workers",
		detail: "A service worker of a mock would act for the dashboard, which has the same origin.",
	}
}

func brokenPath(err error) *failure {
	return &failure{
		status: http.StatusBadRequest, code: mockbase.CodeBadRequest, title: "Bad request",
		detail: "The path cannot be decoded: " + err.Error() + ".",
	}
}

// bodyIsLonger begins what is said of a body that was not read to its end.
const bodyIsLonger = "The request body is longer than "

func bodyTooLarge(limit int64) *failure {
	return &failure{
		status: http.StatusRequestEntityTooLarge, code: mockbase.CodeBodyTooLarge, title: "Body too large", close: true,
		detail: fmt.Sprintf(bodyIsLonger+"%d bytes.", limit),
	}
}

func bodyExpands(limit int64) *failure {
	return &failure{
		status: http.StatusRequestEntityTooLarge, code: mockbase.CodeBodyTooLarge, title: "Body too large",
		detail: fmt.Sprintf("The request body grows too large when it is decoded: at most to %d bytes, and to a hundred times "+
			"its length past a MiB.", limit),
	}
}

// tooCostly refuses a request that the conditions of mocks take too long to test.
func tooCostly(most time.Duration) *failure {
	return &failure{
		status: http.StatusRequestEntityTooLarge, code: mockbase.CodeBodyTooLarge, title: "Body too large",
		detail: fmt.Sprintf("Testing the conditions of this path's mocks with the request takes more than %s of processor time.", most),
	}
}

func tooManyParts() *failure {
	return &failure{
		status: http.StatusRequestEntityTooLarge, code: mockbase.CodeBodyTooLarge, title: "Body too large",
		detail: "The multipart body has more than 1,000 parts.",
	}
}

func slowBody() *failure {
	return &failure{
		status: http.StatusRequestTimeout, code: mockbase.CodeBodyTooSlow, title: "Body too slow", close: true,
		detail: "The request body did not arrive in time.",
	}
}

func brokenBody(err error) *failure {
	return &failure{
		status: http.StatusBadRequest, code: mockbase.CodeBadRequest, title: "Bad request", close: true,
		detail: "The request body cannot be read: " + err.Error() + ".",
	}
}

// problem is an RFC 9457 answer of the mock plane.
type problem struct {
	Type     string        `json:"type"`
	Title    string        `json:"title"`
	Status   int           `json:"status"`
	Detail   string        `json:"detail"`
	Instance string        `json:"instance"`
	Code     mockbase.Code `json:"code"`
	// RequestID is there where nobody knows yet whether the request is one to a mock.
	RequestID string `json:"requestId,omitempty"`
	// Errors are the members of the body that are wrong.
	Errors []mockbase.FieldError `json:"errors,omitempty"`
	*diagnosis
	*failedTemplate
}

func problemType(code mockbase.Code) string { return "/docs/problems/" + string(code) }

// problemType is the address of the page about a code, behind the server's base path.
func (e *Engine) problemType(code mockbase.Code) string { return e.pages() + problemType(code) }

// pages is the path that stands before the pages of problems.
func (e *Engine) pages() string {
	base, _ := strings.CutSuffix(e.options.BasePath, DefaultBasePath)
	return base
}

// refuse answers with a failure.
func (c *call) refuse(f *failure) {
	if !f.own {
		c.outcome.by = mockbase.AnsweredByError
	}
	c.outcome.failure = f.detail
	h := http.Header{}
	maps.Copy(h, f.header)
	if f.close {
		h[headerConnection] = []string{"close"}
	}
	if f.challenge != "" {
		h["WWW-Authenticate"] = []string{f.challenge}
	}
	c.reply(f.status, h, encodeProblem(&problem{
		Type: c.engine.problemType(f.code), Title: f.title, Status: f.status, Detail: f.detail, Instance: c.id(), Code: f.code,
		failedTemplate: f.template,
	}))
	if f.close {
		c.drain()
	}
}

func encodeProblem(p *problem) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p); err != nil {
		// Only texts and numbers are encoded, so this is not reached.
		return []byte("{}\n")
	}
	return b.Bytes()
}

// reply sends an answer that no mock gave. The header may be empty; it is completed. A body is a problem.
func (c *call) reply(status int, h http.Header, body []byte) {
	s := c.program.settings
	if len(body) > 0 {
		if h[headerContentType] == nil {
			h[headerContentType] = []string{"application/problem+json"}
		}
		h["Cache-Control"] = []string{"no-store"}
		h[headerContentLength] = []string{strconv.Itoa(len(body))}
	}
	decision := decisionNone
	if c.outcome.route != nil && (c.outcome.by == c.outcome.route.by || c.outcome.by == mockbase.AnsweredBySimulatedLimit) {
		decision = c.outcome.route.mock.Name
	}
	if decision = s.decision(decision); decision != "" {
		h[headerDecision] = []string{decision}
	}
	sent := c.w.Header()
	maps.Copy(sent, h)
	s.origins.decorate(sent, c.allowed)
	c.send(sent, &answer{status: status, body: body})
}

// quoted shows a text in a message: short, and without bytes that a reader could not see.
func quoted(s string) string {
	return strconv.Quote(printable(s))
}

// maxShown is how many bytes of a value an answer shows.
const maxShown = 256

// printable shortens a text and writes what is not UTF-8 percent-encoded, so that nothing is replaced (rule B7).
func printable(s string) string {
	cut := len(s) > maxShown
	if cut {
		end := maxShown
		for end > maxShown-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			// Rather a little less than half a character.
			end--
		}
		s = s[:end]
	}
	s = mockbase.Printable(s)
	if cut {
		s += "…"
	}
	return s
}
