package management

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
)

// Collections is the data of the collections of a project in a session; the empty name is the session default. Errors are of
// CodeNotFound.
type Collections interface {
	Collections(projectID, session string) ([]mockbase.CollectionState, error)
	CollectionItems(projectID, session, name string) ([]mockbase.CollectionItem, error)
	ResetCollection(projectID, session, name string) (items int, err error)
}

// collectionRoutes are those of data. The parameters of lists are list.
func collectionRoutes(list []string) []route {
	const collections = apiPrefix + "/projects/{project}/collections"
	inSession := append(slices.Clip(list), "session")
	return []route{
		{id: "M-198", method: http.MethodGet, path: collections, access: accessViewer, scope: scopeMocksRead, operation: "listCollections", handle: (*Server).listCollections, query: inSession},
		{id: "M-199", method: http.MethodGet, path: collections + "/{collection}/items", access: accessViewer, scope: scopeMocksRead, operation: "listItems", handle: (*Server).listItems, query: inSession},
		{id: "M-200", method: http.MethodPost, path: collections + "/{collection}/reset", access: accessEditor, scope: scopeSessions, operation: "resetCollection", handle: (*Server).resetCollection},
	}
}

type collectionView struct {
	Name      string  `json:"name"`
	Items     int     `json:"items"`
	ChangedAt *string `json:"changedAt"`
	Persist   bool    `json:"persist"`
}

// listCollections tells how the collections of a project stand in a session (M-198).
func (s *Server) listCollections(c *call) error {
	p := c.params()
	session := p.text("session")
	l, err := p.listing("name", "items", "changedAt")
	if err != nil {
		return err
	}
	all, err := s.State.Collections(c.project.Project.ID, session)
	if err != nil {
		return err
	}
	var found []mockbase.CollectionState
	for _, one := range all {
		if l.finds(one.Name) {
			found = append(found, one)
		}
	}
	onPage, next := cut(l, found, func(one mockbase.CollectionState) key {
		switch {
		case l.sort == "items":
			return key{Number: int64(one.Items), ID: one.Name}
		case l.sort == "changedAt" && !one.ChangedAt.IsZero():
			return key{Number: one.ChangedAt.UnixMilli(), ID: one.Name}
		case l.sort == "changedAt":
			return key{ID: one.Name}
		default:
			return key{Text: one.Name, ID: one.Name}
		}
	})
	items := make([]collectionView, len(onPage))
	for i, one := range onPage {
		items[i] = collectionView{Name: one.Name, Items: one.Items, ChangedAt: maybeTime(one.ChangedAt), Persist: one.Persist}
	}
	return c.list(l, items, len(found), next)
}

// listItems lists the items of a collection in a session by their ids (M-199): the numbers first, so that a cursor stays
// right while items come and go.
func (s *Server) listItems(c *call) error {
	name, err := pathParam(c, "collection")
	if err != nil {
		return err
	}
	p := c.params()
	session := p.text("session")
	l, err := p.listing("id")
	if err != nil {
		return err
	}
	all, err := s.State.CollectionItems(c.project.Project.ID, session, name)
	if err != nil {
		return err
	}
	var found []mockbase.CollectionItem
	for _, one := range all {
		if l.finds(string(one.Text)) {
			found = append(found, one)
		}
	}
	onPage, next := cut(l, found, itemKey)
	items := make([]json.RawMessage, len(onPage))
	for i, one := range onPage {
		items[i] = one.Text
	}
	return c.list(l, items, len(found), next)
}

func itemKey(item mockbase.CollectionItem) key {
	const behindNumbers = 1<<63 - 1
	id := "item " + item.ID
	if n, err := strconv.ParseInt(item.ID, 10, 64); err == nil {
		return key{Number: n, ID: id}
	}
	return key{Number: behindNumbers, Text: item.ID, ID: id}
}

// resetCollection returns a collection to its sample data (M-200). A body is not needed.
func (s *Server) resetCollection(c *call) error {
	name, err := pathParam(c, "collection")
	if err != nil {
		return err
	}
	projectID, session := c.project.Project.ID, ""
	if _, err := s.State.CollectionItems(projectID, "", name); err != nil {
		return err
	}
	if err := c.maybeObject(func(f *mockbase.Fields) { f.Text("session", &session) }); err != nil {
		return err
	}
	if err := s.audited(c); err != nil {
		return err
	}
	items, err := s.State.ResetCollection(projectID, session, name)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, struct {
		Items int `json:"items"`
	}{items})
}
