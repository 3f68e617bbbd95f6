package catalog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// M-76, A8: whatever two sources and a hand do to a project, the mocks of each document follow their file order, the
// others keep their places, and the same document again changes nothing.
func TestM76_orders_of_many_applies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			h := newHouse(t, catalog.Quotas{})
			h.createProject(t, "shop")
			for round := range 12 {
				h.createMock(t, fmt.Sprintf("name: hand-%d\nrequest: GET /\nresponse: {}", round))
				source := []string{"one", "two"}[random.IntN(2)]
				d := randomDefinition(t, random, source)
				o := catalog.ApplyOptions{Source: source, Prune: random.IntN(3) == 0}
				before := h.names(t)
				if _, err := h.Apply(t.Context(), "shop", d, o); err != nil {
					t.Fatal(err)
				}
				checkOrder(t, d, before, h.names(t))
				s, _ := h.Project("shop")
				checkRising(t, s.Mocks)
				again, err := h.Apply(t.Context(), "shop", d, o)
				if err != nil || again.Revision != s.Project.Revision || again.Summary.Unchanged != len(d.Mocks) {
					t.Errorf("the same again: %+v, %v", again, err)
				}
			}
		})
	}
}

// randomDefinition holds some of ten mocks of a source in any order.
func randomDefinition(t *testing.T, random *rand.Rand, source string) *mockbase.Definition {
	t.Helper()
	var text strings.Builder
	text.WriteString("mocks:\n- { name: " + source + "-always, request: GET /, response: {} }\n")
	for _, n := range random.Perm(10)[:random.IntN(10)] {
		fmt.Fprintf(&text, "- { name: %s-%d, request: GET /, response: { status: %d } }\n", source, n, 200+random.IntN(2))
	}
	return decodeDefinition(t, text.String())
}

func checkOrder(t *testing.T, d *mockbase.Definition, before, after []string) {
	t.Helper()
	var file []string
	for _, m := range d.Mocks {
		file = append(file, m.Name)
	}
	inFile := func(name string) bool { return slices.Contains(file, name) }
	got := slices.DeleteFunc(slices.Clone(after), func(name string) bool { return !inFile(name) })
	if diff := cmp.Diff(file, got); diff != "" {
		t.Errorf("order of the document's mocks (-want +got):\n%s", diff)
	}
	others := slices.DeleteFunc(slices.Clone(after), inFile)
	kept := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return !slices.Contains(others, name) })
	if diff := cmp.Diff(kept, others); diff != "" {
		t.Errorf("order of the others (-want +got):\n%s", diff)
	}
}

func checkRising(t *testing.T, mocks []*mockbase.Mock) {
	t.Helper()
	for i := 1; i < len(mocks); i++ {
		if mocks[i].Order <= mocks[i-1].Order {
			t.Fatalf("%s has the order %d and follows %s with %d", mocks[i].Name, mocks[i].Order, mocks[i-1].Name, mocks[i-1].Order)
		}
	}
}

// The room between two mocks is used up after some applies; then the ones behind move, and nothing else changes.
func TestM76_many_mocks_put_into_one_gap(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	var inside []string
	for n := range 40 {
		inside = append([]string{fmt.Sprintf("- { name: n%d, request: GET /, response: {} }", n)}, inside...)
		text := "mocks:\n- { name: first, request: GET /, response: {} }\n" + strings.Join(inside, "\n") + "\n- { name: last, request: GET /, response: {} }"
		plan, err := h.Apply(t.Context(), "shop", decodeDefinition(t, text), catalog.ApplyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if plan.Summary.Updated != 0 {
			t.Errorf("apply %d updated %+v", n, plan.Updated)
		}
		s, _ := h.Project("shop")
		checkRising(t, s.Mocks)
		checkOrder(t, decodeDefinition(t, text), h.names(t), h.names(t))
	}
	if last := h.mock(t, "last"); last.Version != 1 {
		t.Errorf("a mock that only moved is at version %d", last.Version)
	}
}

// M-76: a dry run tells exactly what the apply then does.
func TestM76_a_dry_run_equals_the_apply(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 2))
		h := newHouse(t, catalog.Quotas{})
		h.createProject(t, "shop")
		for range 6 {
			d := randomDefinition(t, random, "one")
			o := catalog.ApplyOptions{Source: "one", Prune: random.IntN(2) == 0, DryRun: true}
			dry, err := h.Apply(t.Context(), "shop", d, o)
			if err != nil {
				t.Fatal(err)
			}
			o.DryRun, o.IfRevision = false, dry.Revision
			done, err := h.Apply(t.Context(), "shop", d, o)
			if err != nil {
				t.Fatal(err)
			}
			dry.DryRun, dry.Applied, dry.Revision = done.DryRun, done.Applied, done.Revision
			for i := range done.Created {
				done.Created[i].ID = ""
			}
			if diff := cmp.Diff(dry, done); diff != "" {
				t.Errorf("plan (-dry run +apply):\n%s", diff)
			}
		}
	}
}

func TestM76_of_several_applies_of_one_revision_one_wins(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	errs := make([]error, 8)
	var group sync.WaitGroup
	for i := range errs {
		d := decodeDefinition(t, fmt.Sprintf("mocks: [{ name: m%d, request: GET /, response: {} }, { name: n%d, request: GET /, response: {} }]", i, i))
		group.Go(func() {
			_, errs[i] = h.Apply(t.Context(), "shop", d, catalog.ApplyOptions{IfRevision: 1})
		})
	}
	group.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		wantCode(t, err, mockbase.CodeVersionMismatch)
	}
	if names := h.names(t); won != 1 || len(names) != 2 {
		t.Errorf("%d applies won and left %v", won, names)
	}
}

func TestA9_files_of_one_project_share_its_names(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	one := decodeDefinition(t, "mocks:\n- { request: GET /a, response: {} }\n- { name: get-a-2, request: GET /b, response: {} }")
	two := decodeDefinition(t, "mocks:\n- { request: GET /a, response: {} }\n- { request: GET /a, response: {} }")
	both := &mockbase.Definition{Mocks: slices.Concat(one.Mocks, two.Mocks)}
	if _, err := h.LoadFiles(t.Context(), "shop", both, "mocks"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"get-a", "get-a-2", "get-a-3", "get-a-4"}, h.names(t)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	again, err := h.LoadFiles(t.Context(), "shop", both, "mocks")
	if err != nil || again.Summary.Unchanged != 4 {
		t.Errorf("loading again: %+v, %v", again, err)
	}
	three := decodeDefinition(t, "mocks:\n- { name: get-a-2, request: GET /c, response: {} }")
	_, err = h.LoadFiles(t.Context(), "shop", &mockbase.Definition{Mocks: slices.Concat(both.Mocks, three.Mocks)}, "mocks")
	fields := wantCode(t, err, mockbase.CodeValidationFailed).Fields
	if len(fields) != 1 || fields[0].Pointer != "#/mocks/4/name" || fields[0].Code != mockbase.FieldUnique || fields[0].Line != 2 {
		t.Errorf("a name given in two files: %+v", fields)
	}
}

func TestC22_projects_whose_files_are_gone_go_too(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "by-hand")
	for _, slug := range []string{"one", "two", "three"} {
		if _, err := h.LoadFiles(t.Context(), slug, decodeDefinition(t, "mocks: [{ request: GET /a, response: {} }]"), "mocks/"+slug); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, h.DeleteProject(t.Context(), "one", catalog.Match{}), mockbase.CodeManagedBySource)
	if err := h.UnloadFiles(t.Context(), "two"); err != nil {
		t.Fatal(err)
	}
	var slugs []string
	for _, s := range h.Projects() {
		slugs = append(slugs, s.Project.Slug)
	}
	if diff := cmp.Diff([]string{"by-hand", "two"}, slugs); diff != "" {
		t.Errorf("slugs (-want +got):\n%s", diff)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	wantCode(t, h.UnloadFiles(cancelled), mockbase.CodeUnavailable)
	_, err := h.LoadFiles(t.Context(), "No Slug", &mockbase.Definition{}, "mocks")
	wantCode(t, err, mockbase.CodeValidationFailed)
}

// A definition of more differences than anybody reads is cut.
func TestM65_changes_of_an_item_are_bounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	list := func(step int) *mockbase.Definition {
		var items []string
		for n := range 500 {
			items = append(items, strconv.Itoa(n*step))
		}
		return decodeDefinition(t, "mocks: [{ name: a, request: GET /a, response: { json: ["+strings.Join(items, ",")+"] } }]")
	}
	for step := range 2 {
		plan, err := h.Apply(t.Context(), "shop", list(step+1), catalog.ApplyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if step == 1 && len(plan.Updated[0].Changes) != 100 {
			t.Errorf("%d changes are listed", len(plan.Updated[0].Changes))
		}
	}
}

func TestM5_a_definition_of_many_faults_reports_a_hundred(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	text := "mocks:\n" + strings.Repeat("- { request: GET /a, response: { fault: reset } }\n", 150)
	_, err := h.Apply(t.Context(), "shop", decodeDefinition(t, text), catalog.ApplyOptions{})
	if fields := wantCode(t, err, mockbase.CodeValidationFailed).Fields; len(fields) != mockbase.MaxFieldErrors {
		t.Errorf("%d faults are reported", len(fields))
	}
}

// M-76: a hand that edits a mock and leaves it to its source (as an import may) is in the way of the source, too.
func TestM76_an_edited_mock_of_the_same_source_is_a_conflict(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	d := decodeDefinition(t, "mocks: [{ name: a, request: GET /a, response: {} }, { name: b, request: GET /b, response: {} }]")
	if _, err := h.Apply(t.Context(), "shop", d, catalog.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	h.markEdited(t, "a")
	empty := &mockbase.Definition{Mocks: d.Mocks[1:]}
	for what, apply := range map[string]struct {
		d *mockbase.Definition
		o catalog.ApplyOptions
	}{
		"change": {decodeDefinition(t, "mocks: [{ name: a, request: GET /a, response: { status: 201 } }]"), catalog.ApplyOptions{}},
		"prune":  {empty, catalog.ApplyOptions{Prune: true}},
	} {
		plan, err := h.Apply(t.Context(), "shop", apply.d, apply.o)
		wantCode(t, err, mockbase.CodeApplyConflict)
		if c := plan.Conflicts; len(c) != 1 || c[0].Name != "a" || c[0].Reason != catalog.EditedByHand || c[0].Owner != "default" {
			t.Errorf("%s: conflicts %+v", what, c)
		}
	}
	if plan, err := h.Apply(t.Context(), "shop", d, catalog.ApplyOptions{}); err != nil || plan.Summary.Unchanged != 2 {
		t.Errorf("what does not differ is in nobody's way: %+v, %v", plan, err)
	}
	plan, err := h.Apply(t.Context(), "shop", empty, catalog.ApplyOptions{Prune: true, Adopt: true})
	if err != nil || plan.Summary.Deleted != 1 {
		t.Errorf("adopted and pruned: %+v, %v", plan, err)
	}
}

// markEdited does to a mock what only imports will do, and loads everything anew.
func (h *house) markEdited(t *testing.T, name string) {
	t.Helper()
	s, _ := h.Project("shop")
	m := *h.mock(t, name)
	m.Edited = true
	set := mockbase.ChangeSet{ProjectID: s.Project.ID, IfRevision: s.Project.Revision, Put: []*mockbase.Mock{&m}}
	if err := h.store.Apply(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	h.Catalog = catalog.New(catalog.Options{Store: h.store, Plane: h.plane})
	if err := h.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// M-161: who applies may be kept from a part of a project by what would happen to it, in a dry run as well.
func TestM161_a_plan_that_is_not_permitted_changes_nothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	full := decodeDefinition(t, "settings: { trailingSlash: ignore }\nmocks: [{ name: a, request: GET /a, response: {} }]")
	if _, err := h.Apply(t.Context(), "shop", full, catalog.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	before, _ := h.Project("shop")
	refused := mockbase.Errorf(mockbase.CodeForbidden, "no")
	for _, dry := range []bool{true, false} {
		var deleted []catalog.Item
		plan, err := h.Apply(t.Context(), "shop", decodeDefinition(t, "mocks: []"), catalog.ApplyOptions{
			Prune: true, DryRun: dry, Permit: func(p *catalog.Plan) error { deleted = p.Deleted; return refused },
		})
		if mockbase.ErrorCode(err) != mockbase.CodeForbidden || plan != nil {
			t.Errorf("dry run %v: plan %+v, error %v", dry, plan, err)
		}
		if len(deleted) != 1 || deleted[0].Kind != catalog.KindSettings {
			t.Errorf("dry run %v: asked about %+v", dry, deleted)
		}
	}
	if after, _ := h.Project("shop"); after != before {
		t.Error("a refused apply changed the project")
	}
}

// M-76: names that nobody gave go round those of other sources, and are the same when they are made again.
func TestM76_names_that_are_made_up_never_collide_with_another_source(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	one := decodeDefinition(t, "mocks:\n- { request: GET /a/w, response: {} }")
	other := decodeDefinition(t, "mocks:\n- { request: GET /a-w, response: {} }")
	if _, err := h.Apply(t.Context(), "shop", one, catalog.ApplyOptions{Source: "one"}); err != nil {
		t.Fatal(err)
	}
	for round, created := range []int{1, 0} {
		plan, err := h.Apply(t.Context(), "shop", other, catalog.ApplyOptions{Source: "other", Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Conflicts) > 0 || len(plan.Created) != created {
			t.Errorf("round %d: %+v", round, plan)
		}
	}
	named := decodeDefinition(t, "mocks:\n- { name: get-a-w, request: GET /b, response: {} }")
	plan, err := h.Apply(t.Context(), "shop", named, catalog.ApplyOptions{Source: "third", Keep: true})
	if err != nil || len(plan.Conflicts) != 1 {
		t.Errorf("a name that was given: %+v, %v", plan, err)
	}
}
