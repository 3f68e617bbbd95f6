package fault_test

import (
	"testing"

	"github.com/mockbase/mockbase/internal/testkit"
)

// No goroutine survives a fault.
func TestMain(m *testing.M) {
	testkit.VerifyNoLeaks(m)
}
