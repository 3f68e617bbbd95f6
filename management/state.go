package management

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// Sessions is what tests see and change of the sessions of a project (rules AA7 to AA18). Projects are named by their ids,
// sessions by name or id, the empty name is the session default. Errors are those of the mock plane: CodeNotFound,
// CodeNameTaken, CodeQuotaReached, CodeForbidden and CodeValidationFailed with pointers relative to what was handed in.
type Sessions interface {
	Sessions(projectID string) ([]mockbase.Session, error)
	CreateSession(projectID string, spec *mockbase.SessionSpec) (mockbase.Session, error)
	Session(projectID, nameOrID string) (mockbase.Session, error)
	EndSession(projectID, nameOrID string) error
	// Reset takes levels back, in all sessions if none is named (rule R7).
	Reset(projectID, nameOrID string, levels []mockbase.ResetLevel) error
}

// Clocks is the time of sessions (rules AA13 to AA18).
type Clocks interface {
	SessionClock(projectID, nameOrID string) (mockbase.SessionClock, error)
	ChangeClock(projectID, nameOrID string, change mockbase.ClockChange) (mockbase.SessionClock, error)
}

// Scenarios is where scenarios stand in a session (rules R4 to R6).
type Scenarios interface {
	Scenarios(projectID, nameOrID string) ([]mockbase.ScenarioState, error)
	SetScenario(projectID, nameOrID, scenario string, to *mockbase.ScenarioMove) (mockbase.ScenarioState, error)
	ResetScenarios(projectID, nameOrID string, names []string) ([]mockbase.ScenarioState, error)
}

// State is what mocks remember, session by session.
type State interface {
	Sessions
	Clocks
	Scenarios
	Collections
}

// durationText writes a duration as a person does (rule M-2): 1h30m, 250ms.
func durationText(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	var text strings.Builder
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}} {
		if n := d / unit.size; n > 0 {
			fmt.Fprintf(&text, "%d%s", n, unit.name)
			d %= unit.size
		}
	}
	return text.String()
}

// maybeObject reads a body like object, and takes the absence of one for an object without members (rule Y7).
func (c *call) maybeObject(fill func(*mockbase.Fields)) error {
	if c.Request().ContentLength == 0 {
		var faults mockbase.Faults
		fill(mockbase.NewFields(&mockbase.Node{Kind: mockbase.NodeObject}, "#", &faults))
		return faults.Err()
	}
	return c.object(typeJSON, fill)
}

// most is the number of members that a map of a client's may have.
const most = 100

// texts reads a member that maps names to texts.
func texts(f *mockbase.Fields, name string, to *map[string]string) {
	eachMember(f, name, func(m *mockbase.Member) bool {
		if m.Value.Kind != mockbase.NodeText {
			return false
		}
		if reason := cmp.Or(mockbase.LineFault(m.Key), mockbase.LineFault(m.Value.Text)); reason != "" {
			f.Fault(name, mockbase.FieldPattern, "%s %s: leave it out", shown(m.Key), reason)
		}
		setMember(to, m.Key, m.Value.Text)
		return true
	}, "a text")
}

// scalars reads a member that maps names to texts, numbers, true or false.
func scalars(f *mockbase.Fields, name string, to *map[string]json.RawMessage) {
	eachMember(f, name, func(m *mockbase.Member) bool {
		if !scalar(m.Value) {
			return false
		}
		setMember(to, m.Key, m.Value.JSON())
		return true
	}, "a text, a number, true or false")
}

func setMember[V any](to *map[string]V, name string, value V) {
	if *to == nil {
		*to = map[string]V{}
	}
	(*to)[name] = value
}

func scalar(n *mockbase.Node) bool {
	return n.Kind == mockbase.NodeText || n.Kind == mockbase.NodeNumber || n.Kind == mockbase.NodeBool
}

// eachMember hands the members of an object to take, which says whether a value is what it should be.
func eachMember(f *mockbase.Fields, name string, take func(*mockbase.Member) bool, want string) {
	node := f.Node(name)
	switch {
	case node == nil:
	case node.Kind != mockbase.NodeObject:
		f.Fault(name, mockbase.FieldType, "must be an object")
	case len(node.Members) > most:
		f.Fault(name, mockbase.FieldLimit, "must have at most %d members", most)
	default:
		for i := range node.Members {
			if !take(&node.Members[i]) {
				f.Fault(name, mockbase.FieldType, "%s must be %s", shown(node.Members[i].Key), want)
			}
		}
	}
}
