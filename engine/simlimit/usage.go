package simlimit

import (
	"time"

	"github.com/mockbase/mockbase"
)

// scales are how finely the use of a bucket is kept for how long (M-209).
func scales() [4]scale {
	return [...]scale{
		{step: 5 * time.Second, points: 60},
		{step: time.Minute, points: 60},
		{step: 30 * time.Minute, points: 48},
		{step: 3 * time.Hour, points: 56},
	}
}

// daily is the scale of a day.
const daily = 2

type scale struct {
	step   time.Duration
	points int
}

// usage is the use of a bucket over time, on every scale. It takes no memory before its first use.
type usage struct {
	scales [4][]slot
}

// slot is the use within one step.
type slot struct {
	// at is the number of the step since the epoch.
	at                                    int64
	allowed, limited, wouldLimit, delayed int64
	peak                                  float64
}

func (u *usage) note(d *mockbase.LimitDecision, percent float64) {
	for i, s := range scales() {
		if u.scales[i] == nil {
			u.scales[i] = make([]slot, s.points)
		}
		at := d.At.UnixNano() / int64(s.step)
		to := &u.scales[i][at%int64(s.points)]
		if to.at != at {
			*to = slot{at: at}
		}
		switch {
		case !d.Allowed:
			to.limited++
		case d.WouldLimit:
			to.wouldLimit++
		default:
			to.allowed++
		}
		count(&to.delayed, d.Delayed)
		to.peak = max(to.peak, percent)
	}
}

// day sums up the last day.
func (u *usage) day(now time.Time) mockbase.LimitUse {
	var use mockbase.LimitUse
	s := scales()[daily]
	newest := now.UnixNano() / int64(s.step)
	for _, one := range u.scales[daily] {
		if one.at <= newest-int64(s.points) || one.at > newest {
			continue
		}
		use.Allowed += one.allowed
		use.Limited += one.limited
		use.WouldLimit += one.wouldLimit
		use.Delayed += one.delayed
		use.PeakPercent = max(use.PeakPercent, one.peak)
	}
	return use
}

// timeline returns the points of the finest scale that covers a time.
func (u *usage) timeline(now time.Time, span time.Duration) mockbase.LimitTimeline {
	all := scales()
	chosen := len(all) - 1
	for i := range all {
		if time.Duration(all[i].points)*all[i].step >= span {
			chosen = i
			break
		}
	}
	s := all[chosen]
	line := mockbase.LimitTimeline{Step: s.step, Points: make([]mockbase.LimitPoint, s.points)}
	newest := now.UnixNano() / int64(s.step)
	for i := range line.Points {
		at := newest - int64(s.points-1-i)
		p := &line.Points[i]
		p.At = time.Unix(0, at*int64(s.step)).UTC()
		if u.scales[chosen] == nil {
			continue
		}
		if one := u.scales[chosen][at%int64(s.points)]; one.at == at {
			p.Allowed, p.Limited, p.WouldLimit, p.Delayed = one.allowed, one.limited, one.wouldLimit, one.delayed
		}
	}
	return line
}
