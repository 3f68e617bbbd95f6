package mockbase

import (
	"crypto/rand"
	"time"

	"github.com/oklog/ulid/v2"
)

// The prefixes of ids (rule M-3). A name never begins with one of them, so that a name or an id is accepted in one place.
const (
	PrefixProject  = "prj_"
	PrefixMock     = "mck_"
	PrefixExchange = "xch_"
	PrefixUser     = "usr_"
	PrefixToken    = "tok_"
	PrefixSignIn   = "sgn_"
	PrefixKey      = "key_"
)

// NewID makes an opaque prefixed ULID for an object made at now. Ids made later sort later, to the millisecond.
func NewID(prefix string, now time.Time) string {
	var entropy [10]byte
	rand.Read(entropy[:]) // It never fails: without entropy the process ends.
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(now))
	_ = id.SetEntropy(entropy[:])
	return prefix + id.String()
}
