package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// attempt is a line of an example that says what happens when somebody tries it:
//
//	# try: METHOD /path [body] [[Header: value]] -> STATUS [body]
//	# try: METHOD /path -> broken
type attempt struct {
	method, path, body string
	header             http.Header
	status             int
	answer             string
}

var (
	attemptLine   = regexp.MustCompile(`(?m)^# try: ([A-Z]+) (\S+)(.*?) -> (\d+|broken|200 or broken)(?: (.*))?$`)
	attemptHeader = regexp.MustCompile(` \[([A-Za-z-]+): ([^]]*)]`)
)

func attemptsIn(text string) []attempt {
	var list []attempt
	for _, m := range attemptLine.FindAllStringSubmatch(text, -1) {
		a := attempt{method: m[1], path: m[2], header: http.Header{}, answer: m[5]}
		for _, h := range attemptHeader.FindAllStringSubmatch(m[3], -1) {
			a.header.Add(h[1], h[2])
		}
		a.body = strings.TrimSpace(attemptHeader.ReplaceAllString(m[3], ""))
		if a.body != "" && a.header.Get("Content-Type") == "" {
			a.header.Set("Content-Type", "application/json")
		}
		if n, err := strconv.Atoi(m[4]); err == nil {
			a.status = n
		} else if m[4] == "200 or broken" {
			a.status = -1
		}
		list = append(list, a)
	}
	return list
}

// Every example of a feature does what its own comment says.
func TestExamplesOfFeaturesDoWhatTheySay(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../examples/features/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			attempts := attemptsIn(string(text))
			if len(attempts) != strings.Count(string(text), "# try:") || len(attempts) == 0 {
				t.Fatalf("%d of %d lines to try can be read", len(attempts), strings.Count(string(text), "# try:"))
			}
			server := start(t, path, "--engine-limit=disabled")
			for _, a := range attempts {
				a.check(t, server.URL+"/m/features")
			}
		})
	}
}

func (a *attempt) check(t *testing.T, base string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, a.method, base+a.path, strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = a.header
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	var body []byte
	answer, err := client.Do(r)
	if err == nil {
		body, err = io.ReadAll(answer.Body)
		_ = answer.Body.Close() // it was read to its end
	}
	switch {
	case a.status <= 0 && err != nil:
	case a.status == 0:
		t.Errorf("%s %s: answered %d, want a broken connection", a.method, a.path, answer.StatusCode)
	case err != nil:
		t.Errorf("%s %s: %v", a.method, a.path, err)
	case a.status > 0 && answer.StatusCode != a.status || a.answer != "" && a.status > 0 && shown(body) != a.answer:
		t.Errorf("%s %s: got %d %s, want %d %s", a.method, a.path, answer.StatusCode, body, a.status, a.answer)
	}
}

// shown is how a body is written in a line: without a line break at its end, and with signs for those of a stream.
func shown(body []byte) string {
	text := strings.TrimSuffix(string(body), "\n")
	if text != string(body) && strings.Contains(text, "\n") {
		text = string(body)
	}
	return strings.ReplaceAll(text, "\n", "⏎")
}
