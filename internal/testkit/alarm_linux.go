package testkit

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm waits to within some microseconds. The timers of the runtime do not: while nothing else happens they end at whole
// milliseconds, since it sleeps for no less.
type alarm struct {
	fd   int
	file *os.File
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make timer: %w", err)
	}
	return &alarm{fd: fd, file: os.NewFile(uintptr(fd), "timer")}, nil
}

// wait returns false if the alarm was stopped before d, which is above zero, was over.
func (a *alarm) wait(d time.Duration) bool {
	end := unix.ItimerSpec{Value: unix.NsecToTimespec(d.Nanoseconds())}
	if err := unix.TimerfdSettime(a.fd, 0, &end, nil); err != nil {
		return false
	}
	var expirations [8]byte
	_, err := a.file.Read(expirations[:])
	return err == nil
}

// stop ends a wait, and the alarm. It may be called again.
func (a *alarm) stop() { _ = a.file.Close() }
