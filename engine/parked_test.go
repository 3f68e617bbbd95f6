package engine_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine"
)

// Whoever closes the server does not wait for handlers: a call must not be ended while its handler still parks it.
func TestN13_close_meets_handlers_that_are_about_to_park(t *testing.T) {
	t.Parallel()
	for round := range 40 {
		e := newEngine(t, engine.Options{})
		publishDefinition(t, e, "mocks: [ { request: GET /a, response: { text: a, delay: 5m } } ]\n")
		address, lot := serveInLot(t, e)
		var asking sync.WaitGroup
		for range 24 {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			asking.Go(func() { _, _ = conn.Write([]byte("GET /m/shop/a HTTP/1.1\r\nHost: h\r\n\r\n")) })
		}
		// Each round meets them at another moment.
		<-time.After(time.Duration(round) * 100 * time.Microsecond)
		if err := lot.Close(); err != nil {
			t.Error(err)
		}
		asking.Wait()
	}
}
