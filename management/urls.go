package management

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mockbase/mockbase"
)

// urls are where mocks answer.
type urls struct {
	Path string `json:"path"`
	// Host and Port are addresses of the project's own, where it has them.
	Host string `json:"host,omitempty"`
	Port string `json:"port,omitempty"`
}

// urlsOf are the addresses of what lies at a path of a project.
func (s *Server) urlsOf(r *http.Request, slug, path string) urls {
	u := urls{Path: s.mocksURL(r, slug) + path}
	if s.OwnURLs == nil {
		return u
	}
	host, port := s.OwnURLs(slug)
	if host != "" {
		u.Host = host + path
	}
	if port != "" {
		u.Port = port + path
	}
	return u
}

// pathURL writes the path of a mock as it stands in a URL: literal text percent-encoded, and between the slashes the
// parameters, which are for the caller to fill in, as {name} without their patterns. It is "" for a mock that has no path of
// its own, such as one that matches paths by a pattern.
func pathURL(path string) string {
	pattern, err := mockbase.ParsePath(path)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, segment := range pattern.Segments {
		b.WriteByte('/')
		for _, part := range segment.Parts {
			b.WriteString(partURL(segment.Kind, part))
		}
	}
	return b.String()
}

func partURL(kind mockbase.SegmentKind, part mockbase.PathPart) string {
	switch {
	case kind == mockbase.SegmentAny:
		return "*"
	case kind == mockbase.SegmentRest && part.Name == "":
		return "**"
	case kind == mockbase.SegmentRest:
		return "{" + part.Name + "...}"
	case part.Name != "":
		return "{" + part.Name + "}"
	default:
		return url.PathEscape(part.Literal)
	}
}
