package engine_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine survives its request: none is left when every case, the broken and the abandoned ones among them, is over.
func TestMain(m *testing.M) {
	// net/http itself waits half a second before it closes a connection that it has refused.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}
