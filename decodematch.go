package mockbase

import (
	"encoding/json"
	"math"
	"mime"
	"net/http"
	"strings"
	"time"
)

// decodeMatches reads a map of names to matches.
func decodeMatches(entries []entry) []NamedMatch {
	if len(entries) == 0 {
		return nil
	}
	list := make([]NamedMatch, len(entries))
	for i, e := range entries {
		if len(e.name) > maxMatcherName {
			e.key.fault(FieldLimit, "the name has %d bytes, at most %d are allowed: shorten it", len(e.name), maxMatcherName)
		}
		list[i] = NamedMatch{Name: e.name, Match: decodeMatch(e.place)}
	}
	return list
}

// decodeMatch reads what a value must satisfy: a scalar, operators, or a list of those that must all hold (rule K9).
func decodeMatch(at place) Match {
	if at.Kind != NodeList {
		return Match{decodeMatchOne(at)}
	}
	list := at.items(1, math.MaxInt)
	match := make(Match, len(list))
	for i, item := range list {
		match[i] = decodeMatchOne(item)
	}
	return match
}

// decodeMatchOne reads a scalar, which means equals, or operators.
func decodeMatchOne(at place) Operators {
	switch at.Kind {
	case NodeObject:
		return decodeOperators(at)
	case NodeList:
		at.fault(FieldType, "must be a scalar or an object with operators, found a list")
		return Operators{}
	default:
		return Operators{Equals: at.JSON()}
	}
}

// DecodeOperators reads an object with operators from its JSON text, such as what stands below $match in an expected
// document (rule G16). Faults have pointers below pointer.
func DecodeOperators(src json.RawMessage, pointer string, faults *Faults) Operators {
	n, err := ParseNode(src, FormatJSON, ParseLimits{})
	if err != nil {
		faults.Add(nil, pointer, FieldType, "cannot be read: %v", err)
		return Operators{}
	}
	return decodeOperators(place{Node: n, pointer: pointer, faults: faults})
}

// decodeOperators reads an object with operators.
func decodeOperators(at place) Operators {
	f := at.fields()
	var o Operators
	f.Raw("equals", &o.Equals)
	o.Not = decodeNested(f, "not")
	o.In = decodeValues(f, "in")
	decodeTextOperators(f, &o)
	decodeOrderOperators(f, &o)
	o.Every = decodeNested(f, "every")
	o.All = decodeValues(f, "all")
	o.Exactly = decodeValues(f, "exactly")
	o.Ordered = decodeValues(f, "ordered")
	o.Count = decodeMember(f, "count", func(at place) *Operators { return decodeCount(at, 0) })
	o.AnyOf = decodeAlternatives(f, "anyOf")
	o.AllOf = decodeAlternatives(f, "allOf")
	o.IgnoreCase = optional(f, (*Fields).Bool, "ignoreCase")
	f.Done()
	checkOperators(at, &o)
	return o
}

func decodeTextOperators(f *Fields, o *Operators) {
	o.Contains = optional(f, (*Fields).Text, "contains")
	o.StartsWith = optional(f, (*Fields).Text, "startsWith")
	o.EndsWith = optional(f, (*Fields).Text, "endsWith")
	pattern := func(f *Fields, name string, to *string) bool { return f.regexp(name, to, maxRegexp) }
	o.Matches = optional(f, pattern, "matches")
	o.Search = optional(f, pattern, "search")
	o.Exists = optional(f, (*Fields).Bool, "exists")
	if o.MediaType = optional(f, (*Fields).Text, "mediaType"); o.MediaType != nil && !validMediaType(*o.MediaType) {
		f.Fault("mediaType", FieldPattern, "%s is no media type: write type/subtype, such as application/json", quote(*o.MediaType))
	}
	o.HasItem = optional(f, (*Fields).Text, "hasItem")
}

func validMediaType(text string) bool {
	mediaType, _, err := mime.ParseMediaType(text)
	return err == nil && strings.Contains(mediaType, "/")
}

func decodeOrderOperators(f *Fields, o *Operators) {
	o.GT = optional(f, (*Fields).Number, "gt")
	o.GTE = optional(f, (*Fields).Number, "gte")
	o.LT = optional(f, (*Fields).Number, "lt")
	o.LTE = optional(f, (*Fields).Number, "lte")
	o.Before = optional(f, (*Fields).instant, "before")
	o.After = optional(f, (*Fields).instant, "after")
	o.Type = optional(f, func(f *Fields, name string, to *string) bool {
		return oneOf(f, name, to, "string", "number", "integer", "boolean", "null", "array", "object")
	}, "type")
}

// instant reads an HTTP date or an RFC 3339 time, as text (rule D11).
func (f *Fields) instant(name string, to *string) bool {
	if !f.Text(name, to) {
		return false
	}
	if _, err := time.Parse(time.RFC3339, *to); err == nil {
		return true
	}
	if _, err := http.ParseTime(*to); err == nil {
		return true
	}
	f.Fault(name, FieldPattern, "%s is no instant: write it like 2026-01-31T12:00:00Z or as an HTTP date", quote(*to))
	return false
}

// decodeNested reads an operand that is itself a scalar or operators.
func decodeNested(f *Fields, name string) *Operators {
	return decodeMember(f, name, func(at place) *Operators {
		o := decodeMatchOne(at)
		return &o
	})
}

// decodeValues reads a list of values of any kind.
func decodeValues(f *Fields, name string) []json.RawMessage {
	list := f.list(name, 1, math.MaxInt)
	if list == nil {
		return nil
	}
	values := make([]json.RawMessage, len(list))
	for i, at := range list {
		values[i] = at.JSON()
	}
	return values
}

func decodeAlternatives(f *Fields, name string) []Operators {
	list := f.list(name, 1, math.MaxInt)
	if list == nil {
		return nil
	}
	operators := make([]Operators, len(list))
	for i, at := range list {
		operators[i] = decodeMatchOne(at)
	}
	return operators
}

// decodeCount reads a whole number of at least low, or operators on one.
func decodeCount(at place, low int64) *Operators {
	switch at.Kind {
	case NodeObject:
		o := decodeOperators(at)
		checkNumbers(at)
		return &o
	case NodeNumber:
		if n, isWhole, _ := wholeNumber(at.Text); !isWhole || n < low {
			at.fault(FieldRange, "must be a whole number of at least %d, found %s", low, at.Text)
		}
		return &Operators{Equals: at.JSON()}
	default:
		at.fault(FieldType, "must be a whole number or an object with operators, found %s", at.describe())
		return nil
	}
}

// checkNumbers notes operators on a number that are about texts, and operands that are no numbers.
func checkNumbers(at place) {
	if at.Kind != NodeObject {
		return
	}
	for _, e := range at.entries() {
		switch e.name {
		case "contains", "startsWith", "endsWith", "matches", "search", "before", "after", "type", "mediaType", "hasItem", "ignoreCase":
			e.fault(FieldType, "is about a text, and this is a number: write a whole number, or equals, in, not, gt, gte, lt or lte")
		case "equals":
			checkNumber(e.place)
		case "in", "all", "exactly", "ordered":
			for i := range e.Items {
				checkNumber(e.item(i))
			}
		case "not", "every":
			checkNumberOrMore(e.place)
		case "anyOf", "allOf":
			for i := range e.Items {
				checkNumberOrMore(e.item(i))
			}
		}
	}
}

func checkNumber(at place) {
	if at.Kind != NodeNumber {
		at.fault(FieldType, "must be a number, found %s", at.describe())
	}
}

func checkNumberOrMore(at place) {
	if at.Kind == NodeObject {
		checkNumbers(at)
		return
	}
	checkNumber(at)
}

// checkOperators notes operators that exclude or need others.
func checkOperators(at place, o *Operators) {
	switch n := len(at.Members); {
	case n == 0:
		at.fault(FieldRange, "must have at least one operator")
	case n > 1 && o.Exists != nil && !*o.Exists:
		at.faults.Add(at.Find("exists"), childPointer(at.pointer, "exists"), FieldConflict, "false stands alone: nothing else can hold for what was not sent")
	case n == 1 && o.IgnoreCase != nil:
		at.faults.Add(at.Find("ignoreCase"), childPointer(at.pointer, "ignoreCase"), FieldConflict, "stands alone: it changes the text operators beside it")
	}
}
