package guard_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// BenchmarkJudge measures an allowed request behind layers.
func BenchmarkJudge(b *testing.B) {
	var networks []guard.Entry
	for i := range guard.MaxRules {
		address := netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 1})
		networks = append(networks, guard.Entry{Network: netip.PrefixFrom(address, 32)})
	}
	huge := ratelimit.Policy{Name: "client", Limit: 1 << 40, Window: time.Hour}
	for _, c := range []struct {
		name  string
		rules guard.Rules
	}{
		{"no layer", guard.Rules{}},
		{"lists of 10,000 networks", guard.Rules{Safelist: networks, Blocklist: networks}},
		{"a tier", guard.Rules{Tiers: []guard.Tier{{Policy: huge}}}},
		{"a ban rule", guard.Rules{Bans: []guard.BanRule{login()}}},
		{"a circuit", guard.Rules{Circuit: &guard.Circuit{Mode: guard.CircuitDisabled}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			store, err := memstore.New(memstore.Options{})
			if err != nil {
				b.Fatal(err)
			}
			limiter, err := ratelimit.NewLimiter(ratelimit.Options{Store: store})
			if err != nil {
				b.Fatal(err)
			}
			g, err := guard.New(guard.Options{Rules: c.rules, Limiter: limiter, Bans: newBans(b), Circuits: memstore.NewCircuits()})
			if err != nil {
				b.Fatal(fmt.Errorf("guard: %w", err))
			}
			defer g.Close()
			a, ctx := signIn("203.0.113.9"), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				a.Now = time.Time{}
				v := g.Judge(ctx, a)
				g.Done(ctx, a, &v, ratelimit.Outcome{Status: 200})
			}
		})
	}
}
