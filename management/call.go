package management

import (
	"context"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/mockbase/mockbase"
)

// call is one request on its way through the checks, with what they found out.
type call struct {
	echo.Context

	route *route
	// offer is the media type that the client prefers among those that the route offers.
	offer string
	// caller is who sent a valid credential, nil for nobody.
	caller *caller
	// credential is the token that the caller sent, so that a stream can see that it still counts.
	credential string
	// project is the snapshot that the path names and the caller sees, nil when there is none and the route copes with it.
	project *mockbase.Snapshot
	// role is what the caller may do in project.
	role mockbase.ProjectRole
	// mock is the mock that the path names, nil when there is none and the route copes with it.
	mock *mockbase.Mock
	// hidden masks the secret variables of hides, nil before it was asked for.
	hidden *mockbase.Hiding
	hides  *mockbase.Project
	// body is the request body once it was read.
	body content
	// draft is the audit entry of the change that the request may make, nil where it makes none (rule M-20).
	draft *mockbase.AuditDraft
	// begun is the id of the entry that was written before what it tells of, "" where there is none.
	begun string
	// attempt is the account that a sign-in was tried for.
	attempt string
	// replay is the answer to a repetition, nil where the request has no Idempotency-Key; foretold is what it says, where it was
	// known before the change (rule M-12).
	replay   *mockbase.ReplayDraft
	foretold *answer
	// answer is what was written, kept for a repeated request (rule M-12).
	answer *answer
	server *Server
}

// ctx is the request's context.
func (c *call) ctx() context.Context { return c.Request().Context() }

// header is that of the answer.
func (c *call) header() http.Header { return c.Response().Header() }

// json answers with v.
func (c *call) json(status int, v any) error {
	c.bytes(status, typeJSON, encode(v))
	return nil
}

// nothing answers 204.
func (c *call) nothing() error {
	c.answer = &answer{status: http.StatusNoContent}
	c.Response().WriteHeader(http.StatusNoContent)
	return nil
}

// written answers a PUT by name with what is stored now: 201 with its Location if it was made, else 200.
func (c *call) written(made bool, version int64, view any) error { //nolint:revive // tells of what was done
	setETag(c.header(), version)
	status := http.StatusOK
	if made {
		c.header().Set("Location", c.Request().URL.EscapedPath())
		status = http.StatusCreated
	}
	return c.json(status, view)
}

// bytes answers with a body of any kind.
func (c *call) bytes(status int, mediaType string, body []byte) {
	c.answer = &answer{status: status, mediaType: mediaType, body: body}
	c.server.write(c.Response(), c.Request(), status, mediaType, body)
}

// setETag names the version of an answer (rule M-10). The field is spelled as RFC 9110 does.
func setETag(h http.Header, version int64) {
	h["ETag"] = []string{etag(version)}
}

func etag(version int64) string { return `"v` + strconv.FormatInt(version, 10) + `"` }

// shown quotes a text of a client's for a message, cut to what a line holds.
func shown(text string) string {
	const longest = 60
	if utf8.RuneCountInString(text) > longest {
		text = string([]rune(text)[:longest]) + "…"
	}
	return strconv.Quote(text)
}
