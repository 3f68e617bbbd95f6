package engine_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func matchLines(t *testing.T, want string, got []string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(strings.TrimSuffix(want, "\n"), "\n"), got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// file puts a file below the files root.
func (x *exchangeCase) file(t *testing.T, name, data string) {
	t.Helper()
	if x.options.FilesRoot == "" {
		x.options.FilesRoot = t.TempDir()
	}
	path := filepath.Join(x.options.FilesRoot, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(data), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// breakOff sends a request on a connection of its own and reads until it ends.
func (x *exchangeCase) breakOff(t *testing.T, codings, text string) {
	t.Helper()
	x.conn = nil
	x.dial(t)
	x.sent++
	began := time.Now()
	if _, err := x.conn.Write(wire(t, codings, text)); err != nil {
		t.Fatal(err)
	}
	received, err := io.ReadAll(x.conn)
	x.took, x.body, x.status = time.Since(began), string(received), "eof"
	switch {
	case errors.Is(err, syscall.ECONNRESET):
		x.status = "reset"
	case err != nil:
		t.Fatal(err)
	}
	x.conn.Close()
	x.conn = nil
}

func (x *exchangeCase) broken(t *testing.T, _, data string) {
	t.Helper()
	end, want, _ := strings.Cut(data, "\n")
	if x.status != end {
		t.Errorf("the connection ended with %s, want %s, after %q", x.status, end, x.body)
	}
	if pattern, ok := strings.CutPrefix(want, "~ "); ok {
		if !regexp.MustCompile(strings.TrimSuffix(pattern, "\n")).MatchString(x.body) {
			t.Errorf("received %q, want %s", x.body, pattern)
		}
		return
	}
	if want = strings.ReplaceAll(strings.TrimSuffix(want, "\n"), "\n", "\r\n"); x.body != want {
		t.Errorf("received %q, want %q", x.body, want)
	}
}

func (x *exchangeCase) lasted(t *testing.T, _, data string) {
	t.Helper()
	least, most, _ := strings.Cut(strings.TrimSpace(data), " ")
	from, errFrom := time.ParseDuration(least)
	to, errTo := time.ParseDuration(most)
	if errFrom != nil || errTo != nil {
		t.Fatal(data)
	}
	if x.took < from || x.took > to {
		t.Errorf("the answer took %s, want %s to %s", x.took, from, to)
	}
}
