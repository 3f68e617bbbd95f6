package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
)

// reports are the files that a verdict is written into, by their kind.
type reports map[string]string

// reportsOf reads KIND=FILE pairs; several may stand in one text, with commas between them.
func reportsOf(texts []string) (reports, error) {
	list := reports{}
	for _, text := range texts {
		kind, path, ok := strings.Cut(text, "=")
		if !ok || path == "" || kind != "junit" && kind != "json" {
			return nil, &failure{code: exitUsage, err: fmt.Errorf("--report %s is no report", text), fix: "write junit=FILE or json=FILE"}
		}
		list[kind] = path
	}
	return list, nil
}

// write writes the files; whole is the verdict as the API told it.
func (list reports) write(v *judged, whole []byte) error {
	for kind, path := range list {
		text := whole
		if kind == "junit" {
			text = v.junit()
		}
		if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // others may read a report
			return &failure{code: exitEnvironment, what: "write report", err: err, fix: "name a place that this user can write to"}
		}
	}
	return nil
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Failure *junitTrouble `xml:"failure,omitempty"`
	Error   *junitTrouble `xml:"error,omitempty"`
}

type junitTrouble struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// junit is the verdict with a test case for each check: one that fails is a failure, one that is not known an error.
func (v *judged) junit() []byte {
	suite := junitSuite{Name: "mockbase verify", Tests: len(v.Checks)}
	for i := range v.Checks {
		k := &v.Checks[i]
		trouble := &junitTrouble{Message: "expected " + k.Expected + ", got " + k.Actual, Text: strings.TrimSpace(k.Detail + "\n" + strings.Join(k.Exchanges, " "))}
		one := junitCase{Name: k.Name, Class: "mockbase.verify"}
		switch k.word() {
		case "FAIL":
			one.Failure = trouble
			suite.Failures++
		case "?":
			one.Error = trouble
			suite.Errors++
		}
		suite.Cases = append(suite.Cases, one)
	}
	if !v.Complete {
		suite.Tests, suite.Errors = suite.Tests+1, suite.Errors+1
		suite.Cases = append(suite.Cases, junitCase{
			Name: "complete", Class: "mockbase.verify", Error: &junitTrouble{Message: "recorded exchanges are missing"},
		})
	}
	text, err := xml.MarshalIndent(&suite, "", "  ")
	if err != nil {
		// Only texts and numbers are written, so this is not reached.
		return nil
	}
	return append([]byte(xml.Header), append(text, '\n')...)
}
