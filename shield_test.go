package mockbase_test

import (
	"testing"
	"time"

	"github.com/mockbase/mockbase"
)

func TestM225_a_ban_is_active_until_its_end(t *testing.T) {
	t.Parallel()
	end := time.Date(2031, 5, 7, 12, 0, 0, 0, time.UTC)
	ban := mockbase.Ban{ExpiresAt: end}
	if !ban.Active(end.Add(-1)) || ban.Active(end) {
		t.Error("the end does not belong to a ban")
	}
	if never := (mockbase.Ban{}); !never.Active(end) {
		t.Error("a ban without an end has ended")
	}
}
