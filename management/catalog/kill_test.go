package catalog_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/store/sqlite"
)

// childCreates makes this test binary the process that is killed.
var childCreates = flag.String("child.create", "", "create mocks in this database until killed")

func TestMain(m *testing.M) {
	flag.Parse()
	if *childCreates != "" {
		createUntilKilled(*childCreates)
		return
	}
	m.Run()
}

const (
	creators = 16
	// killedAfter is how many acknowledged mocks the parent waits for, of the thousand that the child is creating.
	killedAfter = 300
	created     = 1000
)

// createUntilKilled creates a thousand mocks in one project from many goroutines, and prints the name of each one that is
// acknowledged.
func createUntilKilled(path string) {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, sqlite.Options{Path: path})
	if err != nil {
		fmt.Fprintln(os.Stdout, "error", err)
		return
	}
	c := catalog.New(catalog.Options{Store: db, Plane: &plane{}})
	if _, err := c.CreateProject(ctx, &mockbase.Project{Slug: "shop"}, ""); err != nil {
		fmt.Fprintln(os.Stdout, "error", err)
		return
	}
	var printing sync.Mutex
	for i := range creators {
		go func() {
			for n := i; n < created; n += creators {
				text := fmt.Sprintf(`{"name":"m%d","request":"GET /%d","response":{"json":{"n":%d}}}`, n, n, n)
				m, err := mockbase.DecodeMock([]byte(text), mockbase.FormatJSON)
				if err == nil {
					m, err = c.CreateMock(ctx, "shop", m, "")
				}
				printing.Lock()
				if err == nil {
					fmt.Fprintln(os.Stdout, m.Name)
				} else {
					fmt.Fprintln(os.Stdout, "error", err)
				}
				printing.Unlock()
			}
		}()
	}
	io.Copy(io.Discard, os.Stdin)
}

func TestM15_kill_9_during_a_thousand_creations_loses_no_acknowledged_mock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	acknowledged := killWhileCreating(t, path)
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c := catalog.New(catalog.Options{Store: db, Plane: &plane{}})
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, ok := c.Project("shop")
	if !ok {
		t.Fatal("the project is gone")
	}
	for _, name := range acknowledged {
		if _, ok := catalog.Mock(s, name); !ok {
			t.Errorf("%s was acknowledged and is gone", name)
		}
	}
	// Between the last acknowledgement that was read and the kill, each creator may have stored some more.
	if have := len(s.Mocks); int64(have) != s.Project.Revision-1 {
		t.Errorf("%d mocks at revision %d", have, s.Project.Revision)
	}
	checkRising(t, s.Mocks)
}

func killWhileCreating(t *testing.T, path string) (acknowledged []string) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), binary, "-child.create="+path)
	child.Stderr = t.Output()
	// The child waits on its standard input, which ends when we do.
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "m%d", &n); err != nil {
			t.Errorf("the child says %q", lines.Text())
		}
		acknowledged = append(acknowledged, lines.Text())
		if len(acknowledged) == killedAfter {
			child.Process.Kill()
		}
	}
	child.Wait()
	if len(acknowledged) < killedAfter || len(acknowledged) == created {
		t.Errorf("the child was killed after %d mocks: not in mid-run", len(acknowledged))
	}
	return acknowledged
}
