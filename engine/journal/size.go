package journal

import (
	"net/http"
	"reflect"

	"github.com/mockbase/mockbase"
)

// What Go's structures take on a 64-bit machine.
const (
	stringHeader = 16
	sliceHeader  = 24
	// mapHeader and mapGroup are an http.Header's fixed part and one group of eight keys and values.
	mapHeader = 48
	mapGroup  = 8 + 8*(stringHeader+sliceHeader)
	// slotSize is an exchange's part of the ring, counted double because the ring doubles as it grows.
	slotSize = 2 * 24
	// idSize is an exchange's id, which is always of one length.
	idSize = 32
)

// fixedSize is what every exchange takes, however short its parts are.
func fixedSize() int64 {
	return int64(reflect.TypeFor[mockbase.Exchange]().Size()) + slotSize + idSize //nolint:gosec // a type's size is small
}

// variableSize is what the parts of an exchange take beyond fixedSize. Path and query are parts of the target's text,
// and names of mocks, policies and methods are shared with the program, so that they take nothing.
func variableSize(x *mockbase.Exchange) int64 {
	n := len(x.Request.Target) + len(x.Request.Host) + len(x.Request.Body) + len(x.Response.Body) + len(x.Error)
	n += headerSize(x.Request.Header) + headerSize(x.Response.Header)
	n += len(x.ClientKey)
	for i := range x.Limits {
		n += limitSize + len(x.Limits[i].Key)
	}
	for i := range x.Webhooks {
		n += webhookSize(&x.Webhooks[i])
	}
	for i := range x.NearMisses {
		n += nearMissSize(&x.NearMisses[i])
	}
	for i := range x.Moments {
		n += momentSize + len(x.Moments[i].State)
	}
	for _, hint := range x.Hints {
		n += stringHeader + len(hint)
	}
	return int64(n)
}

// headerSize counts a header's map, slices and texts. The client's User-Agent is among them.
func headerSize(h http.Header) int {
	if len(h) == 0 {
		return 0
	}
	n := mapHeader + (len(h)+7)/8*mapGroup
	for name, values := range h {
		n += len(name) + len(values)*stringHeader
		for _, value := range values {
			n += len(value)
		}
	}
	return n
}

// What one limiter's outcome, one near miss, one missed part and one moment take beside their texts.
const (
	momentSize   = 48
	limitSize    = 80
	missSize     = 72
	missPartSize = 80
)

// What one webhook and one of its attempts take beside their texts.
const (
	hookSize    = 128
	attemptSize = 112
)

func webhookSize(w *mockbase.RecordedWebhook) int {
	n := hookSize + len(w.ID) + len(w.URL) + len(w.Error)
	for i := range w.Attempts {
		n += attemptSize + len(w.Attempts[i].Body) + len(w.Attempts[i].Error)
	}
	return n
}

func nearMissSize(m *mockbase.NearMiss) int {
	n := missSize
	for i := range m.Failed {
		n += missPartSize + len(m.Failed[i].Name) + len(m.Failed[i].Expected) + len(m.Failed[i].Actual)
	}
	for _, part := range m.Passed {
		n += stringHeader + len(part)
	}
	return n
}
