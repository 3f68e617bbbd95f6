package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
)

// readmeBlock is a fenced block of the README: its language, the words behind it, and its text.
type readmeBlock struct {
	language string
	words    []string
	text     string
	line     int
}

var fence = regexp.MustCompile("(?ms)^```([a-z]+)([^\n]*)\n(.*?)^```$")

func readmeBlocks(tb testing.TB, text string) []readmeBlock {
	tb.Helper()
	var blocks []readmeBlock
	for _, at := range fence.FindAllStringSubmatchIndex(text, -1) {
		blocks = append(blocks, readmeBlock{
			language: text[at[2]:at[3]], words: strings.Fields(text[at[4]:at[5]]), text: text[at[6]:at[7]],
			line: 1 + strings.Count(text[:at[0]], "\n"),
		})
	}
	return blocks
}

// A reader copies the README's blocks from the first to the last into a shell in a fresh clone; so does this test. A
// block that shows an answer holds what the block before it prints, but for what changes from run to run.
func TestEveryBlockOfTheREADMEWorksAsItStands(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	text, err := os.ReadFile(filepath.Join(r.dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	printed := ""
	for _, b := range readmeBlocks(t, r.local(string(text))) {
		switch b.language {
		case "sh":
			printed = r.shell(b)
		case "yaml":
			r.write(b)
		case "http", "json":
			if want, got := stable(b.text), stable(printed); !fits(want, got) {
				t.Errorf("README.md:%d shows\n%s\nand the block before it prints\n%s", b.line, want, got)
			}
		}
	}
}

// reader is somebody who follows the README in a clone of the repository.
type reader struct {
	t     *testing.T
	dir   string
	env   []string
	ports []string
}

// readmePorts are the ports that the README names; whoever runs the tests may use them for something else.
var readmePorts = []string{"8080", "8081", "8082", "8090"}

func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{t: t, dir: cloneTree(t)}
	for range readmePorts {
		r.ports = append(r.ports, testkit.FreePort(t))
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte(standInForDocker), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "MOCKBASE_") && !strings.HasPrefix(pair, "MAKE") && !strings.HasPrefix(pair, "PATH=") {
			r.env = append(r.env, pair)
		}
	}
	r.env = append(r.env, "MOCKBASE_ADDR=127.0.0.1:"+r.ports[0], "PATH="+bin+":"+os.Getenv("PATH"), "CGO_ENABLED=0")
	return r
}

// local puts this run's ports in the place of the printed ones.
func (r *reader) local(text string) string {
	for i, port := range readmePorts {
		text = strings.ReplaceAll(text, "127.0.0.1:"+port, "127.0.0.1:"+r.ports[i])
		text = strings.ReplaceAll(text, "-p "+port+":", "-p "+r.ports[i]+":")
	}
	return text
}

// shell runs a block and returns what it prints. A background block goes on until the test ends; the next block finds
// its server listening.
func (r *reader) shell(b readmeBlock) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.t.Context()), 5*time.Minute)
	script := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", b.text)
	script.Dir, script.Env = r.dir, r.env
	script.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	script.Cancel = func() error { return syscall.Kill(-script.Process.Pid, syscall.SIGTERM) }
	script.WaitDelay = 10 * time.Second
	if slices.Contains(b.words, "background") {
		r.background(b, script, cancel)
		return ""
	}
	defer cancel()
	var out, said bytes.Buffer
	script.Stdout, script.Stderr = &out, &said
	if err := script.Run(); err != nil {
		r.t.Errorf("README.md:%d: %v\n%s%s%s", b.line, err, b.text, out.String(), said.String())
	}
	return out.String()
}

func (r *reader) background(b readmeBlock, script *exec.Cmd, cancel context.CancelFunc) {
	r.t.Helper()
	said := &transcript{}
	script.Stderr = writerTo(said)
	script.Stdout = writerTo(said)
	if err := script.Start(); err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = script.Wait()
		close(ended)
	}()
	r.t.Cleanup(func() {
		cancel()
		<-ended
		if r.t.Failed() {
			r.t.Logf("README.md:%d said\n%s", b.line, said)
		}
	})
	deadline := time.After(4 * time.Minute)
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for !strings.Contains(said.String(), "mockbase ready url=") {
		select {
		case <-pace.C:
		case <-ended:
			r.t.Fatalf("README.md:%d ended:\n%s", b.line, said)
		case <-deadline:
			r.t.Fatalf("README.md:%d did not get ready:\n%s", b.line, said)
		}
	}
}

// write makes the file that a block names.
func (r *reader) write(b readmeBlock) {
	r.t.Helper()
	for _, word := range b.words {
		name, ok := strings.CutPrefix(word, "file=")
		if !ok {
			continue
		}
		full := filepath.Join(r.dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(b.text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

// transcriptWriter adds what is written to a transcript.
type transcriptWriter struct{ to *transcript }

func writerTo(s *transcript) transcriptWriter { return transcriptWriter{to: s} }

func (w transcriptWriter) Write(p []byte) (int, error) {
	w.to.add(strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

// stable takes out of an answer what no two runs share, and puts its header lines in order.
func stable(answer string) string {
	answer = strings.ReplaceAll(answer, "\r\n", "\n")
	for _, r := range []struct{ pattern, with string }{
		{`Date: .*`, "Date: {date}"},
		{`Retry-After: \d+`, "Retry-After: {n}"},
		{`Reset: \d+`, "Reset: {n}"},
		{`t=\d+`, "t={n}"},
		{`in \d+ s`, "in {n} s"},
		{`Content-Length: \d+`, "Content-Length: {n}"},
	} {
		answer = regexp.MustCompile(r.pattern).ReplaceAllString(answer, r.with)
	}
	head, body, ok := strings.Cut(answer, "\n\n")
	if !ok {
		return strings.TrimSpace(answer)
	}
	lines := strings.Split(head, "\n")
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n") + "\n\n" + strings.TrimSpace(body)
}

// fits tells whether an answer is the one that is shown; … in what is shown stands for anything.
func fits(shown, got string) bool {
	parts := strings.Split(shown, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)\A` + strings.Join(parts, ".*") + `\z`).MatchString(got)
}

// standInForDocker takes the README's docker commands where no Docker runs: it holds them to the Dockerfile's port and
// folder, and runs the program itself in the image's place.
const standInForDocker = `#!/usr/bin/env bash
set -euo pipefail
action=$1
shift
case "$action" in
build)
  test -f Dockerfile
  ;;
run)
  while [ $# -gt 0 ]; do
    case "$1" in
    -p) port=${2%%:*} inside=${2##*:}; shift ;;
    -v) folder=${2##*:}; shift ;;
    --name) name=$2; shift ;;
    esac
    shift
  done
  grep -qxF "EXPOSE $inside" Dockerfile
  grep -qxF "VOLUME [\"$folder\"]" Dockerfile
  MOCKBASE_ADDR=127.0.0.1:$port MOCKBASE_DATA_DIR=$(mktemp -d) ./bin/mockbase serve >/dev/null 2>&1 &
  echo $! >".container-$name"
  ;;
stop)
  kill -TERM "$(cat ".container-$1")"
  ;;
esac
`

// cloneTree copies what git would clone, with what is not committed yet.
func cloneTree(t *testing.T) string {
	t.Helper()
	top := filepath.Join("..", "..")
	list := exec.CommandContext(t.Context(), "git", "-C", top, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	names, err := list.Output()
	if err != nil {
		t.Fatalf("list the tree: %v", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		copyFile(t, filepath.Join(top, name), filepath.Join(dir, name))
	}
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if os.IsNotExist(err) {
		return // deleted, and not committed yet
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, info.Mode().Perm()); err != nil {
		t.Fatal(err)
	}
}
