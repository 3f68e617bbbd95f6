// Package session keeps a project's sessions: the parts of its state that one run of tests does not share with another.
//
// # Sessions
//
// A [Registry] holds the sessions of one project. The session named default exists from the beginning and never expires;
// every other one begins with its first request ([Registry.Join]) or by name ([Registry.Create]), and ends when it is
// told to or when no request came for its time to live (rules AA6 to AA11). No session has a goroutine of its own:
// expired ones are found when they are asked for, and by one timer for all of them.
//
// # State
//
// A session remembers how often each mock was called and used, the places in sequences and exact draws, and the states
// of scenarios. A [Layout] says what there is to remember; a [Step] reads and changes it, alone, so that choosing a mock
// and moving on is one step (rule R2). Mocks that remember nothing need no step: [Session.Count] takes no lock.
//
// # Time and chance
//
// Each session has a [Clock], the wall clock plus an offset that may be advanced (rules AA13 to AA18), and a seed (rule
// AA20).
package session
