package web

import (
	_ "embed"
	"html/template"
)

//go:embed link.html
var linkSource string

// link is a page that a link with a secret in its fragment leads to (rules C-26 and M-42). It tells how to use the secret, which
// the browser keeps: the server is asked for the same page whatever the secret is.
type link struct {
	Title string
	// Secret is what the secret is called, Fragment what stands before it in the link.
	Secret, Fragment string
	// Validity says how long it is good.
	Validity string
	// Path is where it is sent, below the API; Body is what is sent, and Answer what comes back.
	Path, Body, Answer string
	// Named tells that a name is sent along.
	Named bool
}

// links are the pages by their paths.
func links() map[string]link {
	return map[string]link{
		"/setup": {
			Title: "Make the first account", Secret: "code", Fragment: "code", Path: "/auth/setup",
			Validity: "It is good until it is used or the server starts again; the file setup-code in the data directory holds it as well.",
			Body:     `{"code": "XXXX-XXXX-XXXX", "email": "you@example.com", "password": "…"}`,
			Answer:   "The answer 201 says that you are the administrator. On the server's machine, mockbase user create --admin does the same.",
		},
		"/invite": {
			Title: "Accept an invitation", Secret: "token", Fragment: "token", Path: "/auth/invitations/accept", Named: true,
			Validity: "It is good once, within 72 hours of the invitation.",
			Body:     `{"token": "…", "name": "Your Name", "password": "…"}`,
			Answer:   "The answer 201 says that you have an account, with the address that the invitation was sent to.",
		},
		"/reset": {
			Title: "Choose a new password", Secret: "token", Fragment: "token", Path: "/auth/password-reset",
			Validity: "It is good once, within an hour.",
			Body:     `{"token": "…", "newPassword": "…"}`,
			Answer:   "The answer 204 says that the password is new, and that every sign-in with the old one has ended.",
		},
	}
}

// linkView is what the template is given.
type linkView struct {
	link
	Options
	Style template.CSS
}
