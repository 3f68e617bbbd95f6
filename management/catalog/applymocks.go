package catalog

import (
	"bytes"
	"slices"

	"github.com/mockbase/mockbase"
)

// step is what the plan says about one mock of the document.
type step struct {
	item Item
	// created and conflict leave the mock out of the comparison.
	created, conflict bool
}

// planMocks compares the mocks, arranges those that stay, and fills in the change set.
func (p *planning) planMocks(named []*mockbase.Mock) {
	byName := make(map[string]*mockbase.Mock, len(p.from.Mocks))
	for _, m := range p.from.Mocks {
		byName[m.Name] = m
	}
	p.mocks, p.former = make([]*mockbase.Mock, len(named)), make([]*mockbase.Mock, len(named))
	steps := make([]step, len(named))
	held := make(map[string]bool, len(named))
	for i, m := range named {
		held[m.Name] = true
		p.former[i] = byName[m.Name]
		if p.former[i] == nil {
			p.mocks[i], steps[i] = p.createMock(m)
		} else {
			p.mocks[i], steps[i] = p.updateMock(m, p.former[i])
		}
	}
	staying := p.settleOthers(held)
	all, moved := arrange(staying, p.mocks, p.former)
	p.noteMoves(steps, moved)
	p.place(all, moved)
	for _, s := range steps {
		p.note(s)
	}
}

func (p *planning) createMock(m *mockbase.Mock) (*mockbase.Mock, step) {
	made := p.catalog.newMock(m, p.from.Project.ID, p.by)
	made.Owner = p.owner()
	return made, step{item: Item{Kind: KindMock, Name: made.Name}, created: true}
}

func (p *planning) updateMock(m, old *mockbase.Mock) (*mockbase.Mock, step) {
	item := Item{Kind: KindMock, Name: old.Name, ID: old.ID}
	differs := !bytes.Equal(m.Document, old.Document)
	if item.Reason = p.conflict(holding{old.Owner, old.Edited, differs}); item.Reason != "" {
		item.Owner = old.Owner
		return old, step{item: item, conflict: true}
	}
	owner := p.ownerOf(old.Owner)
	if differs {
		item.Changes = differences(old.Document, m.Document)
	}
	item.Changes = append(item.Changes, ownerChange(old.Owner, owner)...)
	if len(item.Changes) == 0 && m.Origin == old.Origin {
		return old, step{item: item}
	}
	next := p.catalog.nextMock(m, old, p.by)
	if len(item.Changes) == 0 {
		// Only the line in the file moved: nothing that a version stands for.
		next.Version, next.UpdatedAt, next.UpdatedBy = old.Version, old.UpdatedAt, old.UpdatedBy
	}
	next.Owner, next.Edited, next.Origin = owner, false, m.Origin
	return next, step{item: item}
}

// settleOthers decides about the mocks that the document does not hold, and returns all mocks that stay.
func (p *planning) settleOthers(held map[string]bool) []*mockbase.Mock {
	staying := make([]*mockbase.Mock, 0, len(p.from.Mocks))
	for _, m := range p.from.Mocks {
		if !held[m.Name] && p.settle(Item{Kind: KindMock, Name: m.Name, ID: m.ID}, holding{owner: m.Owner, edited: m.Edited}) == fateDeleted {
			p.set.Delete = append(p.set.Delete, m.ID)
			continue
		}
		staying = append(staying, m)
	}
	return staying
}

// settle notes what becomes of an item that the document does not hold.
func (p *planning) settle(item Item, h holding) fate {
	became := p.fateOf(h)
	switch became {
	case fateDeleted:
		p.plan.Deleted = append(p.plan.Deleted, item)
	case fateOrphaned:
		p.plan.Orphaned = append(p.plan.Orphaned, item)
	case fateConflict:
		item.Reason, item.Owner = EditedByHand, h.owner
		p.plan.Conflicts = append(p.plan.Conflicts, item)
	case fateKept:
	}
	return became
}

// noteMoves adds the places of mocks that had to move, counted among the mocks of the document that were there before.
func (p *planning) noteMoves(steps []step, moved map[string]bool) {
	if len(moved) == 0 {
		return
	}
	var before []*mockbase.Mock
	for _, m := range p.former {
		if m != nil {
			before = append(before, m)
		}
	}
	slices.SortStableFunc(before, func(a, b *mockbase.Mock) int { return int(a.Order - b.Order) })
	rank := make(map[string]int, len(before))
	for i, m := range before {
		rank[m.ID] = i + 1
	}
	to := 0
	for i, m := range p.former {
		if m == nil {
			continue
		}
		to++
		if moved[m.ID] && !steps[i].conflict {
			steps[i].item.Changes = append(steps[i].item.Changes, orderChange(rank[m.ID], to))
		}
	}
}

// place gives every mock its order and puts those that are not what they were into the change set.
func (p *planning) place(all []*mockbase.Mock, moved map[string]bool) {
	stored := make(map[string]*mockbase.Mock, len(p.from.Mocks))
	for _, m := range p.from.Mocks {
		stored[m.ID] = m
	}
	number(all, func(m *mockbase.Mock) bool { return stored[m.ID] == nil || moved[m.ID] })
	final := make(map[string]*mockbase.Mock, len(all))
	for _, m := range all {
		final[m.ID] = m
		if stored[m.ID] != m {
			p.set.Put = append(p.set.Put, m)
		}
	}
	for i, m := range p.mocks {
		p.mocks[i] = final[m.ID]
	}
	p.next.Mocks = all
}

// note puts an item of the document into the list of what happens to it.
func (p *planning) note(s step) {
	switch {
	case s.created:
		p.plan.Created = append(p.plan.Created, s.item)
	case s.conflict:
		p.plan.Conflicts = append(p.plan.Conflicts, s.item)
	case len(s.item.Changes) > 0:
		p.plan.Updated = append(p.plan.Updated, s.item)
	default:
		p.plan.Unchanged = append(p.plan.Unchanged, s.item)
	}
}
