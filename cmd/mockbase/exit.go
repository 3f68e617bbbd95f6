package main

import (
	"errors"
	"io"
	"strings"

	"github.com/mockbase/mockbase"
)

// exitCode is what the process ends with (rule C-7).
type exitCode int

// The exit codes that this program ends with; exitTable says what they mean.
const (
	exitDone        exitCode = 0
	exitCheckFailed exitCode = 1
	exitUsage       exitCode = 2
	exitBadInput    exitCode = 3
	exitNoAnswer    exitCode = 4
	exitNotAllowed  exitCode = 5
	exitConflict    exitCode = 6
	exitEnvironment exitCode = 7
	exitRefused     exitCode = 8
	exitDefect      exitCode = 10
	exitInterrupted exitCode = 130
)

// exitTable is what "mockbase help exit-codes" prints.
func exitTable() []struct {
	code    exitCode
	meaning string
} {
	return []struct {
		code    exitCode
		meaning string
	}{
		{exitDone, "done; serve was stopped by SIGINT or SIGTERM and drained"},
		{exitCheckFailed, "a check failed: verify, backoff, diff --exit-code, unhealthy, the verdict of run"},
		{exitUsage, "wrong use: flag, argument, configuration"},
		{exitBadInput, "invalid input file"},
		{exitNoAnswer, "cannot connect, timed out"},
		{exitNotAllowed, "not signed in or not allowed"},
		{exitConflict, "not found, conflict, version mismatch"},
		{exitEnvironment, "environment: port in use, data directory, database locked or newer"},
		{exitRefused, "the server refused for rate reasons, after the retries"},
		{exitDefect, "defect: please report it"},
		{exitInterrupted, "a client command was interrupted"},
	}
}

// failure is an error that ends the command. It reads "mockbase: what: why" with the fix below it (rule C-8).
type failure struct {
	code exitCode
	// what failed, such as "listen on 127.0.0.1:8080".
	what string
	err  error
	// fix says what to do, or is "".
	fix string
}

func (f *failure) Error() string {
	if f.what == "" {
		return describe(f.err)
	}
	return f.what + ": " + describe(f.err)
}

func (f *failure) Unwrap() error { return f.err }

// fail makes a failure without a fix.
func fail(code exitCode, what string, err error) *failure {
	return &failure{code: code, what: what, err: err}
}

// describe is the public text of an error: the message of a *mockbase.Error without its code.
func describe(err error) string {
	if known, ok := errors.AsType[*mockbase.Error](err); ok {
		return known.Message
	}
	return err.Error()
}

// faults are findings about settings or files, each a line of its own; together they end the command.
type faults struct {
	code  exitCode
	lines []string
	fixes []string
}

func (f *faults) Error() string { return strings.Join(f.lines, "\n") }

// codeOf is the exit code of an error. One that nobody explained is a defect.
func codeOf(err error) exitCode {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.code
	}
	if f, ok := errors.AsType[*faults](err); ok {
		return f.code
	}
	return exitDefect
}

// printError writes an error in the form of rule C-8.
func printError(w io.Writer, err error) {
	if f, ok := errors.AsType[*faults](err); ok {
		for i, line := range f.lines {
			printf(w, "%s\n", line)
			printFix(w, f.fixes[i])
		}
		return
	}
	printf(w, "mockbase: %s\n", oneLine(err.Error()))
	if f, ok := errors.AsType[*failure](err); ok {
		fix := f.fix
		if known, ok := errors.AsType[*mockbase.Error](err); ok && fix == "" {
			fix = known.Hint
		}
		printFix(w, fix)
	}
}

func printFix(w io.Writer, fix string) {
	if fix != "" {
		printf(w, "  fix: %s\n", fix)
	}
}

// oneLine keeps a message in one line, so that it reads as one error.
func oneLine(s string) string {
	return strings.Join(strings.Fields(s), " ")
}
