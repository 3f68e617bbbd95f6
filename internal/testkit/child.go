//go:build unix

package testkit

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

const (
	// startPatience bounds the wait for a child to answer or to end; Redis needs 15 ms.
	startPatience = 30 * time.Second
	// pollEvery is the pace at which a condition outside this process is looked at again.
	pollEvery = 2 * time.Millisecond
)

// child is a process that cannot outlive the test binary.
type child struct {
	cmd    *exec.Cmd
	output bytes.Buffer // Read it only after gone is closed.
	gone   chan struct{}
}

// startChild starts a program. The kernel is asked to kill it when the thread that started it ends, and that thread is
// therefore locked to a goroutine that waits for the child: however the test binary ends, no server stays behind.
func startChild(ctx context.Context, args []string) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, args[0], args[1:]...), gone: make(chan struct{})} // #nosec G204 -- a test's own child
	c.cmd.Stdout = &c.output
	c.cmd.Stderr = &c.output
	c.cmd.SysProcAttr = dieWithParent()
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			// How the child ended is no news: the tests end it themselves.
			_ = c.cmd.Wait()
		}
		close(c.gone)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// await waits until ready says so. It fails, with what the child wrote, if the child ends or takes too long.
func (c *child) await(ready func() bool) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	late := time.NewTimer(startPatience)
	defer late.Stop()
	for !ready() {
		select {
		case <-tick.C:
		case <-c.gone:
			return fmt.Errorf("%s ended: %s", c.cmd.Path, c.output.Bytes())
		case <-late.C:
			c.end(syscall.SIGKILL)
			return fmt.Errorf("%s does not answer: %s", c.cmd.Path, c.output.Bytes())
		}
	}
	return nil
}

func (c *child) end(sig syscall.Signal) {
	// A process that has ended already is what the caller wants; a stopped one must run to hear anything but SIGKILL.
	_ = c.cmd.Process.Signal(sig)
	_ = c.cmd.Process.Signal(syscall.SIGCONT)
	late := time.NewTimer(startPatience)
	defer late.Stop()
	select {
	case <-c.gone:
	case <-late.C:
		_ = c.cmd.Process.Kill()
		<-c.gone
	}
}
