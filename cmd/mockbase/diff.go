package main

import (
	"net/http"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
	"github.com/mockbase/mockbase/management/catalog"
)

// diffCommand shows what apply would change (rule C-40).
type diffCommand struct {
	config.Target
	sourceFlags

	ExitCode bool `name:"exit-code" help:"End with 1 when there is a difference."`
}

// Help is what kong prints below the summary.
func (*diffCommand) Help() string {
	return `Each item that apply would make, change or delete is shown as a unified diff of its YAML, from what the server has to
what the files say. Nothing is changed. With --output json or yaml the plan is printed instead.`
}

// Run asks for the plan and for what the server has.
func (c *diffCommand) Run(p *process) error {
	return p.call(&c.Target, "compare", c.run)
}

func (c *diffCommand) run(r *remote) error {
	set, err := c.load(r.process, string(c.Project))
	if err != nil {
		return err
	}
	if err := r.named(set); err != nil {
		return err
	}
	differ := false
	var plans []*planned
	for _, project := range set.Projects {
		one, err := c.compare(r, project)
		if err != nil {
			return err
		}
		s := one.plan.Summary
		differ = differ || s.Created+s.Updated+s.Deleted+s.Conflicts > 0
		plans = append(plans, one)
	}
	if !c.asText() {
		if err := r.printPlans(plans); err != nil {
			return err
		}
	}
	if differ && c.ExitCode {
		return fail(exitCheckFailed, "", errSilent)
	}
	return nil
}

// asText tells whether differences are printed, and not the plan.
func (c *diffCommand) asText() bool {
	return c.Output == config.OutputAuto || c.Output == config.OutputTable
}

// compare plans a project's files, and prints their differences unless the plan is asked for.
func (c *diffCommand) compare(r *remote, project *files.Project) (*planned, error) {
	request, err := c.request(project)
	if err != nil {
		return nil, err
	}
	request.Query.Set("dryRun", "true")
	// A project that is not there yet differs in everything.
	request.Query.Set("createProject", "true")
	one, err := r.plan(project, request)
	if err != nil {
		return nil, err
	}
	if !c.asText() {
		return one, nil
	}
	r.warnOfPlan(one)
	before, err := r.itemsOf(project.Slug)
	if err != nil {
		return nil, err
	}
	after := itemsIn(request.Body)
	plan := one.plan
	for _, list := range [][]catalog.Item{plan.Created, plan.Updated, plan.Deleted} {
		for i := range list {
			r.printDiff(project.Slug, &list[i], before, after)
		}
	}
	for i := range plan.Conflicts {
		printf(r.Err, "mockbase: warning: conflict: %s %s: %s\n", plan.Conflicts[i].Kind, printable(plan.Conflicts[i].Name), conflictText(&plan.Conflicts[i]))
		r.printDiff(project.Slug, &plan.Conflicts[i], before, after)
	}
	return one, nil
}

// itemsOf are the items of the project on the server, as YAML by kind and name; none when there is no project.
func (r *remote) itemsOf(slug string) (map[string][]byte, error) {
	answer, err := r.Do(r.ctx, client.Request{Method: http.MethodGet, Path: client.Path("projects", slug, "definition")})
	if mockbase.ErrorCode(err) == mockbase.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return itemsIn(answer.Body), nil
}

// itemsIn takes a definition apart.
func itemsIn(text []byte) map[string][]byte {
	items := map[string][]byte{}
	root, err := mockbase.ParseNode(text, mockbase.FormatJSON, mockbase.ParseLimits{Bytes: maxDefinition})
	if err != nil {
		return items
	}
	add := func(kind catalog.Kind, name string, n *mockbase.Node) {
		if written, err := mockbase.EncodeMockYAML(n.JSON()); err == nil {
			items[string(kind)+" "+name] = written
		}
	}
	for _, m := range root.Members {
		kind := kindOf(m.Key)
		switch {
		case kind == "":
		case kind == catalog.KindSettings:
			add(kind, m.Key, m.Value)
		case m.Value.Kind == mockbase.NodeList:
			for _, item := range m.Value.Items {
				add(kind, nameOf(kind, item), item)
			}
		default:
			for _, item := range m.Value.Members {
				add(kind, item.Key, item.Value)
			}
		}
	}
	return items
}

// maxDefinition is the longest definition that a server takes and gives (rule M-9).
const maxDefinition = 64 << 20

// kindOf is what a section of a definition holds, "" for none.
func kindOf(section string) catalog.Kind {
	return map[string]catalog.Kind{
		"mocks": catalog.KindMock, "variables": catalog.KindVariable, "settings": catalog.KindSettings, "defaults": catalog.KindSettings,
		"rateLimits": catalog.KindPolicy, "scenarios": catalog.KindScenario, "collections": catalog.KindCollection, "documents": catalog.KindDocument,
	}[section]
}

// nameOf is the name of an item of a list: a mock without one is called after its request.
func nameOf(kind catalog.Kind, item *mockbase.Node) string {
	if n := item.Find("name"); n != nil && n.Text != "" {
		return n.Text
	}
	if kind != catalog.KindMock {
		return ""
	}
	m, err := mockbase.DecodeMock(item.JSON(), mockbase.FormatJSON)
	if err != nil {
		return ""
	}
	return m.Name
}

// printDiff prints an item's difference, in color for people.
func (r *remote) printDiff(slug string, item *catalog.Item, before, after map[string][]byte) {
	key := string(item.Kind) + " " + item.Name
	title := slug + "/" + string(item.Kind) + "/" + printable(item.Name)
	old, now := before[key], after[key]
	text := string(diff.Diff("server/"+title, old, "files/"+title, now))
	if text == "" {
		// Texts are the same: the place among the mocks or the owner differs.
		printf(r.Out, "diff server/%s files/%s\n%s\n", title, title, strings.TrimSpace(changesText(item.Changes)))
		return
	}
	for line := range strings.Lines(text) {
		color := ""
		switch {
		case strings.HasPrefix(line, "+"):
			color = green
		case strings.HasPrefix(line, "-"):
			color = red
		case strings.HasPrefix(line, "@@"):
			color = purple
		}
		if color != "" {
			line = r.paint(r.Out, color, strings.TrimSuffix(line, "\n")) + "\n"
		}
		printf(r.Out, "%s", line)
	}
}
