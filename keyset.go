package mockbase

import "strconv"

// keySet finds a key that an object already has. Small objects are searched, large ones get an index.
type keySet struct {
	index map[string]int
}

// add returns the one of members that has the same key, or nil when the key is new and its caller will append it.
func (s *keySet) add(members []Member, m Member) *Member {
	const small = 12
	if len(members) < small {
		for i := range members {
			if members[i].Key == m.Key {
				return &members[i]
			}
		}
		return nil
	}
	if s.index == nil {
		s.index = make(map[string]int, 4*small)
		for i := range members {
			s.index[members[i].Key] = i
		}
	}
	if i, taken := s.index[m.Key]; taken {
		return &members[i]
	}
	s.index[m.Key] = len(members)
	return nil
}

// duplicate notes that the key at pointer is given twice.
func (f *Faults) duplicate(pointer string, again Member, first *Member) {
	f.Append(FieldError{
		Pointer: pointer, Code: FieldDuplicateKey, Line: again.Line, Column: again.Column,
		Detail: "the key " + quote(again.Key) + " is given twice, first in line " + strconv.Itoa(first.Line) + ", column " + strconv.Itoa(first.Column),
	})
}
