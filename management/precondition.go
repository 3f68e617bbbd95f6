package management

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// condition is what If-Match or If-None-Match says of versions.
type condition struct {
	given bool
	// any is the star.
	any bool
	// versions are the strong ETags, weak ones in If-None-Match too.
	versions []int64
	// absent is the revision 0 of a plan for a project that is not there yet; nothing that exists has it.
	absent bool
}

// readCondition reads a list of ETags. An ETag that is none of ours is a version that nothing has.
func readCondition(c *call, name string) condition {
	sent := c.Request().Header.Values(name)
	cond := condition{given: len(sent) > 0}
	for text := range strings.SplitSeq(strings.Join(sent, ","), ",") {
		text = strings.TrimSpace(text)
		if text == "*" {
			cond.any = true
			continue
		}
		if name == "If-None-Match" {
			text = strings.TrimPrefix(text, "W/")
		}
		if version, ok := readETag(text); ok {
			cond.versions = append(cond.versions, version)
		}
		cond.absent = cond.absent || text == `"v0"` || text == "v0" || text == "0"
	}
	return cond
}

// checkCondition refuses an If-Match that is no list of ETags (RFC 9110, section 13.1.1): who sends one means a version, and
// must not be taken for somebody who means another. The revision of a plan may be sent as the number that the plan tells.
// No ETag is that of an object without versions.
func checkCondition(c *call) error {
	sent := c.Request().Header.Values("If-Match")
	for text := range strings.SplitSeq(strings.Join(sent, ","), ",") {
		text = strings.TrimSpace(text)
		_, isNumber := strconv.ParseUint(text, 10, 63)
		switch {
		case text == "", text == "*", isETag(strings.TrimPrefix(text, "W/")):
		case c.route.operation == "applyDefinition" && isNumber == nil:
		default:
			return &mockbase.Error{
				Code: mockbase.CodeInvalidParameter, Message: "If-Match is no list of ETags: " + shown(text),
				Hint: `send the ETag with its quotes, as in If-Match: "v7", or *`,
			}
		}
	}
	if changes := c.route.method != http.MethodGet && c.route.method != http.MethodPost; changes && !c.route.versioned {
		if cond := readCondition(c, "If-Match"); cond.given && !cond.any {
			return &mockbase.Error{
				Code: mockbase.CodeVersionMismatch, Message: "what this changes has no versions, so that no ETag is its own", Hint: "leave If-Match out, or send *",
			}
		}
	}
	return nil
}

// isETag tells whether a text is an opaque tag in quotes.
func isETag(text string) bool {
	return len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' && !strings.Contains(text[1:len(text)-1], `"`)
}

// readETag reads "v7", and also v7 and 7, as which the revision of a plan may be sent.
func readETag(text string) (int64, bool) {
	if bare, ok := strings.CutPrefix(text, `"`); ok {
		text, ok = strings.CutSuffix(bare, `"`)
		if !ok {
			return 0, false
		}
	}
	version, err := strconv.ParseInt(strings.TrimPrefix(text, "v"), 10, 64)
	return version, err == nil && version > 0
}

// notModified tells whether a client already has this version (rule M-10).
func (c *call) notModified(version int64) bool {
	cond := readCondition(c, "If-None-Match")
	return cond.any || slices.Contains(cond.versions, version)
}

// ifMatch compares If-Match with the version that an object has now, and returns what the write has to compare again
// (rule M-10). Absence is 428 where the project asks for the header.
func (c *call) ifMatch(current int64) (catalog.Match, error) {
	cond := readCondition(c, "If-Match")
	switch {
	case !cond.given && c.project.Project.RequireIfMatch:
		return catalog.Match{}, &mockbase.Error{
			Code: mockbase.CodePreconditionRequired, Message: "the project asks for If-Match on every change",
			Hint: "send the ETag of what you read",
		}
	case !cond.given, cond.any:
		return catalog.Match{}, nil
	case slices.Contains(cond.versions, current):
		return catalog.Match{Version: current}, nil
	}
	return catalog.Match{}, versionMismatch(current)
}

func versionMismatch(current int64) error {
	return &mockbase.Error{
		Code: mockbase.CodeVersionMismatch, Message: "somebody changed this since you read it", Hint: "read it again and repeat the change", Version: current,
	}
}
