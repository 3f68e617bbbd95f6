package body

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/operator"
)

// hash compares the SHA-256 of the bytes as they were received, coding and all, as base64 does (rule F2).
func (k *compiler) hash() {
	if k.match.SHA256 == nil {
		return
	}
	want := [sha256.Size]byte(k.match.SHA256)
	k.add(check{
		name: "sha256", stated: hex.EncodeToString(want[:]),
		holds: func(m *Message) bool { return m.hash() == want },
		explain: func(m *Message) mockbase.MissedPart {
			sent := m.hash()
			return mockbase.MissedPart{Operator: "equals", Expected: hex.EncodeToString(want[:]), Actual: hex.EncodeToString(sent[:])}
		},
	})
}

// hash is the SHA-256 of the bytes as they were received.
func (m *Message) hash() [sha256.Size]byte {
	sum, _ := m.sum.get(func() ([sha256.Size]byte, error) { return sha256.Sum256(m.raw), nil })
	return sum
}

// size compares the number of bytes as they were received.
func (k *compiler) size() {
	if k.match.Size == nil {
		return
	}
	clause := operator.Number(k.match.Size, k.below("size"), k.faults)
	of := func(m *Message) *texts { return &texts{List: []string{strconv.Itoa(len(m.raw))}} }
	k.add(check{
		name: "size", stated: clause.String(),
		holds: func(m *Message) bool { return clause.Holds(of(m)) },
		explain: func(m *Message) mockbase.MissedPart {
			operator, operand := clause.Failing(of(m))
			return mockbase.MissedPart{Operator: operator, Expected: operand, Actual: size(m.raw)}
		},
	})
}
