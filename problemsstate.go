package mockbase

import "net/http"

// stateProblems are about what is stored.
func stateProblems() []ProblemPage {
	return []ProblemPage{
		{
			CodeNameTaken, http.StatusConflict, "The name is taken",
			"Another object of the same kind has this name.",
			"Choose another name, or change the object that has it.",
		},
		{
			CodeManagedBySource, http.StatusConflict, "It is managed elsewhere",
			"The object came from a file or from another source, which would overwrite the change.",
			"Change it at its source, which the answer names, or repeat the call with takeOver=true (mockbase mock edit --take-over).",
		},
		{
			CodeApplyConflict, http.StatusConflict, "The document conflicts with what is there",
			"Objects of the document belong to another source, or were edited by hand since. Nothing was changed.",
			"The plan in the answer lists them. To take them over, apply with adopt=true (mockbase apply --adopt) or import with onConflict=replace " +
				"(mockbase import --on-conflict replace).",
		},
		{
			CodeInUse, http.StatusConflict, "Something still points here",
			"The object cannot go, as others refer to it; the answer says which.",
			"Delete or change those first. A relation of collections can cascade, or set the member to null.",
		},
		{
			CodePatchFailed, http.StatusConflict, "A test of the patch failed",
			"A JSON Patch holds a test operation, and what is stored is not what it expects. Nothing was changed.",
			"Read the item again, and make the patch from what it is now.",
		},
		{
			CodeQuotaReached, http.StatusConflict, "The quota is used up",
			"There are as many objects of this kind as the server allows. Nothing is deleted to make room.",
			"Delete what is not needed, or have the operator raise the quota that the answer names.",
		},
		{
			CodeTooManyStreams, http.StatusTooManyRequests, "Too many streams are open",
			"Each caller may have 20 streams of events open, and the server 500 in all.",
			"Close streams that nobody reads, such as those of forgotten pages.",
		},
		{
			CodeIdempotencyRunning, http.StatusConflict, "The first call is still running",
			"A call with the same Idempotency-Key came before and has not been answered yet.",
			"Wait for Retry-After and repeat the call: it then gets the first one's answer.",
		},
		{
			CodeIdempotencyMismatch, http.StatusUnprocessableEntity, "The key belongs to another call",
			"A call with the same Idempotency-Key came before with another body.",
			"Make a new key for each new call; repeat a call with the key and the body that it had.",
		},
		{
			CodeVersionMismatch, http.StatusPreconditionFailed, "Somebody else was faster",
			"The object has changed since you read it; your change was not made.",
			"Read it again, and repeat the change with the new ETag in If-Match.",
		},
		{
			CodePreconditionRequired, http.StatusPreconditionRequired, "If-Match is missing",
			"What you change is changed only by who says which version they change: the settings of the shield, and projects that ask for it.",
			"Send the ETag of the version that you read in If-Match.",
		},
	}
}

// limitProblems are about who asks too often.
func limitProblems() []ProblemPage {
	return []ProblemPage{
		{
			CodeRateLimited, http.StatusTooManyRequests, "Too many requests",
			"You have used up a limit of this server, or of the mock you called: Mockbase-Limited-By tells which.",
			"Wait for as many seconds as Retry-After says.",
		},
		{
			CodeLoginBanned, http.StatusTooManyRequests, "Too many failed sign-ins",
			"Too many passwords or codes from your address were wrong. Until the ban ends no sign-in is looked at, not even one with the right password.",
			"Wait for as many seconds as Retry-After says. An operator sets how many failures ban for how long in MOCKBASE_LOGIN_BAN.",
		},
	}
}

// ownerProblems are about who must stay.
func ownerProblems() []ProblemPage {
	return []ProblemPage{
		{
			CodeLastOwner, http.StatusConflict, "A project needs an owner",
			"The user is the only owner of a project. Nothing was changed.",
			"Make somebody else an owner of the project first, or delete the project.",
		},
		{
			CodeLastAdmin, http.StatusConflict, "The server needs an administrator",
			"The user is the only administrator who is not disabled. Nothing was changed.",
			"Make somebody else an administrator first.",
		},
	}
}

// providerProblems are about people who sign in by an identity provider.
func providerProblems() []ProblemPage {
	return []ProblemPage{
		{
			CodeSignInRefused, http.StatusForbidden, "The sign-in was refused",
			"The identity provider vouched for nobody who may sign in here, or the browser did not bring back what it was given.",
			"Begin again; if that does not help, the detail says what an administrator has to change.",
		},
		{
			CodePasswordsHidden, http.StatusForbidden, "Passwords are switched off",
			"People sign in to this server by its identity provider.",
			"Sign in by the identity provider.",
		},
		{
			CodeProviderFailed, http.StatusBadGateway, "The identity provider can't be asked",
			"The provider that people sign in by did not answer, or not as it should. The server's log says more.",
			"Try again; an administrator may check the provider's address.",
		},
	}
}
