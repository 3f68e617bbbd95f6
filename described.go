package mockbase

import (
	"math/rand/v2"
	"net/http"
)

// DocumentRequest is a request as an OpenAPI document reads it (group W). Everything is as it was sent, but for the body,
// whose content codings are undone.
type DocumentRequest struct {
	Method string
	// Path is the raw path below the project's base path; RawQuery is what follows the question mark.
	Path, RawQuery string
	// URL is that of the request, as its client sees it.
	URL    string
	Header http.Header
	Body   []byte
	// Preferred is what the request asks of the answer, already read from Mockbase-Prefer and Prefer (rule AA24).
	Preferred Preferred
	// Controls lets query parameters such as __code stand for preferences where there are none (rules W11 and W23).
	Controls bool
	// Rand returns the generator of dynamic values for one response, named by status and media type (rule W45). seed is the
	// preferred one, which leaves the number of the call out, or "". It may be
	// called again and begins anew each time.
	Rand func(response, seed string) *rand.Rand
	// ID names the exchange in problems.
	ID func() string
	// Pages is the path that stands before the pages of problems, "" for none.
	Pages string
}

// Preferred are preferences as OpenAPI documents know them (rule W23). The zero value prefers nothing.
type Preferred struct {
	// Code is a status, 0 for none.
	Code    int
	Example string
	// Dynamic is "", "true" or "false".
	Dynamic string
	Seed    string
}

// PreferenceRange says what the preference of a name can be, "" for a name that is none.
func PreferenceRange(name string) string {
	switch name {
	case "code":
		return "a status from 100 to 999"
	case "example":
		return "the name of an example"
	case "dynamic":
		return "true or false"
	case "seed":
		return "a text of 1 to 256 bytes"
	case "wait":
		return "a number of seconds from 0 to 300"
	default:
		return ""
	}
}

// Any tells whether something is preferred.
func (p *Preferred) Any() bool { return *p != Preferred{} }

// DocumentAnswer is what an OpenAPI document answers.
type DocumentAnswer struct {
	Status int
	// Header are the declared headers; the media type is apart.
	Header    []Header
	MediaType string
	Body      []byte
	// Applied is what of the preferences was honoured.
	Applied Preferred
	// Violations are the request's, also where they only count as warnings.
	Violations []Violation
	// Problem names the generated problem that was answered, "" for an answer of the document's own.
	Problem Code
}

// DocumentCallback is a call that an OpenAPI document makes once its answer is sent (rule S8).
type DocumentCallback struct {
	// Name is that of the callback in the document.
	Name, Method, URL string
	// MediaType is that of the body, "" without one.
	MediaType string
	Body      []byte
	// Missed says why there is no call; it is "" where there is one.
	Missed string
}

// Violation is one difference between a message and the OpenAPI document that describes it (rule W30).
type Violation struct {
	// Location begins with path, query, header, cookie, body, security or response: "body.items.0.name".
	Location string `json:"location"`
	// Pointer is the place within a body as a JSON Pointer (RFC 6901), "/items/0/name"; "" is the whole body, or no body at all.
	Pointer string `json:"pointer,omitempty"`
	// Code is the JSON Schema keyword, or one of missing, unknown, coercion, parse, mediaType and security.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Severity is "error", or "warning" where it does not decide the answer.
	Severity string `json:"severity"`
}

// The severities of a [Violation].
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)
