package journal

import "github.com/mockbase/mockbase"

// Position returns the place of an exchange in the order of a project's recording, for [Journal.News]. An empty id is now.
// It reports false when the exchange is not kept.
func (j *Journal) Position(projectID, id string) (int64, bool) {
	r := (*j.rings.Load())[projectID]
	switch {
	case r == nil:
		return 0, id == ""
	case id != "":
		return r.placeOf(id)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.placed, true
}

// News returns what was recorded of a project after a place and what the filter selects of it, oldest first (rule M-70). No
// more than most exchanges are looked at. Readers come for it when they have time: recording waits for none, and what makes room before it is read
// is counted.
func (j *Journal) News(projectID string, after int64, f mockbase.TrafficFilter, most int) mockbase.TrafficNews {
	r := (*j.rings.Load())[projectID]
	if r == nil {
		return mockbase.TrafficNews{Place: after}
	}
	wanted := newFilter(f, r.oldest(j.clock()))
	news := mockbase.TrafficNews{Place: after}
	all, last, lost := r.after(after, most)
	news.Place, news.Lost = last, lost
	for _, x := range all {
		if wanted.selects(x) {
			news.Items = append(news.Items, x)
		}
	}
	return news
}
