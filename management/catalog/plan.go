package catalog

import (
	"encoding/json"

	"github.com/mockbase/mockbase"
)

// Plan says what an apply does or would do (rule M-65).
type Plan struct {
	DryRun bool `json:"dryRun"`
	// Applied tells that the project is now as the plan says.
	Applied bool   `json:"applied"`
	Source  string `json:"source"`
	// Revision is the project's revision: after the change when the plan was applied, else the one that it was made from.
	Revision int64   `json:"revision"`
	Summary  Summary `json:"summary"`

	Created   []Item `json:"created"`
	Updated   []Item `json:"updated"`
	Unchanged []Item `json:"unchanged"`
	Deleted   []Item `json:"deleted"`
	// Orphaned are items of the source that the document no longer has and that stay (rule M-76).
	Orphaned []Item `json:"orphaned"`
	// Conflicts are items that the source may not write; with one of them nothing is applied, unless they are to be kept.
	Conflicts []Item    `json:"conflicts"`
	Warnings  []Warning `json:"warnings"`
}

// Summary counts the items of a plan.
type Summary struct {
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Deleted   int `json:"deleted"`
	Orphaned  int `json:"orphaned"`
	Conflicts int `json:"conflicts"`
}

// Kind is the kind of an item.
type Kind string

// The kinds of item. Settings and defaults are one item each, named like their section, both of KindSettings.
const (
	KindMock       Kind = "mock"
	KindPolicy     Kind = "policy"
	KindVariable   Kind = "variable"
	KindCollection Kind = "collection"
	KindScenario   Kind = "scenario"
	KindDocument   Kind = "document"
	KindSettings   Kind = "settings"
)

// Item is one thing that a definition holds.
type Item struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	// ID is the id of a mock; one that a dry run would create has none yet.
	ID string `json:"id,omitempty"`
	// Changes are the differences of an updated item, at most maxChanges.
	Changes []Change `json:"changes,omitempty"`
	// Reason and Owner belong to a conflict; an item that was made by hand has no owner.
	Reason Reason `json:"reason,omitempty"`
	Owner  string `json:"owner,omitempty"`
}

// Change is one difference. From is missing for a member that is new, To for one that is gone.
type Change struct {
	// Pointer is relative to the item. Beside the members of the document there are "#/source", when the item changes
	// its owner, and "#/order", the place among the mocks of the definition, counted from 1.
	Pointer string          `json:"pointer"`
	From    json.RawMessage `json:"from,omitempty"`
	To      json.RawMessage `json:"to,omitempty"`
}

// Reason says why an item is a conflict.
type Reason string

// The reasons of a conflict (rule M-65). An item that was made by hand counts as edited by hand.
const (
	OwnedBySource Reason = "owned-by-source"
	EditedByHand  Reason = "edited-by-hand"
)

// Warning is something that does not block.
type Warning struct {
	// Severity is "warning".
	Severity string        `json:"severity"`
	Code     mockbase.Code `json:"code"`
	Detail   string        `json:"detail"`
	// File is the one of several that the warning is about; the pointer begins with its name then.
	File    string `json:"file,omitempty"`
	Pointer string `json:"pointer,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

// newPlan makes a plan whose lists are empty and not null.
func newPlan() *Plan {
	return &Plan{
		Created: []Item{}, Updated: []Item{}, Unchanged: []Item{}, Deleted: []Item{}, Orphaned: []Item{}, Conflicts: []Item{},
		Warnings: []Warning{},
	}
}

func (p *Plan) count() {
	p.Summary = Summary{
		Created: len(p.Created), Updated: len(p.Updated), Unchanged: len(p.Unchanged), Deleted: len(p.Deleted),
		Orphaned: len(p.Orphaned), Conflicts: len(p.Conflicts),
	}
}
