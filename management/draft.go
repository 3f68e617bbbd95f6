package management

import (
	"encoding/json"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// draftDocument is a mock that a recorded exchange suggests, in the order in which a person writes one.
type draftDocument struct {
	Name     string        `json:"name"`
	Request  draftRequest  `json:"request"`
	Response draftResponse `json:"response"`
}

type draftRequest struct {
	Method string `json:"method"`
	Path   string `json:"path"`
}

type draftResponse struct {
	Status  int                 `json:"status"`
	Headers map[string][]string `json:"headers,omitempty"`
	JSON    json.RawMessage     `json:"json,omitempty"`
	Text    *string             `json:"text,omitempty"`
	Base64  []byte              `json:"base64,omitempty"`
}

// draftMock suggests a mock for what was recorded, and saves nothing (M-178). from says whether the answer is the recorded
// one; without it, it is where something else than this server's own mocks gave it.
func (s *Server) draftMock(c *call) error {
	x, err := s.exchange(c)
	if err != nil {
		return err
	}
	from := ""
	if c.Request().ContentLength != 0 {
		err = c.object(typeJSON, func(f *mockbase.Fields) {
			if f.Text("from", &from) && from != "request" && from != "response" {
				f.Fault("from", mockbase.FieldEnum, "is request or response")
			}
		})
		if err != nil {
			return err
		}
	}
	document := encode(draftOf(c.hide(x), from))
	if _, err := mockbase.DecodeMock(document, mockbase.FormatJSON); err != nil {
		return err
	}
	c.bytes(http.StatusOK, typeJSON, document)
	return nil
}

func draftOf(x *mockbase.Exchange, from string) *draftDocument {
	d := &draftDocument{
		Request:  draftRequest{Method: x.Request.Method, Path: draftPath(x.Request.Path)},
		Response: draftResponse{Status: http.StatusOK},
	}
	d.Name = mockbase.DefaultMockName(d.Request.Method, d.Request.Path)
	if from == "response" || from == "" && slices.Contains([]mockbase.AnsweredBy{mockbase.AnsweredByProxy, mockbase.AnsweredByDocument}, x.AnsweredBy) {
		d.Response.take(&x.Response)
	}
	return d
}

// ids are path segments that name one thing of many: numbers, UUIDs, ULIDs and long hexadecimal texts.
func ids() *regexp.Regexp {
	return regexp.MustCompile(`^(\d+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|([a-z]+_)?[0-9A-HJKMNP-TV-Z]{26}|[0-9a-fA-F]{16,})$`)
}

// draftPath turns ids into parameters. So does it with what has a meaning in a path of the mock format.
func draftPath(path string) string {
	known := ids()
	segments := strings.Split(path, "/")
	n := 0
	for i, segment := range segments {
		if !known.MatchString(segment) && plainSegment(segment) {
			continue
		}
		n++
		segments[i] = "{id}"
		if n > 1 {
			segments[i] = "{id" + strconv.Itoa(n) + "}"
		}
	}
	if drafted := strings.Join(segments, "/"); strings.HasPrefix(drafted, "/") {
		return drafted
	}
	return "/"
}

// plainSegment tells whether a segment stands for itself in a path of the mock format.
func plainSegment(segment string) bool {
	if segment == "" {
		return true
	}
	p, err := mockbase.ParsePath("/" + segment)
	if err != nil || len(p.Segments) != 1 {
		return false
	}
	return p.Segments[0].Kind == mockbase.SegmentLiteral
}

// take takes over a recorded answer, but for what the server adds by itself, and for what was masked or cut.
func (d *draftResponse) take(r *mockbase.RecordedResponse) {
	if r.Status >= http.StatusOK {
		d.Status = r.Status
	}
	for name, lines := range r.Header {
		if !ownsHeader(name) && len(lines) > 0 {
			if d.Headers == nil {
				d.Headers = map[string][]string{}
			}
			d.Headers[name] = lines
		}
	}
	switch {
	case len(r.Body) == 0 || r.Truncated:
	case json.Valid(r.Body) && strings.Contains(r.Header.Get("Content-Type"), "json"):
		d.JSON = r.Body
	case utf8.Valid(r.Body):
		text := string(r.Body)
		d.Text = &text
	default:
		d.Base64 = r.Body
	}
}

// ownsHeader tells whether the server adds a header by itself, or it belongs to one connection or one client.
func ownsHeader(name string) bool {
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	return strings.HasPrefix(canonical, "Mockbase-") || strings.HasPrefix(canonical, "Access-Control-") ||
		slices.Contains([]string{
			"Date", "Content-Length", "Connection", "Keep-Alive", "Transfer-Encoding", "Set-Cookie", "Authorization", "Proxy-Authenticate",
			"Trailer", "Upgrade", "Alt-Svc", "Strict-Transport-Security",
		}, canonical)
}
