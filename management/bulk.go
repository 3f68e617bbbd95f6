package management

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// maxBulk is the number of mocks that one change names (M-153).
const maxBulk = 1_000

// bulkActions are the changes of many mocks.
func bulkActions() []string { return []string{"enable", "disable", "delete", "move", "tag", "untag"} }

// bulk is one change of many mocks as a client asks for it (M-153, rule M-82).
type bulk struct {
	action string
	// named are names and ids; nil where a filter selects.
	named  []string
	filter *mockFilter
	find   string
	value  string
}

// bulkView is the answer of M-153.
type bulkView struct {
	Matched int        `json:"matched"`
	Changed int        `json:"changed"`
	Items   []bulkItem `json:"items"`
}

type bulkItem struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int64  `json:"version"`
}

// changeMocks changes or deletes many mocks, all or none (M-153).
func (s *Server) changeMocks(c *call) error {
	var b bulk
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		b.read(f)
		b.checkNames(f, c.project)
	})
	if err != nil {
		return err
	}
	change := catalog.Bulk{By: c.caller.user.ID, Selects: b.selects(s, c.project)}
	if b.action != "delete" {
		change.Change = b.change
	}
	matched, changed, err := s.Catalog.ChangeMocks(c.ctx(), c.project.Project.ID, change)
	if err != nil {
		return err
	}
	view := bulkView{Matched: len(matched), Changed: changed, Items: make([]bulkItem, len(matched))}
	for i, m := range matched {
		view.Items[i] = bulkItem{m.ID, m.Name, m.Version}
	}
	return c.json(http.StatusOK, view)
}

func (b *bulk) read(f *mockbase.Fields) {
	if f.Text("action", &b.action) && !slices.Contains(bulkActions(), b.action) {
		f.Fault("action", mockbase.FieldEnum, "must be enable, disable, delete, move, tag or untag")
	}
	f.Required("action")
	if f.Texts("mocks", &b.named) && len(b.named) > maxBulk {
		f.Fault("mocks", mockbase.FieldLimit, "must name at most %d mocks; select more by a filter", maxBulk)
	}
	if filter := f.Object("filter"); filter != nil {
		b.readFilter(filter)
	}
	var all bool
	f.Bool("all", &all)
	if b.action == "delete" && b.filter != nil && *b.filter == (mockFilter{}) && b.find == "" && !all {
		f.Fault("filter", mockbase.FieldRequired, "selects every mock: name what to delete, or write \"all\": true as well to delete them all")
	}
	if f.Has("mocks") == f.Has("filter") {
		f.FaultHere(mockbase.FieldConflict, "needs either mocks or filter")
	}
	b.readValue(f)
}

// readValue reads the folder to move to, or the tag.
func (b *bulk) readValue(f *mockbase.Fields) {
	given := f.Text("value", &b.value)
	switch b.action {
	case "move":
		f.Required("value")
	case "tag", "untag":
		f.Required("value")
		if given && b.value == "" {
			f.Fault("value", mockbase.FieldLimit, "must be a tag")
		}
	default:
		if given {
			f.Fault("value", mockbase.FieldConflict, "is for move, tag and untag alone")
		}
	}
}

// readFilter reads the parameters of M-140 as members.
func (b *bulk) readFilter(f *mockbase.Fields) {
	b.filter = &mockFilter{}
	f.Text("q", &b.find)
	f.Text("tag", &b.filter.tag)
	f.Text("folder", &b.filter.folder)
	f.Text("method", &b.filter.method)
	f.Text("source", &b.filter.source)
	var warning string
	f.Text("warning", &warning)
	b.filter.warning = mockbase.Code(warning)
	var enabled bool
	if f.Bool("enabled", &enabled) {
		b.filter.enabled = strconv.FormatBool(enabled)
	}
	f.Done()
}

// checkNames refuses names of mocks that the project does not have.
func (b *bulk) checkNames(f *mockbase.Fields, s *mockbase.Snapshot) {
	known := make(map[string]bool, 2*len(s.Mocks))
	for _, m := range s.Mocks {
		known[m.ID], known[m.Name] = true, true
	}
	for _, name := range b.named {
		if !known[name] {
			f.Fault("mocks", mockbase.FieldReference, "the project has no mock %s", shown(name))
		}
	}
}

// selects tells which mocks are meant. Warnings are those that mocks have before the change.
func (b *bulk) selects(s *Server, snapshot *mockbase.Snapshot) func(*mockbase.Mock) bool {
	if b.filter == nil {
		return func(m *mockbase.Mock) bool { return slices.Contains(b.named, m.Name) || slices.Contains(b.named, m.ID) }
	}
	l := listing{find: strings.ToLower(b.find)}
	return func(m *mockbase.Mock) bool {
		return b.filter.selects(m) && l.finds(m.Name, m.Description, requestPath(m)) && s.warns(snapshot, m, b.filter.warning)
	}
}

// change is a mock after the action. One that it does not change keeps its document.
func (b *bulk) change(m *mockbase.Mock) (*mockbase.Mock, error) {
	patch := b.patch(m)
	if patch == nil {
		return m, nil
	}
	return patchMock(m, patch)
}

// patch is the merge patch that the action means for a mock, nil for none.
func (b *bulk) patch(m *mockbase.Mock) *mockbase.Node {
	switch b.action {
	case "enable", "disable":
		if enable := b.action == "enable"; enable == m.Disabled {
			return object("enabled", &mockbase.Node{Kind: mockbase.NodeBool, Text: strconv.FormatBool(enable)})
		}
	case "move":
		if m.Folder != b.value && b.value == "" {
			return object("folder", &mockbase.Node{Kind: mockbase.NodeNull})
		}
		if m.Folder != b.value {
			return object("folder", &mockbase.Node{Kind: mockbase.NodeText, Text: b.value})
		}
	case "tag":
		if !slices.Contains(m.Tags, b.value) {
			return object("tags", textList(append(slices.Clone(m.Tags), b.value)))
		}
	case "untag":
		if slices.Contains(m.Tags, b.value) {
			return object("tags", textList(slices.DeleteFunc(slices.Clone(m.Tags), func(tag string) bool { return tag == b.value })))
		}
	}
	return nil
}

func textList(list []string) *mockbase.Node {
	n := &mockbase.Node{Kind: mockbase.NodeList}
	for _, text := range list {
		n.Items = append(n.Items, &mockbase.Node{Kind: mockbase.NodeText, Text: text})
	}
	return n
}
