package mockbase

import "net/http"

// planeProblems are about requests to mocks.
func planeProblems() []ProblemPage {
	return []ProblemPage{
		{
			CodeNoMatch, http.StatusNotFound, "No mock matches",
			"The project has no mock for this request.",
			"The answer lists the nearest mocks and what about each did not hold.",
		},
		{
			CodeCodeNotDefined, http.StatusNotFound, "No response of this status",
			"The request asked for a status with Prefer: code=N, and the mock or operation that answers has no response of it.",
			"Ask for a status that is defined, or add a response. Without the header the mock answers as usual.",
		},
		{
			CodeExampleNotDefined, http.StatusNotFound, "No response of this name",
			"The request asked for a response with Prefer: example=NAME, and the mock or operation that answers has none of this name.",
			"Ask for a name that is defined; a response without one is r1, r2 and so on by its place.",
		},
		{
			CodeBadPreference, http.StatusUnprocessableEntity, "The preference cannot be met",
			"A Prefer or Mockbase-Prefer header has a value that cannot be: code takes a status, dynamic true or false, wait seconds up to 300.",
			"Correct the value, or have the project ignore these headers with controlHeaders: false.",
		},
		{
			CodeTooManySessions, http.StatusServiceUnavailable, "Too many sessions",
			"The request names a new session, and the project has as many as the server allows. None makes room for another before its time.",
			"End sessions that are not needed, give them a shorter time to live, or have the operator raise the quota.",
		},
		{
			CodeNoProject, http.StatusNotFound, "No such project",
			"There is no project of the name that the address holds.",
			"Mocks are at /m/PROJECT/…; check the spelling of the project's slug.",
		},
	}
}
