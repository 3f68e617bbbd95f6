package mockbase

import "strconv"

// keySet finds a key that an object already has. Small objects are searched, large ones get an index.
type keySet struct {
	index map[string]int
}

// add returns the first member of the same key, or nil when m is new to n and its caller will append it.
func (s *keySet) add(n *Node, m Member) *Member {
	const small = 12
	if len(n.Members) < small {
		for i := range n.Members {
			if n.Members[i].Key == m.Key {
				return &n.Members[i]
			}
		}
		return nil
	}
	if s.index == nil {
		s.index = make(map[string]int, 4*small)
		for i := range n.Members {
			s.index[n.Members[i].Key] = i
		}
	}
	if i, taken := s.index[m.Key]; taken {
		return &n.Members[i]
	}
	s.index[m.Key] = len(n.Members)
	return nil
}

// duplicate notes that a key of the object at pointer is given twice.
func (f *Faults) duplicate(pointer string, again Member, first *Member) {
	f.Append(FieldError{
		Pointer: childPointer(pointer, again.Key), Code: FieldDuplicateKey, Line: again.Line, Column: again.Column,
		Detail: "the key " + quote(again.Key) + " is given twice, first in line " + strconv.Itoa(first.Line) + ", column " + strconv.Itoa(first.Column),
	})
}
