//go:build unix && !linux

package testkit

import (
	"sync"
	"time"
)

// alarm waits as well as the timers of the runtime do.
type alarm struct {
	once    sync.Once
	stopped chan struct{}
}

func newAlarm() (*alarm, error) { return &alarm{stopped: make(chan struct{})}, nil }

// wait returns false if the alarm was stopped before d was over.
func (a *alarm) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-a.stopped:
		return false
	}
}

// stop ends a wait, and the alarm. It may be called again.
func (a *alarm) stop() { a.once.Do(func() { close(a.stopped) }) }
