package management

import (
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// The shape of HTTP Archive 1.2, which browsers and other tools read. Members of our own begin with an underscore.
type harFile struct {
	Log harLog `json:"log"`
}

type harLog struct {
	Version string     `json:"version"`
	Creator harCreator `json:"creator"`
	Entries []harEntry `json:"entries"`
}

type harCreator struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type harEntry struct {
	StartedDateTime string      `json:"startedDateTime"`
	Time            float64     `json:"time"`
	Request         harRequest  `json:"request"`
	Response        harResponse `json:"response"`
	Cache           struct{}    `json:"cache"`
	Timings         harTimings  `json:"timings"`
	ID              string      `json:"_id"`             //nolint:tagliatelle // the format has it so
	AnsweredBy      string      `json:"_answeredBy"`     //nolint:tagliatelle // the format has it so
	Mock            string      `json:"_mock,omitempty"` //nolint:tagliatelle // the format has it so
}

type harRequest struct {
	Method      string    `json:"method"`
	URL         string    `json:"url"`
	HTTPVersion string    `json:"httpVersion"`
	Cookies     []harPair `json:"cookies"`
	Headers     []harPair `json:"headers"`
	QueryString []harPair `json:"queryString"`
	PostData    *harPost  `json:"postData,omitempty"`
	HeadersSize int64     `json:"headersSize"`
	BodySize    int64     `json:"bodySize"`
}

type harResponse struct {
	Status      int        `json:"status"`
	StatusText  string     `json:"statusText"`
	HTTPVersion string     `json:"httpVersion"`
	Cookies     []harPair  `json:"cookies"`
	Headers     []harPair  `json:"headers"`
	Content     harContent `json:"content"`
	RedirectURL string     `json:"redirectURL"` //nolint:tagliatelle // the format has it so
	HeadersSize int64      `json:"headersSize"`
	BodySize    int64      `json:"bodySize"`
}

type harPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type harPost struct {
	MimeType string `json:"mimeType"`
	Text     string `json:"text"`
	// Encoding is base64 for what is no text; the format knows none for requests.
	Encoding string `json:"_encoding,omitempty"` //nolint:tagliatelle // the format has it so
	harCut
}

// harCut tells of a body of which the first bytes alone were recorded.
type harCut struct {
	Truncated bool   `json:"_truncated,omitempty"` //nolint:tagliatelle // the format has it so
	Comment   string `json:"comment,omitempty"`
}

type harContent struct {
	Size     int64  `json:"size"`
	MimeType string `json:"mimeType"`
	Text     string `json:"text,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	harCut
}

type harTimings struct {
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}

// unknownSize is what the format says of a size that is not known.
const unknownSize = -1

// everything is every recorded exchange of the project that a filter selects, the newest first.
func (s *Server) everything(c *call, f mockbase.TrafficFilter) []*mockbase.Exchange {
	return s.Traffic.Traffic(c.project.Project.ID, f, "", math.MaxInt).Items
}

// answerHAR answers with recorded exchanges as an HTTP Archive, in the order of time (M-163).
func (s *Server) answerHAR(c *call, f mockbase.TrafficFilter) error {
	all := s.everything(c, f)
	file := harFile{Log: harLog{Version: "1.2", Creator: harCreator{Name: "MockBase", Version: s.Build.Version}, Entries: []harEntry{}}}
	for _, x := range slices.Backward(all) {
		file.Log.Entries = append(file.Log.Entries, harOf(c.masked(x)))
	}
	c.header().Set("Content-Disposition", `attachment; filename="`+c.project.Project.Slug+`.har"`)
	return c.json(http.StatusOK, file)
}

// answerLines answers with recorded exchanges as lines of JSON, each as M-176 shows it, the newest first.
func (s *Server) answerLines(c *call, f mockbase.TrafficFilter) error {
	var lines strings.Builder
	for _, x := range s.everything(c, f) {
		lines.Write(encode(exchangeDetail(c.masked(x))))
	}
	c.bytes(http.StatusOK, typeLines, []byte(lines.String()))
	return nil
}

func harOf(x *mockbase.Exchange) harEntry {
	e := harEntry{
		StartedDateTime: timeText(x.At), Time: milliseconds(x.Duration), Timings: harTimings{Wait: milliseconds(x.Duration)},
		ID: x.ID, AnsweredBy: string(x.AnsweredBy), Mock: x.Mock.Name,
		Request: harRequest{
			Method: x.Request.Method, URL: harURL(&x.Request), HTTPVersion: x.Request.Proto, Cookies: []harPair{},
			Headers: harPairs(x.Request.Header), QueryString: []harPair{}, HeadersSize: unknownSize, BodySize: x.Request.BodySize,
		},
		Response: harResponse{
			Status: x.Response.Status, StatusText: http.StatusText(x.Response.Status), HTTPVersion: x.Request.Proto, Cookies: []harPair{},
			Headers: harPairs(x.Response.Header), RedirectURL: x.Response.Header.Get("Location"), HeadersSize: unknownSize, BodySize: x.Response.BodySize,
			Content: harContent{Size: x.Response.BodySize, MimeType: x.Response.Header.Get("Content-Type")},
		},
	}
	for part := range strings.SplitSeq(x.Request.RawQuery, "&") {
		if name, value, _ := strings.Cut(part, "="); part != "" {
			e.Request.QueryString = append(e.Request.QueryString, harPair{Name: decodedQuery(name), Value: decodedQuery(value)})
		}
	}
	if len(x.Request.Body) > 0 {
		text, encoding := harText(x.Request.Body)
		e.Request.PostData = &harPost{MimeType: x.Request.Header.Get("Content-Type"), Text: text, Encoding: encoding}
		if x.Request.Truncated {
			e.Request.PostData.harCut = cutTo(len(x.Request.Body), x.Request.BodySize)
		}
	}
	e.Response.Content.Text, e.Response.Content.Encoding = harText(x.Response.Body)
	if x.Response.Truncated {
		e.Response.Content.harCut = cutTo(len(x.Response.Body), x.Response.BodySize)
	}
	return e
}

// cutTo says how many bytes of a body there are.
func cutTo(kept int, size int64) harCut {
	return harCut{Truncated: true, Comment: fmt.Sprintf("the first %d of %d bytes were recorded", kept, size)}
}

// decodedQuery is a part of a query decoded, itself if it cannot be.
func decodedQuery(raw string) string {
	if decoded, err := url.QueryUnescape(raw); err == nil {
		return decoded
	}
	return raw
}

// harURL is the address that was asked. What was not recorded of it, the scheme, is taken to be http.
func harURL(r *mockbase.RecordedRequest) string {
	if !strings.HasPrefix(r.Target, "/") {
		return r.Target
	}
	return "http://" + r.Host + r.Target
}

func harText(body []byte) (text, encoding string) {
	if utf8.Valid(body) {
		return string(body), ""
	}
	return base64.StdEncoding.EncodeToString(body), "base64"
}

func harPairs(h http.Header) []harPair {
	list := []harPair{}
	for _, pair := range headerPairs(h) {
		list = append(list, harPair{Name: pair[0], Value: pair[1]})
	}
	return list
}
