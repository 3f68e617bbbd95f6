package engine_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// owned is a mock of the project of these tests, as it is when it is about to be stored.
func owned(name, text string) *mockbase.Mock {
	m := textMock(name, "/"+name, text)
	m.ProjectID = "prj_1"
	return m
}

func check(t *testing.T, e *engine.Engine, c *mockbase.Config, m *mockbase.Mock) {
	t.Helper()
	if faults := e.CheckMock(c, m); len(faults) > 0 {
		t.Fatal(faults)
	}
}

func TestAMockThatIsPublishedAsItWasCheckedIsCompiledOnce(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	config := mockbase.Config{}
	old := owned("old", "old")
	publish(t, e, 1, []*mockbase.Mock{old})
	added := owned("added", "added")
	check(t, e, &config, added)
	if waiting := e.Checked(); waiting != 1 {
		t.Fatalf("%d mocks wait to be published, want 1", waiting)
	}
	publish(t, e, 2, []*mockbase.Mock{old, added})
	if waiting := e.Checked(); waiting != 0 {
		t.Errorf("%d mocks wait although they are published", waiting)
	}
	if w := get(e, "/m/shop/added"); w.Code != http.StatusOK || w.Body.String() != "added" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// What was checked under other settings than those that are published is compiled under the new ones.
func TestAMockThatWasCheckedUnderOtherSettingsIsCompiledAnew(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, nil)
	m := owned("added", "added")
	check(t, e, &mockbase.Config{}, m)
	lax := mockbase.Config{Settings: mockbase.Settings{IgnorePathCase: true}}
	if err := e.Publish(snapshot(2, lax, []*mockbase.Mock{m})); err != nil {
		t.Fatal(err)
	}
	if w := get(e, "/m/shop/ADDED"); w.Code != http.StatusOK {
		t.Errorf("the mock answers %d by the settings that it was checked under", w.Code)
	}
}

// A check for settings that are not served, or for no project, keeps nothing.
func TestWhatIsCheckedForNoProjectThatIsServedDoesNotWait(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	check(t, e, &mockbase.Config{}, owned("early", "early"))
	publish(t, e, 1, nil)
	check(t, e, &mockbase.Config{Settings: mockbase.Settings{StrictMethods: true}}, owned("strict", "strict"))
	check(t, e, &mockbase.Config{}, textMock("free", "/free", "free"))
	broken := owned("broken", "broken")
	broken.Request.Path = "/{"
	e.CheckMock(&mockbase.Config{}, broken)
	if waiting := e.Checked(); waiting != 0 {
		t.Errorf("%d mocks wait", waiting)
	}
}

func TestMocksThatAreCheckedAndNeverStoredAreBounded(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, nil)
	for i := range 3 * engine.MaxChecked {
		check(t, e, &mockbase.Config{}, owned("m"+strconv.Itoa(i), "x"))
		if waiting := e.Checked(); waiting > engine.MaxChecked {
			t.Fatalf("%d mocks wait", waiting)
		}
	}
}

func TestALongMockThatIsCheckedDoesNotWait(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, nil)
	long := owned("long", "x")
	long.Document = []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	check(t, e, &mockbase.Config{}, long)
	if e.Checked() > 0 {
		t.Error("a long mock waits")
	}
}
