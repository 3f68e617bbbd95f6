package jsonvalue_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// order is a document of about 2 KB.
func order() []byte {
	var b strings.Builder
	b.WriteString(`{"currency":"EUR","customer":{"id":12345,"name":"Ada Lovelace","email":"ada@example.com"},"items":[`)
	for i := range 21 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"sku":"ABC-%04d","qty":%d,"price":%d.99,"tags":["red","large"],"note":"handle with care"}`, i, i, i*3)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	doc := order()
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jsonvalue.Parse(doc, jsonvalue.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// The measure of BenchmarkParse and BenchmarkTwoCandidates: what a handler does that reads the same body.
func BenchmarkEncodingJSON(b *testing.B) {
	doc := order()
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		var x any
		if err := json.Unmarshal(doc, &x); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTwoCandidates(b *testing.B) {
	doc := order()
	first := jsonvalue.Compile(parse(b, `{"currency":"USD","items":[]}`), jsonvalue.Options{}, nil)
	second := jsonvalue.Compile(parse(b, string(doc)), jsonvalue.Options{}, nil)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		v, err := jsonvalue.Parse(doc, jsonvalue.Limits{})
		if err != nil || first.Matches(v) || !second.Matches(v) {
			b.Fatal("the second candidate does not match")
		}
	}
}
