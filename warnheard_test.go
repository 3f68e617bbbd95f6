package mockbase_test

import (
	"testing"

	"github.com/mockbase/mockbase"
)

func TestU11_a_second_rule_without_a_condition_is_unreachable(t *testing.T) {
	t.Parallel()
	m, err := mockbase.DecodeMock([]byte(`request: GET /a
response: { webSocket: { onMessage: [{ reply: [] }, { when: { text: q }, reply: [] }, { reply: [] }] } }`), mockbase.FormatYAML)
	if err != nil {
		t.Fatal(err)
	}
	list := m.Warnings(nil)
	if len(list) != 1 || list[0].Code != mockbase.WarningUnreachable || list[0].Pointer != "#/response/webSocket/onMessage/2" {
		t.Errorf("the warnings are %+v", list)
	}
}
