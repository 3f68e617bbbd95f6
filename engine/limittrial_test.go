package engine_test

import (
	"testing"
	"time"

	"github.com/mockbase/mockbase"
)

// M-214: a request of a trial that states no key has that of a request without anything: what a template says.
func TestM214_trials_have_the_keys_of_templates(t *testing.T) {
	t.Parallel()
	for of, want := range map[string]string{
		"'template:{{ var.x }}'":                   "blue",
		"'template:{{ var.x }}-{{ session }}'":     "blue-",
		"'template:plain'":                         "plain",
		"'template:{{ header \"X-C\" }}'":          "(none)",
		"[ 'template:{{ var.x }}', 'header:X-C' ]": `"blue", "(none)"`,
		"'header:X-C'":                             "global",
		"global":                                   "global",
	} {
		s := newStage(t, "variables: { x: blue }\n"+limitedMock("limit: 1, window: 1h, key: "+of))
		trial, err := s.SimulateLimit("prj_shop", "mock:a", &mockbase.LimitTrial{Requests: []mockbase.LimitTrialRequest{{}, {Key: "red"}, {}}})
		if err != nil || len(trial) != 3 || trial[0].Key != want || trial[1].Key != "red" || trial[2].Allowed {
			t.Errorf("key %s: %+v: %v", of, trial, err)
		}
	}
	s := newStage(t, "variables: { x: blue }\n"+limitedMock("limit: 1, window: 1h, key: 'template:{{ var.x }}'"))
	s.wants(t, "/a", "a")
	keys, err := s.LimitKeys("prj_shop", "", "mock:a")
	if err != nil || len(keys) != 1 || keys[0].Label != "blue" {
		t.Errorf("the request had the key %+v: %v", keys, err)
	}
	tried := &mockbase.LimitPolicy{Limit: 1, Window: time.Hour, Keys: []string{"template:{{ var.x }}!"}}
	trial, err := s.SimulateLimit("prj_shop", "mock:a", &mockbase.LimitTrial{Policy: tried, Count: 1, RatePerSecond: 1})
	if err != nil || len(trial) != 1 || trial[0].Key != "blue!" {
		t.Errorf("another policy: %+v: %v", trial, err)
	}
}
