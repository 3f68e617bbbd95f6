package mockbase

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// ProblemPage explains a code to a person; /docs/problems/{code} shows it (rules M-5 and M-6).
type ProblemPage struct {
	Code Code
	// Status is the HTTP status that comes with the code; 0 for a warning, which has none.
	Status  int
	Title   string
	Meaning string
	Fix     string
}

// Problems lists every code, in the order of the documentation.
func Problems() []ProblemPage {
	return slices.Concat(signInProblems(), accessProblems(), textProblems(), requestProblems(), contentProblems(), stateProblems(), ownerProblems(), providerProblems(), limitProblems(), shieldProblems(),
		serverProblems(), planeProblems(), fieldProblems(), warningProblems())
}

// ProblemOf returns the page of a code, and whether there is one.
func ProblemOf(code Code) (ProblemPage, bool) {
	for _, page := range Problems() {
		if page.Code == code {
			return page, true
		}
	}
	return ProblemPage{}, false
}

// textProblems are requests that cannot be read or are too large.
func textProblems() []ProblemPage {
	return []ProblemPage{
		{
			CodeMalformedBody, http.StatusBadRequest, "The body cannot be read",
			"The text is no JSON or YAML: a bracket, quote or comma is missing, a key is given twice, or it is nested too deep.",
			"Go to the line and column that the answer names. In YAML, check the indentation there: it takes blanks, not tabs.",
		},
		{
			CodeInvalidParameter, http.StatusBadRequest, "A query parameter is wrong",
			"The address holds a parameter that the endpoint does not know, or a value that it cannot use.",
			"The answer names the parameter and what it takes.",
		},
		{
			CodeInvalidCursor, http.StatusBadRequest, "The cursor is not ours",
			"A list was continued with a cursor that this server did not make, or that belongs to another list.",
			"Begin again without a cursor, and pass nextCursor on unchanged.",
		},
		{
			CodeBadRequest, http.StatusBadRequest, "The request cannot be read",
			"A request to a mock is no valid HTTP: a percent sign without two digits behind it in the path, for example.",
			"Look at the bytes that the client sends; a library that builds addresses out of parts escapes them.",
		},
	}
}

// requestProblems are requests that can be read and cannot be answered as they are.
func requestProblems() []ProblemPage {
	return []ProblemPage{
		{
			CodeNotAcceptable, http.StatusNotAcceptable, "No such media type here",
			"The Accept header asks for a media type that the endpoint cannot give.",
			"Ask for application/json, and for application/yaml where definitions are concerned.",
		},
		{
			CodeBodyTooLarge, http.StatusRequestEntityTooLarge, "The body is too large",
			"The body is longer than the endpoint takes, counted after decompression; or the conditions of the mocks of a path take more than " +
				"five seconds of processor time to test with it.",
			"Send less at once: large bodies of answers can be read from files. Fewer or simpler patterns and expressions test large bodies sooner.",
		},
		{
			CodeBodyTooSlow, http.StatusRequestTimeout, "The body is too slow",
			"The body of a request was not there in time: to a mock it has a minute, and a second more for each 16 KiB, to the API as long as the endpoint may take.",
			"Send the whole body that the header announces, without long pauses.",
		},
		{
			CodeTargetTooLong, http.StatusRequestURITooLong, "The address is too long",
			"Path and query together are longer than the server reads.",
			"Send long values in the body.",
		},
		{
			CodeUnsupportedMediaType, http.StatusUnsupportedMediaType, "The Content-Type is not taken here",
			"The body is announced as something that the endpoint does not read, or not announced at all.",
			"Set Content-Type to one of the types in the answer's Accept or Accept-Patch header.",
		},
		{
			CodeHeadersTooLarge, http.StatusRequestHeaderFieldsTooLarge, "The header is too large",
			"All header fields together are longer than the server reads.",
			"Look for a cookie or a token that has grown.",
		},
		{
			CodeMethodNotAllowed, http.StatusMethodNotAllowed, "The method does not exist here",
			"There is something at this address, but not for this method.",
			"The answer's Allow header lists the methods that there are.",
		},
	}
}

// contentProblems are requests that say what is not allowed.
func contentProblems() []ProblemPage {
	return []ProblemPage{
		{
			CodeValidationFailed, http.StatusUnprocessableEntity, "The document is not valid",
			"The text can be read, and something in it is not allowed. Nothing was changed.",
			"Each entry of errors has a pointer, a line and column, and a fix; the codes are explained below.",
		},
		{
			CodeFormatNotRecognised, http.StatusUnprocessableEntity, "Which tool wrote this",
			"Nothing in the file says what it is, or the format cannot be imported this way.",
			"Send format= with the name of the tool. docs/importing.md lists what is read.",
		},
		{
			CodeUpstreamRefused, http.StatusUnprocessableEntity, "The address may not be called",
			"The document was to be fetched from an address that this server does not call, or that did not answer.",
			"Send the file itself, or allow the address with --allow-upstream.",
		},
		{
			CodePatchNotAllowed, http.StatusUnprocessableEntity, "This cannot be patched",
			"A merge patch replaces lists as a whole and drops null, so that it cannot change a request or a response safely.",
			"Read the mock, change it, and write it back with PUT and If-Match.",
		},
		{
			CodeConfirmationRequired, http.StatusUnprocessableEntity, "Please confirm",
			"The call would delete something for good.",
			"Repeat it with ?confirm= and the name of what is deleted.",
		},
		{
			CodeWeakPassword, http.StatusUnprocessableEntity, "The password is too weak",
			"The password is too short, or one that everybody tries first.",
			"Choose a longer one: a sentence is easy to remember.",
		},
	}
}

// signInProblems are about who calls.
func signInProblems() []ProblemPage {
	return []ProblemPage{
		{
			CodeUnauthenticated, http.StatusUnauthorized, "Who are you?",
			"The call has no token, or one that this server did not make.",
			"Sign in, and send the token as Authorization: Bearer TOKEN.",
		},
		{
			CodeInvalidCredentials, http.StatusUnauthorized, "E-mail or password is wrong",
			"There is no account with this e-mail and password. Which of the two is wrong is not told.",
			"Try again; an administrator can set a new password.",
		},
		{
			CodeTokenExpired, http.StatusUnauthorized, "The token has expired",
			"Access tokens live for minutes.",
			"Refresh it, or sign in again. If it happens at once, compare the clocks of client and server.",
		},
		{
			CodeTokenRevoked, http.StatusUnauthorized, "The token was revoked",
			"The sign-in has ended: by signing out, a new password, or an administrator.",
			"Sign in again.",
		},
		{
			CodeRefreshReused, http.StatusUnauthorized, "The refresh token was used before",
			"A refresh token works once, and for ten seconds more for tabs that asked at the same time. As somebody else may have used it, the whole sign-in has ended.",
			"Sign in again. If it happens often, two programs share one token: give each its own.",
		},
	}
}

// accessProblems are about who may do what.
func accessProblems() []ProblemPage {
	return []ProblemPage{
		{
			CodeForbidden, http.StatusForbidden, "You may not do this",
			"Your role here does not allow the call.",
			"Ask an owner of the project, or an administrator, for the role that the answer names.",
		},
		{
			CodeInsufficientScope, http.StatusForbidden, "The token's scope is too narrow",
			"The API token may not do this: it lacks the scope that the call needs.",
			"Make a token with the scope that the answer names. Scopes of a token cannot be changed.",
		},
		{
			CodeSessionRequired, http.StatusForbidden, "Only for signed-in people",
			"The call is for people who signed in with their password, and came with an API token.",
			"Sign in, and do it there.",
		},
		{
			CodeReauthenticate, http.StatusForbidden, "Give your password again",
			"What you want to do needs a sign-in that is at most 15 minutes old.",
			"Send the password to POST /api/v1/auth/reauthenticate, and repeat the call with the token that it answers.",
		},
		{
			CodeSetupCodeInvalid, http.StatusForbidden, "The set-up code is wrong",
			"The first account is made with a code that the server prints when it starts.",
			"Look at the server's log; each start prints a new code while there is no account.",
		},
		{
			CodeOriginRefused, http.StatusForbidden, "This site may not call",
			"A browser sent the call from a page of another site.",
			"List the site's origin in MOCKBASE_MANAGEMENT_ORIGINS if you trust it.",
		},
		{
			CodeHostRefused, http.StatusForbidden, "Unknown host name",
			"The Host header names a host that this server does not go by, as in an attack by DNS rebinding.",
			"Call the server by its own name, or list the name in MOCKBASE_ALLOWED_HOSTS.",
		},
		{
			CodeAddressBlocked, http.StatusForbidden, "Your address is blocked",
			"An administrator put your address on the blocklist, or banned it.",
			"Wait for as many seconds as Retry-After says, if the answer has it, or ask an administrator: GET /api/v1/admin/bans lists the bans.",
		},
		{
			CodeNotFound, http.StatusNotFound, "There is no such thing",
			"Nothing of this name or id exists, or you may not know that it does.",
			"Check the spelling, and whether you are a member of the project.",
		},
		{
			CodeSetupRequired, http.StatusConflict, "The server has no account yet",
			"Before anything else, the first account is made.",
			"Open the dashboard, or post to /api/v1/setup, with the code from the server's log.",
		},
		{
			CodeAlreadySetUp, http.StatusConflict, "The server is set up",
			"The first account exists already, and set-up works once.",
			"Sign in. Further accounts are made by an administrator.",
		},
	}
}

// shieldProblems are about changes of the shield.
func shieldProblems() []ProblemPage {
	return []ProblemPage{
		{
			CodePinnedByConfig, http.StatusConflict, "The configuration decides",
			"A flag, a variable or the configuration file of the server states this setting, so that nobody changes it elsewhere.",
			"Change it there, or remove it there and restart the server: then it is changed here.",
		},
		{
			CodeWouldLockOut, http.StatusConflict, "You would lock yourself out",
			"The change would refuse the address or the account that asks for it.",
			"Put your address on the safelist first, or repeat the call with force=true if you mean it.",
		},
	}
}

// serverProblems are about the server and the mock plane.
func serverProblems() []ProblemPage {
	return []ProblemPage{
		{
			CodeInternal, http.StatusInternalServerError, "The server failed",
			"This is a fault of the server. The cause is in its log, under the request id of the answer.",
			"Report it with the request id.",
		},
		{
			CodeAnswerFailed, http.StatusInternalServerError, "The answer cannot be made",
			"A mock answers, and what it says cannot be turned into bytes: a template fails, gives a status or header that HTTP does not know, or names a file that cannot be read.",
			"The answer tells what failed and where; correct the mock, or the request that its templates read.",
		},
		{
			CodeUpstreamFailed, http.StatusBadGateway, "The upstream failed",
			"A mock passes requests on to an upstream that refused the connection, has no known name or no certificate to trust, was silent for too long (504), or is this server itself (508). Addresses that are not public are refused too, unless the operator allows them.",
			"The answer tells the cause; correct the upstream of the mock, or ask the operator to allow its address.",
		},
		{
			CodeUpgradeRequired, http.StatusUpgradeRequired, "No WebSocket handshake",
			"A mock holds a WebSocket conversation, and the request asks for no upgrade of HTTP/1.1 to version 13 of the protocol.",
			"Use a WebSocket client.",
		},
		{
			CodeUnavailable, http.StatusServiceUnavailable, "Not now",
			"The server is starting, stopping, or cannot reach its store.",
			"Try again in a moment; /readyz tells what is missing.",
		},
		{
			CodeLoginUnavailable, http.StatusServiceUnavailable, "No sign-in at the moment",
			"The store that counts attempts to sign in does not answer, and the operator wants nobody to try uncounted.",
			"Wait for as many seconds as Retry-After says. An operator chooses with MOCKBASE_LIMIT_STORE_FAILURE what happens then.",
		},
		{
			CodeBusy, http.StatusServiceUnavailable, "Too much at once",
			"The server has more of this work than it can take on.",
			"Wait for as many seconds as Retry-After says.",
		},
	}
}

// fieldProblems are the faults of one place in a document (mock format, section 5).
func fieldProblems() []ProblemPage {
	const status = http.StatusUnprocessableEntity
	return []ProblemPage{
		{
			FieldUnknownKey, status, "Unknown key",
			"An object holds a key that nothing reads. It is refused, because a misspelt key would be ignored otherwise.",
			"Write the key that is suggested, or leave it out. At the top of a document, keys that begin with x- are allowed.",
		},
		{
			FieldType, status, "Wrong kind of value", "A text stands where a number belongs, a list where an object belongs, or the like.",
			"Write the kind that is named. In YAML, quotes make a text of a number.",
		},
		{
			FieldEnum, status, "Not one of the allowed values", "The value is taken from a closed list, and is not in it.",
			"Choose one of the values that are named.",
		},
		{
			FieldRange, status, "Out of bounds", "A number, a duration or the length of a list is below or above what is allowed.",
			"Stay within the bounds that are named.",
		},
		{
			FieldPattern, status, "Wrong spelling", "A name, duration, header or the like is not written as it must be.",
			"Write it like the example that is named.",
		},
		{
			FieldRequired, status, "Something is missing", "A key must be there and is not.",
			"Add the key that the pointer names.",
		},
		{
			FieldConflict, status, "Two keys exclude each other", "A key makes no sense beside another one, or without one.",
			"Keep one of the two.",
		},
		{
			FieldUnique, status, "The same twice", "Two entries have the same name or value where each needs its own.",
			"Rename one of them.",
		},
		{
			FieldDuplicateKey, status, "A key is given twice", "One object holds the same key twice; which of the two counts would be a matter of luck.",
			"Delete one of the two, or join them.",
		},
		{
			FieldReference, status, "It does not exist", "The value names a rate limit, collection or the like that the project does not have.",
			"Write the name that is suggested, or define what it names.",
		},
		{
			FieldSyntax, status, "It does not compile", "A path, regular expression, JSONPath or template is not well-formed, or the whole text is not.",
			"Go to the column that is named. Regular expressions are RE2: they have no look-around and no back-references.",
		},
		{
			FieldLimit, status, "Too much", "There are more entries, characters or bytes than allowed.",
			"Split it, or leave something out.",
		},
		{
			FieldNotServed, status, "Not served yet",
			"The format knows this field, and this version of the server does not act on it. It is refused rather than ignored.",
			"Leave the field out, or use a newer version.",
		},
	}
}

// warningProblems are what does not block.
func warningProblems() []ProblemPage {
	return []ProblemPage{
		{
			WarningTie, 0, "Two mocks of the same rank", "Two mocks answer the same requests, and only their order decides which.",
			"Give one of them a priority, or a condition more.",
		},
		{
			WarningUnreachable, 0, "The mock never answers", "Another mock answers every request that this one would.",
			"Give it a priority, or delete it.",
		},
		{
			WarningTemplateOff, 0, "A template that is not rendered", "A text holds {{ and is sent as it stands.",
			"Set template: true in the response, or in defaults.",
		},
		{
			WarningNoDefault, 0, "No default response", "Each response of the mock has a when. If none holds, the next mock is tried.",
			"Add a response without when, unless this is what you mean.",
		},
		{
			WarningBodyDropped, 0, "The body is not sent", "HTTP allows no body beside the status of the response.",
			"Leave the body out, or choose another status.",
		},
		{
			WarningEncoding, 0, "Not every client reads this header", "The value holds characters outside Latin-1. It goes out as UTF-8, which some clients read as something else.",
			"Encode the value, or leave it if your clients are those that read UTF-8.",
		},
		{
			WarningNotTranslated, 0, "It has no equivalent", "An import met something of the other tool that MockBase does not have, or does not have in this form. It was left out.",
			"Look at the mock that came of it: docs/importing.md says what becomes of what.",
		},
		{
			WarningUnused, 0, "It has no effect", "The value is valid and changes nothing here.",
			"Leave it out.",
		},
	}
}

// ProblemsMarkdown writes the pages as one Markdown document with a heading for each code.
func ProblemsMarkdown() string {
	var b strings.Builder
	b.WriteString("# Errors\n\n" +
		"Every error has a code that does not change. An answer of the API names it in `code`, and the faults of a document\n" +
		"name theirs in `errors[].code`. Its `type` is the address of the page below on the server itself.\n")
	for _, p := range Problems() {
		fmt.Fprintf(&b, "\n## %s\n\n**%s.** ", p.Code, strings.TrimSuffix(p.Title, "?"))
		if p.Status > 0 {
			fmt.Fprintf(&b, "Status %d.\n", p.Status)
		} else {
			b.WriteString("A warning.\n")
		}
		fmt.Fprintf(&b, "\n%s\n\n%s\n", p.Meaning, p.Fix)
	}
	return b.String()
}
