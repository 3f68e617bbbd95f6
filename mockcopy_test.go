package mockbase_test

import (
	"reflect"
	"testing"

	"github.com/mockbase/mockbase"
)

// A copy shares what is read alone, and nothing of the copy's own reaches the original.
func TestACopyOfAMockIsItsOwn(t *testing.T) {
	t.Parallel()
	for _, document := range []string{
		`{"name":"one","request":"GET /a","response":{"json":{"n":2.50}}}`,
		`{"name":"two","request":"GET /a","select":"sequence","responses":[{"text":"a"},{"text":"b"}]}`,
	} {
		m, err := mockbase.DecodeMock([]byte(document), mockbase.FormatJSON)
		if err != nil {
			t.Fatal(err)
		}
		c := m.Copy()
		if !reflect.DeepEqual(m, c) {
			t.Errorf("the copy is\n%+v\nof\n%+v", c, m)
		}
		c.Order, c.Responses = 7, append(c.Responses, mockbase.Response{Status: 404})
		if m.Order != 0 || len(m.Responses) == len(c.Responses) {
			t.Errorf("the original became %+v", m)
		}
		if len(m.Responses) == 1 && &m.Responses[0] == &c.Responses[0] {
			t.Error("the copy keeps the original in memory")
		}
	}
}
