package auth

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// Parameters are the costs of argon2id (RFC 9106).
type Parameters struct {
	// Memory is in KiB.
	Memory uint32
	Passes uint32
	Lanes  uint8
}

// DefaultParameters are those of rule M-36: 19 MiB and two passes take about 40 ms and keep guessing dear.
func DefaultParameters() Parameters { return Parameters{Memory: 19_456, Passes: 2, Lanes: 1} }

const (
	saltSize = 16
	hashSize = 32
)

// The largest costs that a stored hash may ask for. A hash from elsewhere must not make one sign-in take gigabytes.
const (
	maxMemory = 64 << 10
	maxPasses = 8
	maxLanes  = 4
	maxPart   = 64
	minSalt   = 8
	minHash   = 16
)

// encoded is a hash with what is needed to compute it again.
type encoded struct {
	Parameters

	salt, hash []byte
}

func derive(password []byte, p Parameters, salt []byte, size uint32) []byte {
	return argon2.IDKey(password, salt, p.Passes, p.Memory, p.Lanes, size)
}

// String writes the hash in PHC form.
func (e encoded) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, e.Memory, e.Passes, e.Lanes,
		base64.RawStdEncoding.EncodeToString(e.salt), base64.RawStdEncoding.EncodeToString(e.hash))
}

// matches computes the hash of password again.
func (e encoded) matches(password []byte) bool {
	again := derive(password, e.Parameters, e.salt, uint32(len(e.hash))) //nolint:gosec // bounded by maxPart
	return subtle.ConstantTimeCompare(again, e.hash) == 1
}

// weaker tells whether e costs less than a hash made with p.
func (e encoded) weaker(p Parameters) bool {
	return e.Memory < p.Memory || e.Passes < p.Passes || e.Lanes < p.Lanes || len(e.salt) < saltSize || len(e.hash) < hashSize
}

var (
	errHashForm   = errors.New("stored password hash is not an argon2id string")
	errHashBounds = errors.New("stored password hash asks for too much or too little work")
)

// decodeHash reads a PHC string and refuses costs out of bounds before anything is computed.
func decodeHash(text string) (encoded, error) {
	fields := splitPHC(text)
	if len(fields) != 5 || fields[0] != "argon2id" || fields[1] != fmt.Sprintf("v=%d", argon2.Version) {
		return encoded{}, errHashForm
	}
	costs, err := decodeCosts(fields[2])
	if err != nil {
		return encoded{}, err
	}
	e := encoded{Parameters: costs}
	if e.salt, err = decodePart(fields[3], minSalt); err != nil {
		return encoded{}, err
	}
	if e.hash, err = decodePart(fields[4], minHash); err != nil {
		return encoded{}, err
	}
	// One hash has one text: this refuses leading zeros and text behind the costs.
	if e.String() != text {
		return encoded{}, errHashForm
	}
	return e, nil
}

func decodeCosts(text string) (Parameters, error) {
	var p Parameters
	var lanes uint32
	if _, err := fmt.Sscanf(text, "m=%d,t=%d,p=%d", &p.Memory, &p.Passes, &lanes); err != nil {
		return Parameters{}, errHashForm
	}
	if lanes < 1 || lanes > maxLanes || p.Passes < 1 || p.Passes > maxPasses || p.Memory < 8*lanes || p.Memory > maxMemory {
		return Parameters{}, errHashBounds
	}
	p.Lanes = uint8(lanes)
	return p, nil
}

// splitPHC returns the fields between the dollar signs of a PHC string.
func splitPHC(text string) []string {
	rest, found := strings.CutPrefix(text, "$")
	if !found {
		return nil
	}
	return strings.Split(rest, "$")
}

func decodePart(text string, least int) ([]byte, error) {
	if base64.RawStdEncoding.DecodedLen(len(text)) > maxPart {
		return nil, errHashBounds
	}
	part, err := base64.RawStdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errHashForm
	}
	if len(part) < least {
		return nil, errHashBounds
	}
	return part, nil
}
