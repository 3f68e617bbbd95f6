package websocket

import (
	"context"
	"sync"
	"time"
)

const (
	// most is how many messages may wait for their replies, or be replied to, before the client is no longer read.
	most = 256
	// mostBytes is how long they may be together. One that is longer waits alone.
	mostBytes = 1 << 20
)

// glance is how often a client that is not read is looked at.
const glance = 50 * time.Millisecond

// backlog counts the messages that wait for the end of their replies. One reader waits for room.
type backlog struct {
	mu       sync.Mutex
	messages int
	bytes    int
	left     chan struct{}
}

// enter lets a message in if there is room.
func (b *backlog) enter(size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.messages > 0 && (b.messages >= most || b.bytes+size > mostBytes) {
		return false
	}
	b.messages++
	b.bytes += size
	return true
}

// leave tells that a message is answered.
func (b *backlog) leave(size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages--
	b.bytes -= size
	select {
	case b.left <- struct{}{}:
	default:
	}
}

// admit waits until there is room for a message. It returns false when nothing more is said, and ends the conversation when
// the client leaves meanwhile: what it sent and nobody reads hides that from the reader.
func (t *talk) admit(saying context.Context, size int) bool {
	if saying.Err() != nil {
		return false
	}
	if t.backlog.enter(size) {
		return true
	}
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for {
		select {
		case <-t.backlog.left:
			if t.backlog.enter(size) {
				return true
			}
		case <-ticker.C:
			if t.wire.abandoned() {
				t.drop()
			}
		case <-saying.Done():
			return false
		}
	}
}
