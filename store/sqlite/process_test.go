package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
	"github.com/mockbase/mockbase/store/sqlite"
)

// startChild runs this test binary as another process and returns what it prints, line by line.
func startChild(t *testing.T, argument string) (child *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child = exec.CommandContext(t.Context(), binary, argument)
	child.Stderr = t.Output()
	// The child ends by itself when this end of its standard input is closed, which the system does when we die.
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		child.Process.Kill()
		child.Wait()
	})
	return child, bufio.NewScanner(stdout)
}

// holdDatabase is the child that has the database.
func holdDatabase(path string) {
	db, err := sqlite.Open(context.Background(), sqlite.Options{Path: path})
	if err != nil {
		fmt.Fprintln(os.Stdout, "error", err)
		return
	}
	fmt.Fprintln(os.Stdout, "open")
	io.Copy(io.Discard, os.Stdin)
	db.Close()
}

// C-80: data directory used by another process: its pid.
func TestC80_two_processes_cannot_share_a_data_directory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	child, lines := startChild(t, "-child.hold="+path)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the child says %q", lines.Text())
	}
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	locked, ok := errors.AsType[*store.LockedError](err)
	if !ok {
		t.Fatalf("opened with %v, want a LockedError", err)
	}
	if locked.PID != child.Process.Pid || !strings.Contains(err.Error(), strconv.Itoa(child.Process.Pid)) {
		t.Errorf("%v does not name process %d", err, child.Process.Pid)
	}
	// A lock must not outlive its process, however it ends.
	child.Process.Kill()
	child.Wait()
	createProject(t, open(t, path), "shop")
}

func TestADatabaseIsOpenOnceInOneProcessToo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	db := open(t, path)
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if locked, ok := errors.AsType[*store.LockedError](err); !ok || locked.PID != os.Getpid() {
		t.Errorf("opened with %v, want a LockedError with process %d", err, os.Getpid())
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	createProject(t, open(t, path), "shop")
}

const (
	killedWriters = 16
	// killedAfter is how many acknowledged mocks the parent waits for before it kills the child in mid-run.
	killedAfter = 400
)

// writeUntilKilled is the child that creates mocks from many goroutines and prints the name of each one that is
// acknowledged.
func writeUntilKilled(path string) {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, sqlite.Options{Path: path})
	if err != nil {
		fmt.Fprintln(os.Stdout, "error", err)
		return
	}
	var printing sync.Mutex
	say := func(line string) {
		printing.Lock()
		defer printing.Unlock()
		fmt.Fprintln(os.Stdout, line)
	}
	for w := range killedWriters {
		slug := fmt.Sprintf("w%02d", w)
		go func() {
			err := db.Apply(ctx, mockbase.ChangeSet{ProjectID: "prj_" + slug, Project: newProject(slug)})
			for n := 1; err == nil; n++ {
				// Two mocks in one change: one without the other would be half a change.
				pair := []*mockbase.Mock{largeMock(slug, 2*n), largeMock(slug, 2*n+1)}
				if err = db.Apply(ctx, mockbase.ChangeSet{ProjectID: "prj_" + slug, IfRevision: int64(n), Put: pair}); err == nil {
					say(fmt.Sprintf("%s %d", slug, n))
				}
			}
			say("error " + err.Error())
		}()
	}
	io.Copy(io.Discard, os.Stdin)
}

// largeMock is a mock whose document covers several pages of the file.
func largeMock(slug string, n int) *mockbase.Mock {
	text := fmt.Sprintf(`{"name":"m%d","request":"GET /%d","response":{"text":"%s"}}`, n, n, strings.Repeat("x", 10_000))
	m, err := mockbase.DecodeMock([]byte(text), mockbase.FormatJSON)
	if err != nil {
		panic(err)
	}
	m.ID, m.ProjectID, m.Version, m.Order = fmt.Sprintf("mck_%s_%d", slug, n), "prj_"+slug, 1, int64(n)
	return m
}

func TestM15_kill_9_loses_no_acknowledged_mock_and_leaves_none_half_there(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	child, lines := startChild(t, "-child.write="+path)
	acknowledged := map[string]int{}
	for n := 0; lines.Scan(); n++ {
		if n == killedAfter {
			child.Process.Kill()
		}
		var slug string
		var change int
		if _, err := fmt.Sscanf(lines.Text(), "%s %d", &slug, &change); err != nil {
			t.Fatalf("the child says %q", lines.Text())
		}
		acknowledged[slug] = max(acknowledged[slug], change)
	}
	child.Wait()
	db := open(t, path)
	snapshots, err := db.Snapshots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range snapshots {
		changes := int(s.Project.Revision) - 1
		if changes < acknowledged[s.Project.Slug] {
			t.Errorf("%s: %d changes acknowledged, %d there", s.Project.Slug, acknowledged[s.Project.Slug], changes)
		}
		if len(s.Mocks) != 2*changes {
			t.Errorf("%s: %d mocks of %d changes with two each", s.Project.Slug, len(s.Mocks), changes)
		}
		delete(acknowledged, s.Project.Slug)
	}
	if len(acknowledged) != 0 {
		t.Errorf("projects lost: %v", acknowledged)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	checkIntegrity(t, path)
}
