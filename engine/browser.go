package engine

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// sandboxPolicy keeps a page of a mock from acting for the dashboard on the same origin (rule Y10).
const sandboxPolicy = "sandbox allow-scripts allow-forms allow-popups allow-downloads"

// isSignInCookie tells whether a cookie is one of ours: the refresh token (rule M-35), and what a browser keeps while it is
// at an identity provider (rule M-43).
func isSignInCookie(name string) bool {
	switch name {
	case "mb_rt", "__Host-mb_rt", "mb_oidc", "__Host-mb_oidc":
		return true
	default:
		return false
	}
}

// withoutSignIn returns the header without our sign-in cookies: the header itself when it has none, else a copy (rule
// Y10).
func withoutSignIn(h http.Header) http.Header {
	lines := h[headerCookie]
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "mb_rt") || strings.Contains(line, "mb_oidc") }) {
		return h
	}
	kept := make([]string, 0, len(lines))
	for _, line := range lines {
		if line = dropSignIn(line); line != "" {
			kept = append(kept, line)
		}
	}
	clean := maps.Clone(h)
	delete(clean, headerCookie)
	if len(kept) > 0 {
		clean[headerCookie] = kept
	}
	return clean
}

func dropSignIn(line string) string {
	var kept []string
	for part := range strings.SplitSeq(line, ";") {
		part = strings.Trim(part, " \t")
		if name, _, _ := strings.Cut(part, "="); !isSignInCookie(strings.Trim(name, " \t")) && part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "; ")
}

// isBrowser tells whether a request was sent by a browser.
func isBrowser(h http.Header) bool {
	if agent := h[headerUserAgent]; len(agent) > 0 && strings.HasPrefix(agent[0], "Mozilla/") {
		return true
	}
	return fetchMetadata(h)
}

// fetchMetadata tells whether a request has Sec-Fetch-* headers, which no script can set.
func fetchMetadata(h http.Header) bool {
	for _, name := range [...]string{"Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User"} {
		if len(h[name]) > 0 {
			return true
		}
	}
	return false
}

// isNavigation tells whether a browser will show the answer as a page.
func isNavigation(h http.Header) bool {
	if !fetchMetadata(h) {
		return slices.ContainsFunc(h["Accept"], func(line string) bool { return strings.Contains(strings.ToLower(line), "text/html") })
	}
	switch h.Get("Sec-Fetch-Dest") {
	case "document", "iframe", "frame", "embed", "object":
		return true
	default:
		return false
	}
}

// protectBrowser takes out of an answer to a browser what would act for the dashboard's user, and sandboxes pages on a
// shared origin (rule Y10). Other clients get the answer byte for byte.
func (c *call) protectBrowser(h http.Header) {
	if !isBrowser(c.header) {
		return
	}
	for name, lines := range h {
		switch {
		case strings.EqualFold(name, headerSetCookie):
			h[name] = slices.DeleteFunc(slices.Clone(lines), setsSignIn)
		case strings.EqualFold(name, headerClearSiteData):
			delete(h, name)
		}
	}
	if c.program.settings.sandbox && !c.own && isNavigation(c.header) {
		const name = "Content-Security-Policy"
		h[name] = append(slices.Clip(h[name]), sandboxPolicy)
	}
}

func setsSignIn(line string) bool {
	name, _, _ := strings.Cut(line, "=")
	return isSignInCookie(strings.Trim(name, " \t"))
}
