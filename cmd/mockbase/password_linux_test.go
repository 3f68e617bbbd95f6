package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal makes a terminal: what is written to keys is typed at it, and what keys reads is what it shows.
func openTerminal(tb testing.TB) (keys, terminal *os.File) {
	tb.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { keys.Close() })
	if err := unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		tb.Fatal(err)
	}
	number, err := unix.IoctlGetUint32(int(keys.Fd()), unix.TIOCGPTN)
	if err != nil {
		tb.Fatal(err)
	}
	if terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { terminal.Close() })
	return keys, terminal
}

// shownBy collects what a command says, as it says it.
type shownBy struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (s *shownBy) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shownBy) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// echoes tells whether a terminal shows what is typed.
func echoes(tb testing.TB, terminal *os.File) bool {
	tb.Helper()
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		tb.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// typeAt runs a command at a terminal, and answers each question when it is asked.
func typeAt(t *testing.T, args, questions, answers []string) (code int, said, screen string) {
	t.Helper()
	keys, terminal := openTerminal(t)
	out := &shownBy{}
	ended := make(chan int, 1)
	go func() {
		ended <- run(context.WithoutCancel(t.Context()), args, stdio{In: terminal, Out: out, Err: out}, []string{"HOME=" + t.TempDir()})
	}()
	for i, question := range questions {
		await(t, question, func() bool { return strings.Contains(out.String(), question) })
		await(t, "a terminal that shows nothing", func() bool { return !echoes(t, terminal) })
		if _, err := keys.WriteString(answers[i] + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	code = <-ended
	if !echoes(t, terminal) {
		t.Error("the terminal still shows nothing")
	}
	// What the terminal showed ends before this mark.
	const mark = "seen"
	if _, err := terminal.WriteString(mark); err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 4096)
	for !strings.Contains(screen, mark) {
		n, err := keys.Read(part)
		if err != nil {
			t.Fatal(err)
		}
		screen += string(part[:n])
	}
	return code, out.String(), screen
}

// C-40: passwords are typed twice and never shown.
func TestC40_a_new_password_is_asked_for_twice_and_never_shown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		again string
		code  exitCode
		says  string
	}{
		"the same":     {testPassword, exitDone, "usr_"},
		"another one":  {testPassword + "!", exitUsage, "the two are not the same"},
		"nothing more": {"", exitUsage, "the two are not the same"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"user", "create", "--admin", "--data-dir=" + filepath.Join(t.TempDir(), "data"), testEmail}
			code, said, screen := typeAt(t, args, []string{"New password: ", "Once more: "}, []string{testPassword, c.again})
			if code != int(c.code) || !strings.Contains(said, c.says) {
				t.Errorf("ended with %d, want %d: %s", code, c.code, said)
			}
			if strings.Contains(screen+said, testPassword) {
				t.Errorf("the password was shown: %q %q", screen, said)
			}
		})
	}
}
