package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
	"github.com/mockbase/mockbase/management/catalog"
)

// applyCommand makes projects what files say (rules C-40 to C-42).
type applyCommand struct {
	config.Target
	sourceFlags

	DryRun        bool `name:"dry-run" help:"Print the plan and change nothing."`
	Adopt         bool `name:"adopt" help:"Take over what another source made or somebody edited by hand."`
	CreateProject bool `name:"create-project" help:"Make the project if it is missing."`
	Yes           bool `name:"yes" short:"y" help:"Do not ask before --prune deletes."`
	Wait          bool `name:"wait" help:"Wait until the server is ready, for a minute at most."`
}

// Help is what kong prints below the summary.
func (*applyCommand) Help() string {
	return `The plan is printed first: + for what is made, ~ for what changes, - for what is deleted, ! for what stands in the
way. Exactly that plan is applied, all of it or nothing; when somebody changes the project meanwhile, nothing is. To apply
the same files again changes nothing.`
}

// planned is what applying a project's files would do.
type planned struct {
	project *files.Project
	plan    *catalog.Plan
	// wire is the plan as the server sent it.
	wire json.RawMessage
}

// Run plans every project before it changes the first.
func (c *applyCommand) Run(p *process) error {
	return p.call(&c.Target, "apply", c.run)
}

func (c *applyCommand) run(r *remote) error {
	set, err := c.load(r.process, string(c.Project))
	if err != nil {
		return err
	}
	if c.Wait {
		if err := r.awaitReady(time.Minute); err != nil {
			return err
		}
	}
	if err := r.named(set); err != nil {
		return err
	}
	plans, err := c.plans(r, set)
	if err != nil {
		return err
	}
	conflicts := conflictsOf(plans)
	if conflicts == 0 && !c.DryRun {
		return c.carryOut(r, plans)
	}
	if err := r.printPlans(plans); err != nil || conflicts == 0 {
		return err
	}
	return conflictFailure(conflicts)
}

// plans asks for the plan of every project.
func (c *applyCommand) plans(r *remote, set *files.Set) ([]*planned, error) {
	var plans []*planned
	for _, project := range set.Projects {
		request, err := c.request(project)
		if err != nil {
			return nil, err
		}
		c.complete(&request)
		request.Query.Set("dryRun", "true")
		one, err := r.plan(project, request)
		if err != nil {
			return nil, err
		}
		plans = append(plans, one)
	}
	return plans, nil
}

func (c *applyCommand) complete(request *client.Request) {
	if c.Adopt {
		request.Query.Set("adopt", "true")
	}
	if c.CreateProject {
		request.Query.Set("createProject", "true")
	}
}

// plan makes a call that answers with a plan.
func (r *remote) plan(project *files.Project, request client.Request) (*planned, error) {
	answer, err := r.Do(r.ctx, request)
	if err != nil {
		return nil, planRefused(project, err)
	}
	made := &planned{project: project, plan: &catalog.Plan{}, wire: answer.Body}
	return made, answer.JSON(made.plan)
}

// planRefused finds the places of faults in the files, and tells how to make a project that is missing.
func planRefused(project *files.Project, err error) error {
	if refused, ok := errors.AsType[*client.RefusedError](err); ok && refused.Problem.Code == mockbase.CodeNotFound {
		f := &failure{code: exitConflict, what: "apply to project " + project.Slug, err: refused.Problem, fix: "add --create-project to make it"}
		if missing := noProject(refused.Problem, project.Slug); missing != nil {
			f.err = missing
		}
		return f
	}
	return located(project, err)
}

// carryOut applies what was planned, after it asked about deletions.
func (c *applyCommand) carryOut(r *remote, plans []*planned) error {
	if err := c.agree(r, plans); err != nil {
		return err
	}
	for i, one := range plans {
		request, err := c.request(one.project)
		if err != nil {
			return err
		}
		c.complete(&request)
		request.IfMatch = strconv.Quote("v" + strconv.FormatInt(one.plan.Revision, 10))
		done, err := r.plan(one.project, request)
		if err != nil {
			return changedMeanwhile(err)
		}
		plans[i] = done
	}
	return r.printPlans(plans)
}

// agree asks before anything is deleted, with the plan before the eyes of who is asked.
func (c *applyCommand) agree(r *remote, plans []*planned) error {
	deleted := 0
	for _, one := range plans {
		deleted += one.plan.Summary.Deleted
	}
	if deleted == 0 || c.Yes {
		return nil
	}
	if isTerminal(r.In) && r.form(r.output) == config.OutputTable {
		if err := r.printPlans(plans); err != nil {
			return err
		}
	}
	return r.confirm(c.Yes, "Delete "+count(deleted, "item")+"?")
}

// changedMeanwhile says what to do when a plan is out of date.
func changedMeanwhile(err error) error {
	refused, ok := errors.AsType[*client.RefusedError](err)
	if !ok || refused.Status != http.StatusPreconditionFailed {
		return err
	}
	return &failure{code: exitConflict, what: "apply", err: errors.New("somebody changed the project since the plan was made: nothing of it was applied"), fix: "run it again, and look at the new plan"}
}

func conflictsOf(plans []*planned) int {
	n := 0
	for _, one := range plans {
		n += one.plan.Summary.Conflicts
	}
	return n
}

func conflictFailure(n int) error {
	return &failure{
		code: exitConflict, what: "apply", err: fmt.Errorf("%s: nothing was applied", count(n, "conflict")),
		fix: "--adopt takes these items over; to keep them, take them out of the files or rename them",
	}
}

// printPlans prints plans, and their warnings to the error stream.
func (r *remote) printPlans(plans []*planned) error {
	for _, one := range plans {
		r.warnOfPlan(one)
	}
	switch form := r.form(r.output); {
	case form == config.OutputTable:
		for _, one := range plans {
			if len(plans) > 1 {
				printf(r.Out, "%s\n", one.project.Slug)
			}
			printf(r.Out, "%s", r.planText(one.plan, "no longer in the files; --prune deletes it"))
		}
		return nil
	case len(plans) == 1 && form != config.OutputLines:
		return r.printDocument(r.output, plans[0].wire)
	default:
		items := make([]json.RawMessage, 0, len(plans))
		for _, one := range plans {
			items = append(items, one.wire)
		}
		return r.printList(r.output, items, nil)
	}
}

// warnOfPlan prints what does not block, with its place in the files.
func (r *remote) warnOfPlan(one *planned) {
	if r.quiet {
		return
	}
	faults := make([]mockbase.FieldError, len(one.plan.Warnings))
	for i, w := range one.plan.Warnings {
		faults[i] = mockFault(w)
	}
	repairs := one.project.Repairs()
	for _, finding := range append(repairs, files.Further(repairs, one.project.FindingsOf(faults))...) {
		finding.Message = "warning: " + finding.Message
		printf(r.Err, "%s\n", finding)
	}
}
