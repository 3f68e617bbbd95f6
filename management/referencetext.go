package management

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// word is a part of a text: a word that stands as it is written in programs, or what is said around it.
type word struct {
	Text string
	Code bool
	// Problem tells that the word is a problem code, which has a page.
	Problem bool
}

// proseOf are the parts of a text in which backticks stand around words.
func proseOf(text string) []word {
	var all []word
	for i, part := range strings.Split(text, "`") {
		if part != "" {
			all = append(all, word{Text: part, Code: i%2 == 1, Problem: i%2 == 1 && isProblem(part)})
		}
	}
	return all
}

func isProblem(text string) bool {
	return slices.ContainsFunc(mockbase.Problems(), func(p mockbase.ProblemPage) bool { return string(p.Code) == text })
}

// paragraphs are the parts of a text between blank lines.
func paragraphs(text string) [][]word {
	var all [][]word
	for one := range strings.SplitSeq(text, "\n\n") {
		all = append(all, proseOf(one))
	}
	return all
}

// describedProblem is a failure that an operation may answer with.
type describedProblem struct {
	Status      string
	Description []word
	// Further are the codes that the operation has beside those of the description.
	Further []string
}

func problemOf(operation *mockbase.Node, status string, answer *mockbase.Node) *describedProblem {
	told := &describedProblem{Status: status, Description: proseOf(textOf(answer, "description"))}
	known := mockbase.Problems()
	for _, code := range listOf(operation, "x-problem-codes") {
		at := slices.IndexFunc(known, func(p mockbase.ProblemPage) bool { return string(p.Code) == code.Text })
		if at >= 0 && status == strconv.Itoa(known[at].Status) {
			told.Further = append(told.Further, code.Text)
		}
	}
	return told
}

// listOf are the items of a member.
func listOf(n *mockbase.Node, name string) []*mockbase.Node {
	if found := n.Find(name); found != nil {
		return found.Items
	}
	return nil
}

// everywhere tells whether a field is on every answer, so that it is not told of each.
func everywhere(field string) bool {
	return field == "X-Request-Id" || field == "RateLimit" || field == "RateLimit-Policy"
}

// rightsOf says who may call an operation (rule M-52).
func rightsOf(operation *mockbase.Node) string {
	who := map[string]string{
		"": "Nobody has to sign in", "any": "Anybody signed in", "user": "A person who is signed in, and no token", "viewer": "Viewers of the project",
		"editor": "Editors of the project", "owner": "Owners of the project", "admin": "Administrators", "cookie": "Who has the refresh cookie",
	}[textOf(operation, "x-access")]
	if scope := textOf(operation, "x-scope"); scope != "" && scope != string(scopeAny) {
		who += "; a token needs the scope " + scope
	}
	if textOf(operation, "x-fresh") == "true" {
		who += "; the password was given within 15 minutes"
	}
	return who + "."
}

// exampleText is an example of a media type as a person reads it: JSON in lines, YAML as YAML, and texts as they are.
func exampleText(mediaType string, n *mockbase.Node) string {
	if n.Kind == mockbase.NodeText {
		return n.Text
	}
	if isYAML(mediaType) {
		if text, err := mockbase.EncodeMockYAML(n.JSON()); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	var lines bytes.Buffer
	if err := json.Indent(&lines, n.JSON(), "", "  "); err != nil {
		return string(n.JSON())
	}
	return lines.String()
}
