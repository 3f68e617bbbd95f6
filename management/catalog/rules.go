package catalog

import (
	"encoding/json"
	"strconv"

	"github.com/mockbase/mockbase"
)

// DefaultSource owns what an apply without a source creates (rule M-76).
const DefaultSource = "default"

// rules say what an apply may do to the items that are there.
type rules struct {
	// source becomes the owner of what is created.
	source       string
	prune, adopt bool
	// keep leaves conflicting items as they are instead of refusing the whole.
	keep bool
	// by is the id of the user who applies.
	by string
	// folder is where the files lie in file mode, else "": the files are the whole truth and nobody owns anything (C-22).
	folder string
	permit func(*Plan) error
}

func (r rules) files() bool { return r.folder != "" }

// owner is who owns what the apply creates.
func (r rules) owner() string {
	if r.files() {
		return ""
	}
	return r.source
}

// ownerOf is who owns an item after the apply, if it may write it.
func (r rules) ownerOf(owner string) string {
	if r.files() || r.adopt {
		return r.owner()
	}
	return owner
}

// holding is what is known about an item that is there.
type holding struct {
	owner string
	// edited tells that a hand changed the item since its owner wrote it.
	edited bool
	// differs tells that the apply would change it.
	differs bool
}

// conflict says why an item may not be written, "" when it may.
func (r rules) conflict(h holding) Reason {
	switch {
	case r.files(), r.adopt:
		return ""
	case h.owner != "" && h.owner != r.source:
		return OwnedBySource
	case h.differs && (h.owner == "" || h.edited):
		return EditedByHand
	}
	return ""
}

// fate is what becomes of an item that the document does not hold.
type fate int

const (
	fateKept fate = iota
	fateOrphaned
	fateDeleted
	fateConflict
)

func (r rules) fateOf(h holding) fate {
	switch {
	case r.files():
		return fateDeleted
	case h.owner != r.source:
		return fateKept
	case !r.prune:
		return fateOrphaned
	case h.edited && !r.adopt:
		return fateConflict
	}
	return fateDeleted
}

// ownerChange is the difference that a new owner makes, nil for the same one.
func ownerChange(from, to string) []Change {
	if from == to {
		return nil
	}
	return []Change{{Pointer: "#/source", From: ownerText(from), To: ownerText(to)}}
}

func ownerText(owner string) json.RawMessage {
	if owner == "" {
		return nil
	}
	return (&mockbase.Node{Kind: mockbase.NodeText, Text: owner}).JSON()
}

func orderChange(from, to int) Change {
	return Change{Pointer: "#/order", From: json.RawMessage(strconv.Itoa(from)), To: json.RawMessage(strconv.Itoa(to))}
}
