package session

import (
	"container/list"
	"time"
)

// scenario is what a session remembers of a scenario: an instance for each value of its key.
type scenario struct {
	instances map[string]*list.Element
	// recent holds the instances, the one used last in front.
	recent list.List
}

// instance is one value of a scenario's key.
type instance struct {
	key string
	// state is "" as long as the scenario has not moved from its initial state.
	state string
	// changedAt is the session's time of the last move, changedBy names who moved.
	changedAt time.Time
	changedBy string
	// places are those of the scenario's mocks.
	places map[Serial]*place
}

func (s *scenario) find(key string) *instance {
	if e := s.instances[key]; e != nil {
		i, _ := e.Value.(*instance)
		return i
	}
	return nil
}

// use returns an instance, made if there is none, as the one used last. What is used least goes beyond most.
func (s *scenario) use(key string, most int) *instance {
	if e := s.instances[key]; e != nil {
		s.recent.MoveToFront(e)
		i, _ := e.Value.(*instance)
		return i
	}
	if s.instances == nil {
		s.instances = make(map[string]*list.Element)
	}
	i := &instance{key: key}
	s.instances[key] = s.recent.PushFront(i)
	for s.recent.Len() > max(most, 1) {
		s.drop(s.recent.Back())
	}
	return i
}

func (s *scenario) drop(e *list.Element) {
	if i, ok := s.recent.Remove(e).(*instance); ok {
		delete(s.instances, i.key)
	}
}

// each calls f for every instance; f returns false to drop it.
func (s *scenario) each(f func(i *instance) bool) {
	for e := s.recent.Front(); e != nil; {
		next := e.Next()
		if i, ok := e.Value.(*instance); ok && !f(i) {
			s.drop(e)
		}
		e = next
	}
}

// dropPlaces forgets the places of mocks that are not known.
func (s *scenario) dropPlaces(known map[Serial]bool) {
	s.each(func(i *instance) bool {
		for serial := range i.places {
			if !known[serial] {
				delete(i.places, serial)
			}
		}
		return i.holds()
	})
}

// holds tells whether there is anything to remember.
func (i *instance) holds() bool { return i.state != "" || len(i.places) > 0 }
