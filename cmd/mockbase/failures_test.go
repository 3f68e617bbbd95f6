package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

func text(err error) string {
	var b strings.Builder
	printError(&b, err)
	return b.String()
}

// C-80: where a test has more rights than a user, or another machine's settings, the system call alone is replaced.
func TestC80_a_privileged_port_is_explained(t *testing.T) {
	t.Parallel()
	b := newBinder(map[string]config.Origin{"addr": "env MOCKBASE_ADDR"})
	b.listen = func(context.Context, string, string) (net.Listener, error) {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EACCES)}
	}
	_, err := b.bind(t.Context(), []namedAddress{{"addr", "0.0.0.0:80"}})
	want := `mockbase: listen on 0.0.0.0:80 (--addr, MOCKBASE_ADDR; from env MOCKBASE_ADDR): port 80 is kept for the administrator
  fix: choose one above 1023, or give the program the capability: setcap cap_net_bind_service=+ep, or --cap-add NET_BIND_SERVICE for a container
`
	if got := text(err); got != want || codeOf(err) != exitEnvironment {
		t.Errorf("code %d and\n%s", codeOf(err), got)
	}
}

func TestC21_when_one_address_fails_none_stays_open(t *testing.T) {
	t.Parallel()
	b := newBinder(nil)
	var first net.Listener
	b.listen = func(ctx context.Context, network, address string) (net.Listener, error) {
		if first != nil {
			return nil, &net.OpError{Op: "listen", Net: network, Err: errors.New("no more sockets")}
		}
		l, err := new(net.ListenConfig).Listen(ctx, network, address)
		first = l
		return l, err
	}
	_, err := b.bind(t.Context(), []namedAddress{{"addr", "127.0.0.1:0"}, {"admin-addr", "127.0.0.1:65535"}})
	if got := text(err); !strings.Contains(got, "listen on 127.0.0.1:65535 (--admin-addr, MOCKBASE_ADMIN_ADDR; from ): no more sockets") {
		t.Error(got)
	}
	if _, err := first.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the first listener is open: %v", err)
	}
	if next := b.next("127.0.0.1:65535"); next != "127.0.0.1:0" {
		t.Errorf("the port above the last is %s", next)
	}
}

// A folder that this user cannot write. The administrator can write everywhere, so that the test becomes somebody else.
func TestC80_a_data_directory_that_cannot_be_written_is_explained(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	c := program(t.Context(), t, "serve", "--addr=127.0.0.1:0", "--data-dir="+dir)
	who := strconv.Itoa(asSomebody(t, c, dir))
	said, _ := c.CombinedOutput()
	if code := c.ProcessState.ExitCode(); code != int(exitEnvironment) {
		t.Errorf("ended with %d: %s", code, said)
	}
	for _, want := range []string{
		"mockbase: open data directory " + dir + ": it cannot be written: " + dir + " is ",
		"-r-x------, we are " + who + ":",
		"\n  fix: chown -R " + who + ":",
		dir + ", or use a named volume (-v mockbase:/data)\n",
	} {
		if !strings.Contains(string(said), want) {
			t.Errorf("it says\n%s\nand not %q", said, want)
		}
	}
}

// asSomebody lets a command run as another user, if this one is the administrator, and returns the user. The program and
// the folder are made reachable.
func asSomebody(t *testing.T, c *exec.Cmd, folder string) int {
	t.Helper()
	if os.Getuid() != 0 {
		return os.Getuid()
	}
	const somebody = 65532
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody}}
	target, err := filepath.EvalSymlinks(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{c.Path, folder, target} {
		for up := filepath.Dir(path); up != os.TempDir() && up != filepath.Dir(up); up = filepath.Dir(up) {
			if err := os.Chmod(up, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return somebody
}

func TestC80_a_newer_database_is_explained_and_stays_as_it_is(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, "--data-dir="+dir).stop(t)
	db, err := sql.Open("sqlite", filepath.Join(dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	c := program(t.Context(), t, "serve", "--addr=127.0.0.1:0", "--data-dir="+dir)
	said, _ := c.CombinedOutput()
	if code := c.ProcessState.ExitCode(); code != int(exitEnvironment) {
		t.Errorf("ended with %d", code)
	}
	if want := "a newer MockBase wrote the database: its version is 9999, this program (dev) knows up to "; !strings.Contains(string(said), want) {
		t.Errorf("it says\n%s", said)
	}
	if after, err := os.ReadFile(filepath.Join(dir, databaseName)); err != nil || string(after) != string(before) {
		t.Errorf("the database was changed: %v", err)
	}
}

func TestC80_a_full_disk_and_other_troubles_are_explained(t *testing.T) {
	t.Parallel()
	d := &dataDir{path: "/srv/data"}
	full := &fs.PathError{Op: "write", Path: "/srv/data/mockbase.db", Err: syscall.ENOSPC}
	if got := text(d.explain(full)); !strings.HasPrefix(got, "mockbase: open data directory /srv/data: the disk is full: ") || !strings.Contains(got, "\n  fix: free some space") {
		t.Error(got)
	}
	loop := &fs.PathError{Op: "open", Path: "/srv/data/mockbase.db", Err: syscall.ELOOP}
	if got := text(d.explain(loop)); !strings.Contains(got, "/srv/data/mockbase.db: too many levels of symbolic links\n  fix: choose a folder") {
		t.Error(got)
	}
}

func TestC80_network_file_systems_are_known(t *testing.T) {
	t.Parallel()
	for number, want := range map[uint32]string{0x6969: "nfs", 0xff534d42: "smb", 0x01021997: "9p", 0xef53: "", 0x01021994: ""} {
		if got := networkKind(number); got != want {
			t.Errorf("%#x is %q, want %q", number, got, want)
		}
	}
	if kind := networkFileSystem(""); kind != "" {
		t.Errorf("memory is %q", kind)
	}
}

func TestC8_errors_read_what_why_and_fix(t *testing.T) {
	t.Parallel()
	public := &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the database is\nbusy", Hint: "try again", Err: errors.New("SELECT secret")}
	for _, test := range []struct {
		err  error
		want string
		code exitCode
	}{
		{fail(exitConflict, "make account", public), "mockbase: make account: the database is busy\n  fix: try again\n", exitConflict},
		{&failure{code: exitUsage, err: errors.New("no"), fix: "yes"}, "mockbase: no\n  fix: yes\n", exitUsage},
		{&faults{code: exitBadInput, lines: []string{"a:1:1: b [c]", "d"}, fixes: []string{"", "e"}}, "a:1:1: b [c]\nd\n  fix: e\n", exitBadInput},
		{fmt.Errorf("wrap: %w", errors.New("nobody explained this")), "mockbase: wrap: nobody explained this\n", exitDefect},
	} {
		if got := text(test.err); got != test.want || codeOf(test.err) != test.code {
			t.Errorf("code %d and %q, want %d and %q", codeOf(test.err), got, test.code, test.want)
		}
	}
}

// C-7 and C-8: a panic is a defect with its own code, and its stack is shown only when it is asked for.
func TestC8_a_defect_says_where_to_report_it(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	p := &process{stdio: stdio{Err: &said}}
	p.printDefect("index out of range")
	if got := said.String(); !strings.HasPrefix(got, "mockbase: defect: index out of range\n  fix: run it again with -vv") || strings.Contains(got, "goroutine") {
		t.Error(got)
	}
	p.verbose = 2
	p.printDefect("again")
	if !strings.Contains(said.String(), "goroutine") {
		t.Error("-vv shows no stack")
	}
	code := run(t.Context(), []string{"schema"}, stdio{Err: &said}, nil) // no standard output: a defect of the caller's
	if code != int(exitDefect) {
		t.Errorf("a panic ends with %d", code)
	}
}

func TestC80_dates_of_certificates_are_warned_about(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	logger := slog.New(slog.NewTextHandler(&said, nil))
	dir := t.TempDir()
	cert, key, err := selfSigned(time.Now().Add(48 * time.Hour)) // valid from tomorrow on
	if err != nil {
		t.Fatal(err)
	}
	c := &certificates{certFile: filepath.Join(dir, "cert"), keyFile: filepath.Join(dir, "key")}
	if _, err := c.get(nil); err == nil {
		t.Error("there is a certificate before one was read")
	}
	if err := os.WriteFile(c.certFile, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.load(logger, time.Now()); err == nil || !strings.Contains(text(err), "read --tls-key") {
		t.Errorf("without a key: %v", err)
	}
	if err := os.WriteFile(c.keyFile, key, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.load(logger, time.Now()); err != nil || !strings.Contains(said.String(), "is not valid yet") {
		t.Errorf("%v, said %s", err, said.String())
	}
}
