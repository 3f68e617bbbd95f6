package bench

import (
	"context"
	"fmt"
	"net"
	"time"
)

// Crowd is a number of connections that are open at the same time.
type Crowd struct {
	conns []net.Conn
}

// Gather connects so many times.
func Gather(ctx context.Context, addr string, size int) (*Crowd, error) {
	c := &Crowd{}
	var dialer net.Dialer
	for range size {
		conn, err := dialer.DialContext(ctx, "tcp", addr)
		if err != nil {
			c.End()
			return nil, fmt.Errorf("open connection %d of %d: %w", len(c.conns)+1, size, err)
		}
		c.conns = append(c.conns, conn)
	}
	return c, nil
}

// Ask sends one request over each connection, and waits until the first bytes of each answer are there.
func (c *Crowd) Ask(request []byte, patience time.Duration) error {
	for i, conn := range c.conns {
		_ = conn.SetDeadline(time.Now().Add(patience))
		if _, err := conn.Write(request); err != nil {
			return fmt.Errorf("send request %d: %w", i+1, err)
		}
	}
	head := make([]byte, len(statusOK))
	for i, conn := range c.conns {
		if _, err := conn.Read(head); err != nil {
			return fmt.Errorf("read answer %d: %w", i+1, err)
		}
		if string(head) != statusOK {
			return fmt.Errorf("answer %d begins with %q", i+1, head)
		}
	}
	return nil
}

// End closes the connections.
func (c *Crowd) End() {
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}
