package parking

import (
	"errors"
	"net"
	"sync"
)

// gate is the listener that net/http sees. It accepts what the lot hands out.
type gate struct {
	net.Listener

	lot *Lot
	// failed hears why no new connections come any more, unless that is on purpose.
	failed chan error
	closed chan struct{}
	once   sync.Once
}

// Accept waits for the next connection on which something happens.
func (g *gate) Accept() (net.Conn, error) {
	g.lot.widen()
	select {
	case conn := <-g.lot.tenancies:
		return conn, nil
	case err := <-g.failed:
		return nil, err
	case <-g.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept, and the listener below.
func (g *gate) Close() error {
	g.once.Do(func() { close(g.closed) })
	if err := g.Listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err //nolint:wrapcheck // it stands in for the listener
	}
	return nil // The lot has closed it.
}
