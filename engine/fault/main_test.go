package fault_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine survives a fault.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}
