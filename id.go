package mockbase

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
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
	PrefixSession  = "ses_"
	PrefixBan      = "ban_"
	PrefixInvite   = "inv_"
	PrefixAudit    = "aud_"
	PrefixBackup   = "bkp_"
	PrefixDocument = "doc_"
)

// HasIDPrefix tells whether a name begins as an id does, so that it could stand for what it does not name (rule M-3).
func HasIDPrefix(name string) bool {
	for _, prefix := range [...]string{
		PrefixProject, PrefixMock, PrefixExchange, PrefixUser, PrefixToken, PrefixSignIn, PrefixKey, PrefixSession, PrefixBan, PrefixInvite,
		PrefixAudit, PrefixBackup, PrefixDocument,
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// NewID makes an opaque prefixed ULID for an object made at now. Ids made later sort later, to the millisecond. An id is
// no secret: whoever knows one still needs the right to what it names.
func NewID(prefix string, now time.Time) string {
	var entropy [10]byte
	// Each recorded request has an id, and the system's source of randomness would cost more than the rest of it. This one
	// is ChaCha8, seeded by the system.
	binary.BigEndian.PutUint64(entropy[:8], rand.Uint64())         //nolint:gosec // ids are no secrets
	binary.BigEndian.PutUint16(entropy[8:], uint16(rand.Uint32())) //nolint:gosec // ids are no secrets, and the rest is cut off on purpose
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(now))
	_ = id.SetEntropy(entropy[:])
	return prefix + id.String()
}
