package mockbase_test

import (
	"testing"

	"github.com/mockbase/mockbase"
)

func FuzzDecodeBackoff(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"key":"header:X-Api-Key"}`, `{"key":["ip","path:id"],"tolerance":"50ms","maxEarly":0,"minGrowth":1.5}`, `{"minGrowth":0}`,
		`{"minJitter":0.1,"maxAttempts":6,"maxHerd":0.5,"maxUnsafe":0,"minRejections":1,"giveUpAfter":"1m"}`, `{"maxHerd":2}`, `{"maxEarly":1e999}`, `{"key":"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		b, err := mockbase.DecodeBackoff(src)
		switch code := mockbase.ErrorCode(err); {
		case err != nil && code != mockbase.CodeValidationFailed && code != mockbase.CodeMalformedBody:
			t.Fatalf("%q: %v", src, err)
		case err != nil:
		case b == nil:
			t.Fatalf("%q is nothing, and no error", src)
		case b.MinGrowth != nil && !(*b.MinGrowth > 0), b.MaxHerd != nil && !(*b.MaxHerd >= 0 && *b.MaxHerd <= 1):
			t.Fatalf("%q: thresholds %+v", src, b)
		}
	})
}
