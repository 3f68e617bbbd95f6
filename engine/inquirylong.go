package engine

import "github.com/mockbase/mockbase/engine/operator"

// manyValues is from how many on the values under the names of a request are collected once for all conditions. Fewer are
// looked through faster than they are looked up.
const manyValues = 64

// valueBytes is what looking at one value counts for, beside its length.
const valueBytes = 16

// region is a part of a request that holds values under names.
type region uint8

const (
	fromQuery region = iota
	fromHeader
	fromCookies
	fromMatrix
)

// sender is a name in a part of a request.
type sender struct {
	from region
	name string
}

// once returns the values of a name, which are collected when they are asked for first.
func (q *inquiry) once(from region, name string, collect func() texts) texts {
	at := sender{from, name}
	v, known := q.collected[at]
	if known {
		return v
	}
	v = collect()
	v.Distinct = distinct(v.List)
	if q.collected == nil {
		q.collected = make(map[sender]texts)
	}
	q.collected[at] = v
	return v
}

// valuesIn returns the values of a name among pairs.
func (q *inquiry) valuesIn(from region, pairs []pair, name string) texts {
	if len(pairs) < manyValues {
		return valuesOf(pairs, name)
	}
	return q.once(from, name, func() texts { return valuesOf(pairs, name) })
}

// distinct returns each of many values once, nil for few.
func distinct(list []string) []string {
	if len(list) < manyValues {
		return nil
	}
	met := make(map[string]bool)
	var each []string
	for _, value := range list {
		if !met[value] {
			met[value] = true
			each = append(each, value)
		}
	}
	return each
}

// affords tells whether the values of a name may still be looked at. What ordinary requests send is not counted.
func (q *inquiry) affords(v *texts) bool {
	size := len(v.Joined)
	if len(v.List) >= manyValues {
		size += len(v.List) * valueBytes
	}
	for _, value := range v.List[:min(len(v.List), manyValues)] {
		size += len(value)
	}
	return size <= candidateBytes || q.effort.Spend(size)
}

// affordsNames tells whether the names of the query may still be looked at.
func (q *inquiry) affordsNames() bool {
	n := len(q.pairs())
	return n < manyValues || q.effort.Spend(n*valueBytes)
}

// failingOf returns the first clause of a condition that does not hold for values, nil for none.
func (q *inquiry) failingOf(list clauses, v *texts) *operator.Clause[string] {
	if len(list) > 0 && !q.affords(v) {
		return &list[0]
	}
	return list.Failing(v)
}
