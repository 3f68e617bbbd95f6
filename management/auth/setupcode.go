package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"sync"
)

// crockford is the alphabet of set-up codes: base 32 without letters that are read for another.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// setupCodeLength is the number of characters of a set-up code: 60 bits, far out of reach of guessing behind the login
// limit.
const setupCodeLength = 12

// SetupCode is the one-time code that proves to a server without users that its first administrator can read its
// output (rule M-38). It is safe for concurrent use.
type SetupCode struct {
	code  string
	once  sync.Once
	spent chan struct{}
}

// NewSetupCode makes a random code.
func NewSetupCode() *SetupCode {
	random := make([]byte, setupCodeLength)
	rand.Read(random) // never fails: it ends the process instead
	for i, b := range random {
		random[i] = crockford[int(b)%len(crockford)]
	}
	return &SetupCode{code: string(random), spent: make(chan struct{})}
}

// String returns the code as it is shown: three groups of four.
func (s *SetupCode) String() string {
	return s.code[:4] + "-" + s.code[4:8] + "-" + s.code[8:]
}

// Matches tells whether input is the code and the code is not used up. Letter case and hyphens do not matter, and the
// letters that are read for digits count as those. The comparison takes the same time for every input of one length.
func (s *SetupCode) Matches(input string) bool {
	want, got := sha256.Sum256([]byte(s.code)), sha256.Sum256([]byte(plainCode(input)))
	same := subtle.ConstantTimeCompare(want[:], got[:]) == 1
	select {
	case <-s.spent:
		return false
	default:
		return same
	}
}

func plainCode(input string) string {
	if len(input) > 8*setupCodeLength {
		return ""
	}
	upper := strings.ToUpper(strings.TrimSpace(input))
	return strings.NewReplacer("-", "", "O", "0", "I", "1", "L", "1").Replace(upper)
}

// Spend uses the code up: it matches nothing any more.
func (s *SetupCode) Spend() {
	s.once.Do(func() { close(s.spent) })
}

// Spent is closed once the code is used up, so that its file can be removed.
func (s *SetupCode) Spent() <-chan struct{} { return s.spent }
