package bench

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Contender is one of those that take turns in a comparison.
type Contender struct {
	Name string
	Load Load
	// Checks, if set, take the place of the load.
	Checks *Checks
	// CPU is the processor time that the server has used so far; nil where nobody can tell.
	CPU func() (time.Duration, error)
}

// Rounds say how long a comparison goes on.
type Rounds struct {
	// Number of rounds in which every contender has one turn of this Length. A turn before the first is not counted.
	Number int
	Length time.Duration
}

// Score is how a contender did in each round.
type Score struct {
	Name string
	// Rounds are requests a second; CPU is the processor time that the server used for each request, and Medians the
	// time of the middle one where that was measured.
	Rounds  []float64
	CPU     []time.Duration
	Medians []time.Duration
}

// LeastCPU is the least processor time for each request of all rounds. Other work on the machine disturbs it less than
// throughput, and it leaves the clients out.
func (s Score) LeastCPU() time.Duration {
	if len(s.CPU) == 0 {
		return 0
	}
	return slices.Min(s.CPU)
}

// LeastMedian is the shortest of the medians of all rounds.
func (s Score) LeastMedian() time.Duration { return slices.Min(s.Medians) }

// Best is the highest throughput of all rounds: the round that was disturbed least.
func (s Score) Best() float64 { return slices.Max(s.Rounds) }

// Compare lets the contenders take turns. Each round begins with another one, so that none is always the first.
func Compare(ctx context.Context, r Rounds, contenders ...Contender) ([]Score, error) {
	scores := make([]Score, len(contenders))
	for round := -1; round < r.Number; round++ {
		for turn := range contenders {
			i := (turn + max(round, 0)) % len(contenders)
			out, used, err := contenders[i].turn(ctx, r.Length)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", contenders[i].Name, err)
			}
			s := &scores[i]
			s.Name = contenders[i].Name
			if round < 0 {
				continue
			}
			s.Rounds = append(s.Rounds, out.PerSecond())
			s.Medians = append(s.Medians, out.Median)
			if contenders[i].CPU != nil {
				s.CPU = append(s.CPU, used)
			}
		}
	}
	return scores, nil
}

// turn returns what came of one turn, and the processor time for each request.
func (c *Contender) turn(ctx context.Context, length time.Duration) (out Outcome, used time.Duration, err error) {
	cpu := c.CPU
	if cpu == nil {
		cpu = func() (time.Duration, error) { return 0, nil }
	}
	before, err := cpu()
	if err != nil {
		return out, 0, err
	}
	if out, err = c.run(ctx, length); err != nil {
		return out, 0, err
	}
	if out.Refused > 0 {
		return out, 0, fmt.Errorf("%d of %d answers were not 200", out.Refused, out.Requests)
	}
	after, err := cpu()
	return out, (after - before) / time.Duration(max(out.Requests, 1)), err
}

func (c *Contender) run(ctx context.Context, length time.Duration) (Outcome, error) {
	if c.Checks != nil {
		return c.Checks.Run(ctx, length)
	}
	load := c.Load
	load.For = length
	return load.Run(ctx)
}

// Ratio is how a contender stands to another one.
type Ratio struct {
	// Best compares the best rounds; Median is the middle one of the ratios within each round.
	Best, Median float64
}

// RatioOf divides scores that were made in the same rounds.
func RatioOf(subject, floor Score) Ratio {
	each := make([]float64, len(subject.Rounds))
	for i := range each {
		each[i] = subject.Rounds[i] / floor.Rounds[i]
	}
	return Ratio{Best: subject.Best() / floor.Best(), Median: median(each)}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
