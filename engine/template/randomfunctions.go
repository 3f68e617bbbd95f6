package template

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/oklog/ulid/v2"

	"github.com/mockbase/mockbase/engine/chance"
)

// randomFunctions draw from the seed (rules P13 and AA20).
var randomFunctions = map[string]*function{
	"uuid":         drawing(0, 0, uuid),
	"ulid":         {uses: UsesRandom | UsesTime, call: newULID},
	"randomInt":    drawing(2, 2, randomInt),
	"randomFloat":  drawing(2, 2, randomFloat),
	"randomString": {least: 1, most: 1, uses: UsesRandom, call: randomString},
	"pick":         drawing(1, -1, pick),
	"faker":        {least: 1, most: 1, uses: UsesRandom, call: faker, verify: verifyFaker},
}

// maxRandomString is the longest random text.
const maxRandomString = 1 << 20

// drawing makes a function that needs nothing but the generator.
func drawing(least, most int, draw func(rng *rand.Rand, arguments []any) (any, error)) *function {
	return &function{least: least, most: most, uses: UsesRandom, call: func(r *run, arguments []any) (any, error) {
		rng, err := r.scope.random()
		if err != nil {
			return nil, err
		}
		return draw(rng, arguments)
	}}
}

// uuid draws a UUID of version 4 (RFC 9562).
func uuid(rng *rand.Rand, _ []any) (any, error) {
	return chance.UUID(rng), nil
}

// newULID draws a ULID of the session's time.
func newULID(r *run, _ []any) (any, error) {
	rng, err := r.scope.random()
	if err != nil {
		return nil, err
	}
	var id ulid.ULID
	if err := id.SetTime(uint64(max(r.scope.Now.UnixMilli(), 0))); err != nil {
		return nil, failure(err.Error())
	}
	binary.BigEndian.PutUint16(id[6:], uint16(rng.Uint64())) //nolint:gosec // the low bits are meant
	binary.BigEndian.PutUint64(id[8:], rng.Uint64())
	return id.String(), nil
}

// randomInt draws a whole number; both ends can come up.
func randomInt(rng *rand.Rand, arguments []any) (any, error) {
	low, err := toInt(arguments[0])
	if err != nil {
		return nil, err
	}
	high, err := toInt(arguments[1])
	if err != nil {
		return nil, err
	}
	if low > high {
		return nil, failuref("the lowest number %d is above the highest, %d", low, high)
	}
	span := uint64(high) - uint64(low) //nolint:gosec // wraps to the distance
	if span == math.MaxUint64 {
		return integer(int64(rng.Uint64())), nil //nolint:gosec // any number at all
	}
	return integer(int64(uint64(low) + rng.Uint64N(span+1))), nil //nolint:gosec // wraps back between the ends
}

// randomFloat draws a number from the first up to but without the second.
func randomFloat(rng *rand.Rand, arguments []any) (any, error) {
	low, err := toFloat(arguments[0])
	if err != nil {
		return nil, err
	}
	high, err := toFloat(arguments[1])
	if err != nil {
		return nil, err
	}
	if low > high || math.IsInf(high-low, 0) {
		return nil, failure("the lowest number is above the highest, or they are too far apart")
	}
	return number(strconv.FormatFloat(low+rng.Float64()*(high-low), 'f', -1, 64)), nil
}

// randomString draws letters and digits.
func randomString(r *run, arguments []any) (any, error) {
	n, err := toInt(arguments[0])
	if err != nil {
		return nil, err
	}
	if n < 0 || n > maxRandomString {
		return nil, failuref("it draws 0 to %d characters, not %d", maxRandomString, n)
	}
	rng, err := r.scope.random()
	if err != nil {
		return nil, err
	}
	if err := r.operation(int(n)); err != nil {
		return nil, err
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(text), nil
}

// pick draws one of its arguments, or one item of a list.
func pick(rng *rand.Rand, arguments []any) (any, error) {
	if len(arguments) > 1 || !isList(arguments[0]) {
		return arguments[rng.IntN(len(arguments))], nil
	}
	n := size(arguments[0])
	if n == 0 {
		return nil, nil
	}
	item, _ := itemOf(arguments[0], rng.IntN(n))
	return item, nil
}
