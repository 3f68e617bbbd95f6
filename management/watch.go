package management

import (
	"slices"
	"sync"
	"time"
)

// The bounds of what is watched for streams of events (rule M-70).
const (
	// maxTold is how many events beside exchanges a stream can go back.
	maxTold = 10_000
	// lookEvery is the least time between two looks at a project, and lookShare the least that a look is in its time: what takes
	// long is looked at less often, so that nobody who calls mocks waits for it.
	lookEvery = 100 * time.Millisecond
	lookShare = 20
	// watchIdle is how long is kept what was told of a project that nobody follows any more.
	watchIdle = 10 * time.Minute
)

// watches are the projects that streams follow.
type watches struct {
	mu        sync.Mutex
	byProject map[string]*watch
}

// join returns the watch of a project with one more reader of some kinds of events. Those that nobody needs any more go.
func (l *watches) join(projectID string, kinds []string, now time.Time) *watch {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, w := range l.byProject {
		if w.readers == 0 && now.Sub(w.left) > watchIdle {
			delete(l.byProject, id)
		}
	}
	w := l.byProject[projectID]
	if w == nil {
		if l.byProject == nil {
			l.byProject = map[string]*watch{}
		}
		// Numbers go on where they were, also when the server was away in between: each event takes longer than a microsecond.
		w = &watch{first: now.UnixMicro(), wanted: map[string]int{}, seen: seen{projectID: projectID}}
		l.byProject[projectID] = w
	}
	w.readers++
	for _, kind := range kinds {
		w.wanted[kind]++
	}
	return w
}

// leave ends what join began.
func (l *watches) leave(w *watch, kinds []string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.readers--
	w.left = now
	for _, kind := range kinds {
		if w.wanted[kind]--; w.wanted[kind] == 0 {
			delete(w.wanted, kind)
		}
	}
}

// kinds lists what somebody wants to be told of a project.
func (l *watches) kinds(w *watch) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]string, 0, len(w.wanted))
	for kind := range w.wanted {
		list = append(list, kind)
	}
	return list
}

// watch finds out what happens in a project beside exchanges, by comparing it with what it was: whoever changes something
// tells nobody, and waits for nobody. All streams of a project share one.
type watch struct {
	// These belong to watches.
	readers int
	left    time.Time
	wanted  map[string]int

	// looking is held by who looks; others take what was found so far.
	looking sync.Mutex
	due     time.Time
	seen    seen

	mu sync.Mutex
	// told are the newest events, the oldest first; first is the number of told[0].
	told  []told
	first int64
}

// told is one event.
type told struct {
	kind string
	// session is the id and the name of the session that it is of; empty for the project's own.
	session sessionName
	data    any
}

// look looks at the project, unless that was done a moment ago.
func (w *watch) look(s *Server) {
	if !w.looking.TryLock() {
		return
	}
	defer w.looking.Unlock()
	if began := time.Now(); began.After(w.due) {
		w.find(s)
		ended := time.Now()
		w.due = ended.Add(max(lookEvery, lookShare*ended.Sub(began)))
	}
}

// settle makes sure that what happened before is found, so that a new reader is not told of it.
func (w *watch) settle(s *Server) {
	w.looking.Lock()
	defer w.looking.Unlock()
	w.seen.looks = 0 // at everything
	w.find(s)
}

func (w *watch) find(s *Server) {
	found := w.seen.compare(s, s.watches.kinds(w))
	if len(found) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, found...)
	if over := len(w.told) - maxTold; over > 0 {
		w.told = slices.Delete(w.told, 0, over)
		w.first += int64(over)
	}
}

// end is the number of the newest event.
func (w *watch) end() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first + int64(len(w.told)) - 1
}

// holds tells whether everything after an event is still there.
func (w *watch) holds(after int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return after >= w.first-1 && after < w.first+int64(len(w.told))
}

// news returns at most so many events after another one, and how many are gone.
func (w *watch) news(after int64, most int) (list []told, lost int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if lost = w.first - 1 - after; lost > 0 {
		after += lost
	} else {
		lost = 0
	}
	rest := w.told[min(after-w.first+1, int64(len(w.told))):]
	return slices.Clone(rest[:min(len(rest), most)]), lost
}
