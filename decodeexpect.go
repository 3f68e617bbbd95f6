package mockbase

import (
	"encoding/json"
	"math"
)

// decodeExpect reads what `mockbase verify` checks.
func decodeExpect(at place) *Expect {
	f := at.fields()
	e := &Expect{
		Calls:   decodeMember(f, "calls", decodeRange),
		Backoff: decodeMember(f, "backoff", decodeBackoff),
	}
	f.Done()
	f.needsAny("member")
	return e
}

// Range reads a member that is a number of calls or their bounds; nil is none.
func (f *Fields) Range(name string) *Range { return decodeMember(f, name, decodeRange) }

// decodeRange reads a number or its bounds.
func decodeRange(at place) *Range {
	if at.Kind == NodeNumber {
		n, isWhole, fits := wholeNumber(at.Text)
		if !isWhole || !fits || n < 0 {
			at.fault(FieldRange, "must be a whole number of at least 0, found %s", at.Text)
			return nil
		}
		value := int(n)
		return &Range{Min: &value, Max: &value}
	}
	if at.Kind != NodeObject {
		at.fault(FieldType, "must be a whole number or an object with min and max, found %s", at.describe())
		return nil
	}
	f := at.fields()
	r := &Range{Min: f.optionalInt("min", 0, math.MaxInt), Max: f.optionalInt("max", 0, math.MaxInt)}
	f.Done()
	f.needsAny("of min and max")
	if r.Min != nil && r.Max != nil && *r.Min > *r.Max {
		f.Fault("max", FieldRange, "must be at least the min of %d, found %d", *r.Min, *r.Max)
	}
	return r
}

// Backoff reads a member that holds the thresholds of expect.backoff; nil is none.
func (f *Fields) Backoff(name string) *ExpectBackoff { return decodeMember(f, name, decodeBackoff) }

// DecodeBackoff reads the thresholds of expect.backoff from an object. Pointers begin with #. It fails with
// CodeValidationFailed, and with CodeMalformedBody for what is no JSON.
func DecodeBackoff(src json.RawMessage) (*ExpectBackoff, error) {
	root, err := ParseNode(src, FormatJSON, ParseLimits{})
	if err != nil {
		return nil, err
	}
	var faults Faults
	backoff := decodeBackoff(place{root, "#", &faults})
	return backoff, faults.Err()
}

// decodeBackoff reads the thresholds that a client's back-off is graded by.
func decodeBackoff(at place) *ExpectBackoff {
	f := at.fields()
	b := &ExpectBackoff{}
	if key, ok := f.at("key"); ok {
		b.Keys = decodeLimitKeys(key)
	}
	unbounded := math.Inf(1)
	b.Tolerance = optional(f, (*Fields).Duration, "tolerance")
	b.MaxEarly = f.optionalInt("maxEarly", 0, math.MaxInt)
	if b.MinGrowth = f.optionalFloat("minGrowth", unbounded); b.MinGrowth != nil && *b.MinGrowth == 0 {
		f.Fault("minGrowth", FieldRange, "must be above 0")
	}
	b.MinJitter = f.optionalFloat("minJitter", unbounded)
	b.MaxAttempts = f.optionalInt("maxAttempts", 1, math.MaxInt)
	b.MaxHerd = f.optionalFloat("maxHerd", 1)
	b.MaxUnsafe = f.optionalInt("maxUnsafe", 0, math.MaxInt)
	b.GiveUpAfter = optional(f, (*Fields).Duration, "giveUpAfter")
	b.MinRejections = f.optionalInt("minRejections", 0, math.MaxInt)
	f.Done()
	return b
}
