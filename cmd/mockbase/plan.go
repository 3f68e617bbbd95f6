package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// shownChanges is how many changes of an item its line tells; diff shows all.
const shownChanges = 3

// longestValue is how much of a value a line tells.
const longestValue = 40

// planText writes a plan, one line an item, and its counts (rule C-42). What orphaned says stands behind items that are no
// longer in what was sent.
func (p *process) planText(plan *catalog.Plan, orphaned string) string {
	var b strings.Builder
	line := func(color, mark string, item *catalog.Item, more string) {
		fmt.Fprintf(&b, "%s %s %s%s\n", p.paint(p.Out, color, mark), item.Kind, printable(item.Name), more)
	}
	for i := range plan.Created {
		line(green, "+", &plan.Created[i], "")
	}
	for i := range plan.Updated {
		line(yellow, "~", &plan.Updated[i], changesText(plan.Updated[i].Changes))
	}
	for i := range plan.Deleted {
		line(red, "-", &plan.Deleted[i], " (source "+plan.Source+")")
	}
	for i := range plan.Orphaned {
		line(faint, "?", &plan.Orphaned[i], "  "+orphaned)
	}
	for i := range plan.Conflicts {
		line(purple, "!", &plan.Conflicts[i], "  "+conflictText(&plan.Conflicts[i]))
	}
	fmt.Fprintf(&b, "%d created, %d updated, %d unchanged, %d deleted, %d orphaned, %s", plan.Summary.Created, plan.Summary.Updated,
		plan.Summary.Unchanged, plan.Summary.Deleted, plan.Summary.Orphaned, count(plan.Summary.Conflicts, "conflict"))
	switch {
	case plan.Applied:
		fmt.Fprintf(&b, "; applied, revision %d\n", plan.Revision)
	case plan.DryRun:
		fmt.Fprintf(&b, "; planned for revision %d, nothing is applied\n", plan.Revision)
	default:
		b.WriteString("\n")
	}
	return b.String()
}

func conflictText(item *catalog.Item) string {
	switch {
	case item.Reason == catalog.OwnedBySource:
		return "belongs to source " + printable(item.Owner)
	case item.Owner == "":
		return "made or edited by hand"
	}
	return "edited by hand"
}

// changesText tells the first changes of an item: "responses[0].status 200 → 201".
func changesText(changes []catalog.Change) string {
	told := make([]string, 0, shownChanges+1)
	for i, c := range changes {
		if i == shownChanges {
			told = append(told, fmt.Sprintf("%d more", len(changes)-i))
			break
		}
		told = append(told, changeText(&c))
	}
	if len(told) == 0 {
		return ""
	}
	return "  " + strings.Join(told, ", ")
}

func changeText(c *catalog.Change) string {
	at := memberPath(c.Pointer)
	switch {
	case c.From == nil:
		return strings.TrimSpace(at + " = " + valueText(c.To))
	case c.To == nil:
		return strings.TrimSpace(at + " " + valueText(c.From) + " → nothing")
	}
	return strings.TrimSpace(at + " " + valueText(c.From) + " → " + valueText(c.To))
}

// memberPath writes a JSON Pointer the way people do: #/responses/0/status becomes responses[0].status.
func memberPath(pointer string) string {
	var b strings.Builder
	for token := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(pointer, "#"), "/"), "/") {
		token = printable(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		switch {
		case token != "-" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
		case token == "-" && b.Len() == 0:
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}

// valueText is a value in as little room as a line has for it.
func valueText(v json.RawMessage) string {
	text := []rune(printable(string(v)))
	if len(text) > longestValue {
		return string(text[:longestValue-1]) + "…"
	}
	return string(text)
}

// mockFault is a warning of a plan as a fault of the document.
func mockFault(w catalog.Warning) mockbase.FieldError {
	return mockbase.FieldError{Pointer: w.Pointer, Code: w.Code, Detail: w.Detail}
}
