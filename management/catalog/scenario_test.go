package catalog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/management/catalog"
)

// M-161: each file of testdata/apply is a story: sections that do something to the project shop, and behind them what came of
// it. The first word of a section's name says what it is:
//
//	apply [source=S] [prune] [adopt] [dry] [revision=N] [create]   apply the definition in it
//	load                                                           take the definition in it for files of the folder mocks
//	create · replace NAME [takeOver] · delete NAME [takeOver]      change a mock by hand
//	settings KEY                                                   put the JSON in it in the place of a section by hand
//	plan · error · project                                         the last plan, the last error, the project after it
func TestM76_apply(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/apply/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			title, sections := parseStory(string(text))
			s := &scenario{house: newHouse(t, catalog.Quotas{MaxMocksPerProject: 6})}
			if !strings.Contains(title, "There is no project at first") {
				s.createProject(t, "shop")
			}
			for i := range sections {
				s.run(t, &sections[i])
			}
			testkit.Golden(t, path, formatStory(title, sections))
		})
	}
}

// section is one section of a story: a line "-- name --" and what follows it.
type section struct {
	name, text string
}

func parseStory(text string) (title string, sections []section) {
	header := regexp.MustCompile(`(?m)^-- (.*) --\n`)
	places := header.FindAllStringSubmatchIndex(text, -1)
	for i, at := range places {
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		sections = append(sections, section{text[at[2]:at[3]], text[at[1]:end]})
	}
	return text[:places[0][0]], sections
}

func formatStory(title string, sections []section) []byte {
	text := []byte(title)
	for _, s := range sections {
		text = fmt.Appendf(text, "-- %s --\n%s", s.name, s.text)
	}
	return text
}

// scenario is a story being told.
type scenario struct {
	*house

	plan *catalog.Plan
	err  error
}

func (s *scenario) run(t *testing.T, told *section) {
	t.Helper()
	words := strings.Fields(told.name)
	switch words[0] {
	case "plan":
		told.text = s.describePlan(t)
		return
	case "error":
		told.text = describeError(s.err)
		s.err = nil
		return
	case "project":
		told.text = s.describeProject(t)
		return
	}
	if s.err != nil {
		t.Fatalf("before %q: %v", told.name, s.err)
	}
	s.act(t, words, told.text)
}

func (s *scenario) act(t *testing.T, words []string, text string) {
	t.Helper()
	takeOver := catalog.WriteOptions{By: "usr_ada", TakeOver: slices.Contains(words, "takeOver")}
	switch words[0] {
	case "apply":
		s.plan, s.err = s.Apply(t.Context(), "shop", decodeDefinition(t, text), applyOptions(t, words[1:]))
	case "load":
		s.plan, s.err = s.LoadFiles(t.Context(), "shop", decodeDefinition(t, text), "mocks")
	case "create":
		_, s.err = s.CreateMock(t.Context(), "shop", decodeMock(t, text), "usr_ada")
	case "replace":
		_, s.err = s.ReplaceMock(t.Context(), "shop", words[1], decodeMock(t, text), takeOver)
	case "delete":
		s.err = s.DeleteMock(t.Context(), "shop", words[1], takeOver)
	case "settings":
		_, s.err = s.UpdateProject(t.Context(), "shop", catalog.Match{}, func(p *mockbase.Project) error {
			if p.Config.Source == nil {
				p.Config.Source = map[string]json.RawMessage{}
			}
			p.Config.Source[words[1]] = json.RawMessage(strings.TrimSpace(text))
			return nil
		})
	default:
		t.Fatalf("nothing is called %q", words[0])
	}
}

func applyOptions(t *testing.T, words []string) catalog.ApplyOptions {
	t.Helper()
	o := catalog.ApplyOptions{By: "usr_ci"}
	for _, word := range words {
		switch name, value, _ := strings.Cut(word, "="); name {
		case "source":
			o.Source = value
		case "prune":
			o.Prune = true
		case "adopt":
			o.Adopt = true
		case "dry":
			o.DryRun = true
		case "create":
			o.Create = &mockbase.Project{Slug: "shop", Name: "Made by apply"}
		case "revision":
			revision, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			o.IfRevision = revision
		default:
			t.Fatalf("there is no option %q", word)
		}
	}
	return o
}

// describePlan is the plan's JSON, with ids that are the same at each run.
func (s *scenario) describePlan(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s.plan); err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`mck_[0-9A-Z]{26}`).ReplaceAllString(b.String(), "mck_…")
}

func describeError(err error) string {
	var b strings.Builder
	fmt.Fprintln(&b, err)
	e, ok := errors.AsType[*mockbase.Error](err)
	if !ok {
		return b.String()
	}
	for _, f := range e.Fields {
		fmt.Fprintf(&b, "%s [%s] %s\n", f.Pointer, f.Code, f.Detail)
	}
	if e.Version != 0 {
		fmt.Fprintf(&b, "current version %d\n", e.Version)
	}
	return b.String()
}

func (s *scenario) describeProject(t *testing.T) string {
	t.Helper()
	snapshot, ok := s.Project("shop")
	if !ok {
		return "none\n"
	}
	p := snapshot.Project
	var b strings.Builder
	fmt.Fprintf(&b, "revision %d, version %d", p.Revision, p.Version)
	if p.Origin != "" {
		fmt.Fprintf(&b, ", from %s", p.Origin)
	}
	b.WriteString("\n")
	for _, key := range slices.Sorted(maps.Keys(p.Config.Source)) {
		fmt.Fprintf(&b, "%s %s\n", key, p.Config.Source[key])
	}
	for _, key := range slices.Sorted(maps.Keys(p.Owners)) {
		fmt.Fprintf(&b, "%s owns %s\n", p.Owners[key], key)
	}
	for _, m := range snapshot.Mocks {
		fmt.Fprintf(&b, "%s v%d", m.Name, m.Version)
		if m.Owner != "" {
			fmt.Fprintf(&b, " of %s", m.Owner)
		}
		if m.Edited {
			b.WriteString(" edited")
		}
		if m.Origin != "" {
			fmt.Fprintf(&b, " from %s", m.Origin)
		}
		b.WriteString("\n")
	}
	return b.String()
}
