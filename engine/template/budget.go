package template

import (
	"context"
	"time"
)

// The bounds of one rendering (rule P9).
const (
	// MaxSteps bounds the iterations of range and the calls of template.
	MaxSteps = 100_000
	// MaxTime bounds how long a rendering takes. It is looked at between functions, each of which bounds its own work.
	MaxTime = time.Second
	// MaxOutput bounds the bytes of the output, and of each text inside the rendering.
	MaxOutput = 10 << 20
	// maxWork bounds the bytes that all functions of one rendering produce together: a loop over a large text would
	// otherwise fill the memory faster than the collector empties it.
	maxWork = 64 << 20
	// maxList bounds the items of a list, and itemBytes is what one costs in work.
	maxList   = 100_000
	itemBytes = 32
	// glance is how many operations, and glanceWork how many bytes of arguments, pass between two looks at the clock.
	glance     = 256
	glanceWork = 64 << 10
)

// budget is what a rendering has used up. The clock starts at the first look at it, so that a short rendering never asks
// for the time.
type budget struct {
	steps   int
	work    int
	since   int
	read    int
	started time.Time
}

// step counts an iteration or a call.
func (b *budget) step(ctx context.Context) error {
	if b.steps++; b.steps > MaxSteps {
		return failuref("too many steps: a rendering has at most %d", MaxSteps)
	}
	return b.operation(ctx, 0)
}

// operation counts one statement or function call that reads some bytes, and looks at the clock now and then.
func (b *budget) operation(ctx context.Context, size int) error {
	b.since++
	b.read += size
	if b.since < glance && b.read < glanceWork {
		return nil
	}
	b.since, b.read = 0, 0
	if b.started.IsZero() {
		b.started = time.Now()
	} else if time.Since(b.started) > MaxTime {
		return failuref("too much time: a rendering takes at most %s", MaxTime)
	}
	return alive(ctx)
}

// produce counts the bytes of a value before or after it is made. A single value is bounded like the output.
func (b *budget) produce(size int) error {
	if size > MaxOutput {
		return failuref("the result is too large: a value has at most %d bytes", MaxOutput)
	}
	if b.work += size; b.work > maxWork {
		return failuref("too much work: the values of a rendering have at most %d bytes together", maxWork)
	}
	return nil
}

// produceList counts the items of a list before it is made.
func (b *budget) produceList(length int) error {
	if length > maxList {
		return failuref("the list is too long: it has at most %d items", maxList)
	}
	return b.produce(length * itemBytes)
}
