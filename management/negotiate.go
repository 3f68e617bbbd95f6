package management

import (
	"mime"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// negotiate chooses the media type of the answer. What a client does not accept at all is 406, right after the route was
// found (rule M-82).
func negotiate(c *call) error {
	offers := c.route.offers
	if len(offers) == 0 {
		offers = []string{typeJSON}
	}
	accepted := strings.Join(c.Request().Header.Values("Accept"), ",")
	if strings.TrimSpace(accepted) == "" || c.route.path == "/healthz" || c.route.path == "/readyz" {
		c.offer = offers[0]
		return nil
	}
	best := 0.0
	for _, offer := range offers {
		if q := quality(accepted, offer); q > best {
			best, c.offer = q, offer
		}
	}
	if best > 0 {
		return nil
	}
	return mockbase.Errorf(mockbase.CodeNotAcceptable, "this address answers %s, which Accept leaves out", strings.Join(offers, " or "))
}

// quality is the weight that an Accept field gives an offer: that of its most exact range (RFC 9110, section 12.5.1). A
// problem document, which clients of an API often name alone beside their type, counts for nothing here.
func quality(accepted, offer string) float64 {
	weight, exactness := 0.0, -1
	for text := range strings.SplitSeq(accepted, ",") {
		kind, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		e := exact(kind, offer)
		if e <= exactness {
			continue
		}
		weight, exactness = 1, e
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil && q >= 0 && q <= 1 {
			weight = q
		}
	}
	return weight
}

// exact tells how exactly a media range names an offer: 2 by name, 1 by its type, 0 as anything, -1 not at all.
func exact(kind, offer string) int {
	group, _, _ := strings.Cut(offer, "/")
	switch {
	case kind == offer, offer == typeYAML && isYAML(kind):
		return 2
	case kind == group+"/*":
		return 1
	case kind == "*/*":
		return 0
	default:
		return -1
	}
}

// isYAML tells whether a media type is YAML under its name or one of the names before it had one (RFC 9512).
func isYAML(kind string) bool {
	switch kind {
	case typeYAML, "application/x-yaml", "text/yaml", "text/x-yaml":
		return true
	}
	return false
}
