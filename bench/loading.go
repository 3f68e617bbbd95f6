package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// LoadReport is what it costs to serve a document from a file.
type LoadReport struct {
	// Took is the time until the server was ready, CPU its processor time until then, Peak the most memory that it held, in bytes.
	Took, CPU time.Duration
	Peak      int64
}

// Serving starts the binary with an OpenAPI document as its only file, and ends it once it is ready: the document is read, compiled
// and examined then.
func (b *Binary) Serving(ctx context.Context, text []byte) (LoadReport, error) {
	var report LoadReport
	file := filepath.Join(filepath.Dir(b.program), "document.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return report, fmt.Errorf("write the document: %w", err)
	}
	addr, err := freeAddr(ctx)
	if err != nil {
		return report, err
	}
	s := &running{cmd: exec.CommandContext(ctx, b.program, "serve", file), log: &bytes.Buffer{}, addr: addr} //nolint:gosec // our own program
	s.cmd.Env = []string{"HOME=" + filepath.Dir(b.program), "MOCKBASE_ADDR=" + addr}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.started = time.Now()
	if err := s.cmd.Start(); err != nil {
		return report, fmt.Errorf("start mockbase: %w", err)
	}
	if report.Took, err = s.firstAnswer(ctx, []byte("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		return report, err
	}
	defer s.end()
	if report.CPU, err = processorTime(s.cmd.Process.Pid); err != nil {
		return report, err
	}
	report.Peak, err = memoryOf(s.cmd.Process.Pid, "VmHWM:")
	return report, err
}
