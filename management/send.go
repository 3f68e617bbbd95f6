package management

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
)

// The bounds of a series of requests (M-152).
const (
	maxSeries     = 200
	maxSeriesTime = 30 * time.Second
	maxSeriesRate = 1000
	longestKey    = 256
	// A single answer is shown as far as the journal keeps one, those of a series shorter.
	singleBody = 64 << 10
	seriesBody = 4 << 10
)

// series is what is to be sent.
type series struct {
	mockbase.Errand

	count int
	// pause is the time between the beginnings of two requests; 0 sends each when the one before is answered.
	pause time.Duration
}

// sentView is one answer of a series.
type sentView struct {
	Exchange *string     `json:"exchange"`
	Status   int         `json:"status"`
	Headers  [][2]string `json:"headers"`
	BodySize int64       `json:"bodySize"`
	bodyView
	DurationMs float64 `json:"durationMs"`
	Broken     bool    `json:"broken,omitempty"`
}

// send makes requests to the mocks, as a client would but past the shield (M-152, rule M-79). It ends with the caller's
// patience, and answers what there is after 30 seconds.
func (s *Server) send(c *call) error {
	work := &series{Errand: mockbase.Errand{ProjectID: c.project.Project.ID}, count: 1}
	if err := c.object(typeJSON, work.read); err != nil {
		return err
	}
	work.Request.Client = s.addressOf(c)
	work.MaxBody = seriesBody
	if work.count == 1 {
		work.MaxBody = singleBody
	}
	// Counters, states and limits move, so that it is a change like another.
	if err := s.audited(c); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.ctx(), maxSeriesTime)
	defer cancel()
	items, err := s.sendAll(ctx, work)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, struct {
		Items []sentView `json:"items"`
	}{items})
}

func (w *series) read(f *mockbase.Fields) {
	readSample(f, &w.Request)
	readSession(f, &w.Session)
	f.Int("count", &w.count, 1, maxSeries)
	if f.Text("key", &w.Key) && (w.Key == "" || len(w.Key) > longestKey) {
		f.Fault("key", mockbase.FieldLimit, "must have 1 to %d bytes", longestKey)
	}
	var rate int
	if f.Int("ratePerSecond", &rate, 1, maxSeriesRate) {
		w.pause = time.Second / time.Duration(rate)
		if time.Duration(w.count-1)*w.pause > maxSeriesTime {
			f.Fault("ratePerSecond", mockbase.FieldRange, "%d requests at this rate take longer than %s", w.count, maxSeriesTime)
		}
	}
}

// sendAll sends a series, in its order.
func (s *Server) sendAll(ctx context.Context, w *series) ([]sentView, error) {
	results := make([]*mockbase.Sent, w.count)
	failed := make([]error, w.count)
	var under sync.WaitGroup
	began := time.Now()
	for i := range w.count {
		if w.pause == 0 {
			results[i], failed[i] = s.Mocks.Send(ctx, &w.Errand)
		} else if waitUntil(ctx, began.Add(time.Duration(i)*w.pause)) {
			under.Go(func() { results[i], failed[i] = s.Mocks.Send(ctx, &w.Errand) })
		}
		if ctx.Err() != nil || w.pause == 0 && failed[0] != nil {
			break
		}
	}
	under.Wait()
	items := []sentView{}
	for i, sent := range results {
		switch {
		case failed[i] != nil:
			return nil, failed[i]
		case sent != nil:
			items = append(items, sentOf(sent))
		}
	}
	return items, nil
}

// waitUntil waits for a time; it returns false when the context ends before.
func waitUntil(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func sentOf(r *mockbase.Sent) sentView {
	return sentView{
		Exchange: maybeText(r.Exchange), Status: r.Status, Headers: headerPairs(r.Header), BodySize: r.BodySize,
		bodyView: showBody(r.Body, r.BodySize), DurationMs: milliseconds(r.Duration), Broken: r.Broken,
	}
}
