package openapi

import (
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
)

// loss is something that mocks do not do as their document does, with the first operation that has it.
type loss struct {
	first      *operation
	operations int
}

// The kinds of losses.
const (
	lossSecurity = iota
	lossParameters
	lossBody
	lossServers
	lossStatuses
	lossQualities
	lossTypes
	lossKinds
)

// unsaid notes what the mock of an operation leaves out.
func (e *expander) unsaid(op *operation) {
	checked := slices.ContainsFunc(op.parameters, func(p *parameter) bool { return p.in != inPath || p.schema != nil || p.content != nil })
	further := slices.DeleteFunc(slices.Clone(op.document.serverPaths(op)), mockbase.IsMockBase)
	several := slices.ContainsFunc(op.responses, func(r *response) bool { return !r.exact() })
	usual, _ := op.usual()
	offers := len(acceptanceOf(append([]*mediaType{{}}, usual.content...), nil).offers) - 1
	for kind, lost := range [lossKinds]bool{
		lossSecurity: len(op.security) > 0, lossParameters: checked, lossBody: op.body != nil, lossServers: len(further) > 1, lossStatuses: several,
		lossQualities: offers > 1, lossTypes: len(usual.content) > 1 && offers < len(usual.content),
	} {
		if !lost {
			continue
		}
		own := &e.losses[kind]
		if own.operations++; own.first == nil {
			own.first = op
		}
	}
}

// tell warns of each kind of loss once, where the first operation has it: what a mock cannot say is a warning (rule M-78).
func (e *expander) tell() {
	qualities := "qualities of Accept are told apart by tenths down to a half"
	if !slices.Contains(e.levels, levelHalf) {
		qualities = "of the qualities of Accept, 1 and less than 1 are told apart: the document has too many operations of several media types for more"
	}
	for kind, text := range [lossKinds]string{
		lossSecurity:   "credentials are not asked for: the mocks answer with and without them",
		lossParameters: "parameters are not checked: the mocks answer whatever they hold",
		lossBody:       "bodies of requests are not checked: the mocks answer whatever they hold",
		lossServers:    "the mocks answer below the path of the first server alone: the other servers are left out",
		lossStatuses:   "responses of many statuses, such as default and 5XX, have one in the mocks: __code=N is answered for the statuses of responses alone",
		lossQualities:  qualities,
		lossTypes:      "media types that are ranges, or differ from others in parameters alone, are not picked by Accept: the first one answers",
	} {
		own := e.losses[kind]
		if own.first == nil {
			continue
		}
		if own.operations > 1 {
			text += " (" + strconv.Itoa(own.operations) + " operations, this is the first)"
		}
		e.document.source.notes.add(own.first.at, mockbase.WarningNotTranslated, text)
	}
}
