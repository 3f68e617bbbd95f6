package testkit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/internal/testkit"
)

// verdict is a test that is itself under test: it collects what would have failed.
type verdict struct {
	testing.TB

	complaints []string
	cleanups   []func()
}

func (*verdict) Helper()            {}
func (v *verdict) Cleanup(f func()) { v.cleanups = append(v.cleanups, f) }

func (v *verdict) Errorf(format string, args ...any) {
	v.complaints = append(v.complaints, fmt.Sprintf(format, args...))
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.Errorf(format, args...)
	runtime.Goexit()
}

// judge runs a test that may fail, with its cleanups, and returns what it complained about.
func judge(t *testing.T, test func(v *verdict)) string {
	t.Helper()
	v := &verdict{TB: t}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		test(v)
	}()
	<-ended
	for _, f := range slices.Backward(v.cleanups) {
		f()
	}
	return strings.Join(v.complaints, "\n")
}

func TestGolden_compares_and_writes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "answer.golden")
	compare := func(got string) string {
		return judge(t, func(v *verdict) { testkit.Golden(v, path, []byte(got)) })
	}
	t.Setenv("UPDATE_GOLDEN", "")
	if report := compare("one\ntwo\n"); !strings.Contains(report, "write it with UPDATE_GOLDEN=1") {
		t.Errorf("without a file it said %q", report)
	}
	t.Setenv("UPDATE_GOLDEN", "1")
	if report := compare("one\ntwo\n"); report != "" {
		t.Errorf("writing said %q", report)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	t.Setenv("UPDATE_GOLDEN", "")
	if report := compare("one\ntwo\n"); report != "" {
		t.Errorf("what is equal said %q", report)
	}
	report := compare("one\nthree\n")
	if !strings.Contains(report, "answer.golden differs") || !strings.Contains(report, "three") {
		t.Errorf("what differs said %q", report)
	}
	if text, _ := os.ReadFile(path); string(text) != "one\ntwo\n" {
		t.Errorf("comparing changed the file to %q", text)
	}
}

func TestGolden_says_why_it_cannot_write(t *testing.T) {
	t.Setenv("UPDATE_GOLDEN", "1")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(file, "below", "a.golden"), filepath.Dir(file)} {
		report := judge(t, func(v *verdict) { testkit.Golden(v, path, []byte("x")) })
		if !strings.Contains(report, "golden file") {
			t.Errorf("%s: it said %q", path, report)
		}
	}
}
