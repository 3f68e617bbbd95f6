package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Process is a child that serves. It ends when its standard input does, so that none outlives this program.
type Process struct {
	// Line is the first line that the child wrote.
	Line string

	cmd   *exec.Cmd
	stdin io.Closer
}

// Start starts a program of ours and waits for its first line on standard output.
func Start(ctx context.Context, program string, args ...string) (*Process, error) {
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // the program is one that we built
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	p := &Process{cmd: cmd, stdin: stdin}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		p.End()
		return nil, fmt.Errorf("start %s: it ended at once", program)
	}
	p.Line = strings.TrimSpace(line)
	return p, nil
}

// End closes the child's standard input and waits until it is gone.
func (p *Process) End() {
	_ = p.stdin.Close()
	_ = p.cmd.Wait()
}

// Memory is what the child holds of the machine's memory, in bytes.
func (p *Process) Memory() (int64, error) { return residentMemory(p.cmd.Process.Pid) }

// Peak is the most that it held so far.
func (p *Process) Peak() (int64, error) { return memoryOf(p.cmd.Process.Pid, "VmHWM:") }

// CPU is the processor time that the child has used, its kernel's included.
func (p *Process) CPU() (time.Duration, error) { return processorTime(p.cmd.Process.Pid) }

// processorTime reads what a process and its kernel have used so far from /proc.
func processorTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, fmt.Errorf("read the processor time: %w", err)
	}
	// The fields are counted from behind the program's name, which may hold blanks: utime and stime are the 12th and
	// the 13th, in hundredths of a second.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the processor time: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// residentMemory reads the resident set of a process from /proc.
func residentMemory(pid int) (int64, error) { return memoryOf(pid, "VmRSS:") }

// memoryOf reads a line of a process's status in /proc.
func memoryOf(pid int, name string) (int64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(text)) {
		if kilobytes, found := strings.CutPrefix(line, name); found {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kilobytes), " kB"), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
			}
			return n << 10, nil
		}
	}
	return 0, fmt.Errorf("read the memory of process %d: the kernel does not say", pid)
}
