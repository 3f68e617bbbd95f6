package catalog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// part reads a definition that is a part of a project.
func part(t *testing.T, text string) *mockbase.Definition {
	t.Helper()
	d, err := mockbase.DecodePart([]byte(text), mockbase.FormatYAML)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// told are the faults of an error, or the warnings of a plan, as lines.
func told(plan *catalog.Plan, err error) []string {
	lines := []string{}
	if known, ok := errors.AsType[*mockbase.Error](err); ok {
		for _, f := range known.Fields {
			lines = append(lines, f.Pointer+" "+f.Detail)
		}
		return lines
	}
	for _, w := range plan.Warnings {
		lines = append(lines, w.Pointer+" "+w.Detail)
	}
	return lines
}

const sourceA = `
rateLimits: { partner: { limit: 5, window: 1m } }
collections: { authors: {}, posts: { relations: { authorId: { to: authors } } } }
documents:
  - { name: first, inline: { openapi: 3.0.3 } }
  - { name: second, inline: { openapi: 3.0.3 } }
defaults: { template: true }
mocks: [{ request: GET /a, response: {}, rateLimit: { use: partner } }]
`

// M-5, M-76: what a definition names may belong to another source, and what is wrong with it has its place in the text that
// was sent, wherever it stands in the project.
func TestM76_a_definition_is_judged_by_what_the_project_is_after_the_apply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		prune bool
		want  []string
	}{
		"a limit of another source":                 {"mocks: [{ request: GET /b, response: {}, rateLimit: { use: partner } }]", false, nil},
		"in a default, a collection and a document": {"defaults: { rateLimit: { use: partner } }\ncollections: { b: { rateLimit: { use: partner } } }\ndocuments: [{ name: c, rateLimit: { use: partner }, inline: {} }]", false, nil},
		"a collection of another source":            {"collections: { comments: { relations: { postId: { to: posts } } } }", false, nil},
		"a default of another source renders":       {"mocks: [{ request: GET /b, response: { text: '{{ now }}' } }]", false, nil},
		"a limit that nobody has": {
			"mocks: [{ request: GET /b, response: {}, rateLimit: { use: partners } }]", false,
			[]string{`#/mocks/0/rateLimit/use rateLimits has no "partners", did you mean "partner"?`},
		},
		"a collection that nobody has": {
			"collections: { comments: { relations: { postId: { to: post } } } }", false,
			[]string{`#/collections/comments/relations/postId/to there is no collection "post", did you mean "posts"?`},
		},
		"its own document":          {"documents: [{ name: fine, inline: {} }, { name: broken, inline: {} }]", false, []string{"#/documents/1/inline/paths is broken"}},
		"its own collection":        {"collections: { broken: {} }", false, []string{"#/collections/broken/seed is broken"}},
		"its own odd document":      {"documents: [{ name: odd, inline: {} }]", false, []string{"#/documents/0/inline/paths is odd"}},
		"a limit that is no longer": {"mocks: []\ndocuments: [{ name: odd, inline: {} }]", true, []string{"#/documents/0/inline/paths is odd"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, catalog.Quotas{})
			h.createProject(t, "shop")
			if _, err := h.Apply(t.Context(), "shop", part(t, sourceA), catalog.ApplyOptions{Source: "a"}); err != nil {
				t.Fatal(err)
			}
			o := catalog.ApplyOptions{Source: "b", Prune: c.prune, Keep: strings.Contains(c.text, "defaults"), DryRun: true}
			if got := told(h.Apply(t.Context(), "shop", part(t, c.text), o)); len(got)+len(c.want) > 0 {
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// M-65: what was odd before, and belongs to somebody else, is no news of this plan.
func TestM65_a_plan_tells_nothing_of_what_others_left(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	odd := "documents: [{ name: odd, inline: {} }]"
	if got := told(h.Apply(t.Context(), "shop", part(t, odd), catalog.ApplyOptions{Source: "a"})); len(got) != 1 {
		t.Errorf("its own: %v", got)
	}
	if got := told(h.Apply(t.Context(), "shop", part(t, "mocks: [{ request: GET /b, response: {} }]"), catalog.ApplyOptions{Source: "b"})); len(got) != 0 {
		t.Errorf("of another source: %v", got)
	}
	if got := told(h.Apply(t.Context(), "shop", part(t, odd), catalog.ApplyOptions{Source: "a"})); len(got) != 1 {
		t.Errorf("its own again: %v", got)
	}
}

// M-76: what a source prunes may still be needed by another, which is told and keeps it.
func TestM76_pruning_what_another_source_refers_to_is_refused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	for source, text := range map[string]string{
		"a": sourceA,
		"b": "collections: { comments: { relations: { postId: { to: posts } } } }\nmocks: [{ name: b, request: GET /b, response: {}, rateLimit: { use: partner } }]",
	} {
		if source == "b" {
			continue
		}
		if _, err := h.Apply(t.Context(), "shop", part(t, text), catalog.ApplyOptions{Source: source}); err != nil {
			t.Fatal(err)
		}
	}
	b := "collections: { comments: { relations: { postId: { to: posts } } } }\nmocks: [{ name: b, request: GET /b, response: {}, rateLimit: { use: partner } }]"
	if _, err := h.Apply(t.Context(), "shop", part(t, b), catalog.ApplyOptions{Source: "b"}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`# collection "comments" of source "b": relations/postId/to: there is no collection "posts": it has authors or comments`,
		`# mock "b" could not be served any more: #/rateLimit/use: rateLimits has no "partner"`,
	}
	got := told(h.Apply(t.Context(), "shop", part(t, "mocks: []\ncollections: { authors: {} }"), catalog.ApplyOptions{Source: "a", Prune: true}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	s, _ := h.Project("shop")
	if len(s.Project.Config.Collections) != 3 || len(s.Project.Config.RateLimits) != 1 {
		t.Errorf("the project is %+v", s.Project.Config)
	}
}
