package guard_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// A guard that bans whoever fails to sign in, asked directly. Package httplimit puts one before an http.Handler.
func Example() {
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) // For an output that stays.
	bans, _ := memstore.NewBans(memstore.BanOptions{})
	rules, _ := guard.ParseBans("3/10m ban=15m", "login")
	g, _ := guard.New(guard.Options{
		Rules: guard.Rules{Bans: rules}, Bans: bans, Clock: func() time.Time { return now },
	})
	defer g.Close()

	ctx := context.Background()
	for try := 1; try <= 4; try++ {
		a := &ratelimit.Attempt{Address: netip.MustParseAddr("203.0.113.9"), Identifier: "203.0.113.9", Method: "POST", Path: "/login"}
		v := g.Judge(ctx, a)
		if !v.Allowed {
			fmt.Fprintln(os.Stdout, "try", try, "is refused by", v.Layer, "with", v.Status, "for", v.RetryAfter)
			continue
		}
		g.Done(ctx, a, &v, ratelimit.Outcome{Status: 401}) // Wrong password.
		fmt.Fprintln(os.Stdout, "try", try, "failed")
	}
	// Output:
	// try 1 failed
	// try 2 failed
	// try 3 failed
	// try 4 is refused by bans with 403 for 15m0s
}
