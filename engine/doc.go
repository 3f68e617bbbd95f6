// Package engine compiles the mocks of a project into an immutable program and answers requests from it.
//
// # Programs
//
// [Engine.Publish] turns a snapshot of a project into a program: settings, matchers and whole answers are worked out
// once, header lines included. The program replaces the former one in one atomic step, so that a request sees either
// all of a change or nothing of it (rule A14), and takes no lock. What a program cannot do is found by
// [Engine.CheckConfig] and [Engine.CheckMock] when a definition is saved, and never when a mock is called.
//
// # Choosing a mock
//
// The raw path of the request is split and decoded once, and its segments walk a tree. The tree finds the mocks whose
// path has that structure; they are tried in one total order of priority, specificity of the path, method, guards and
// age (rule A2), and the first whose conditions all hold answers. The time this takes does not depend on the number of
// mocks.
//
// # Choosing what depends on the past
//
// A mock whose answer depends on earlier requests - a sequence, a state, a number of uses - is chosen in a step of the
// request's session (package session), together with whatever else fits: choosing and moving on are one, whatever else
// comes at the same time (rule R2). The step holds no more than that; limits are asked outside of it, and matching starts
// again after them. Mocks that remember nothing are chosen without a lock.
//
// # Order of work
//
// Project, preflight, shield, session, bounded body, match, delay, answer, record: [Engine.ServeHTTP] is the place to read it.
package engine
