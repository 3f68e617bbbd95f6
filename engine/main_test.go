package engine_test

import (
	"testing"

	"github.com/mockbase/mockbase/internal/testkit"
)

// No goroutine survives its request: none is left when every case, the broken and the abandoned ones among them, is over.
func TestMain(m *testing.M) {
	testkit.VerifyNoLeaks(m)
}
