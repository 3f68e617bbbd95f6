package tape

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/body"
)

// maxSteps is how many answers a mock may have.
const maxSteps = 50

// ErrFull tells that a mock has as many different answers as may be.
var ErrFull = errors.New("the mock has as many different answers as may be")

// Add makes the mock that answers a request like the exchange. With the mock that was recorded of the same request before,
// the answer becomes the next step of a sequence; an answer that is the same as the last one counts once more (rules T16 and
// T17). A mock that people have changed since keeps their changes.
func Add(x *Exchange, rules Rules, current *mockbase.Mock) (*mockbase.Mock, error) {
	answer, err := encode(rules.response(x))
	if err != nil {
		return nil, fmt.Errorf("write recorded answer: %w", err)
	}
	document := map[string]json.RawMessage{}
	if current == nil {
		err = rules.begin(x, document)
	} else {
		err = json.Unmarshal(current.Document, &document)
	}
	if err == nil {
		err = addStep(document, answer)
	}
	if err != nil {
		return nil, err
	}
	text, err := encode(document)
	if err != nil {
		return nil, fmt.Errorf("write recorded mock: %w", err)
	}
	m, err := mockbase.DecodeMock(text, mockbase.FormatJSON)
	if err != nil {
		return nil, fmt.Errorf("read recorded mock: %w", err)
	}
	return m, nil
}

// begin writes everything but the answers of a new mock.
func (r Rules) begin(x *Exchange, document map[string]json.RawMessage) error {
	request, err := r.request(x)
	if err != nil {
		return err
	}
	name, err := encode(nameOf(x, request))
	document["name"], document["request"], document["tags"] = name, request.document, json.RawMessage(`["`+Tag+`"]`)
	return err
}

// addStep adds an answer to a document.
func addStep(document map[string]json.RawMessage, answer json.RawMessage) error {
	var steps []json.RawMessage
	if one, ok := document["response"]; ok {
		steps = []json.RawMessage{one}
	} else if list, ok := document["responses"]; ok {
		if err := json.Unmarshal(list, &steps); err != nil {
			return fmt.Errorf("read recorded answers: %w", err)
		}
	}
	switch last := len(steps) - 1; {
	case last < 0:
		document["response"] = answer
		return nil
	case same(steps[last], answer):
		steps[last] = once(steps[last])
	case len(steps) >= maxSteps:
		return ErrFull
	default:
		steps = append(steps, answer)
	}
	list, err := encode(steps)
	delete(document, "response")
	document["responses"], document["select"] = list, json.RawMessage(`"sequence"`)
	return err
}

// same tells whether a step gives an answer.
func same(step, answer json.RawMessage) bool {
	var a, b map[string]any
	if json.Unmarshal(step, &a) != nil || json.Unmarshal(answer, &b) != nil {
		return false
	}
	delete(a, "times")
	left, leftErr := encode(a)
	right, rightErr := encode(b)
	return leftErr == nil && rightErr == nil && slices.Equal(left, right)
}

// once lets a step count once more.
func once(step json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(step, &members) != nil {
		return step
	}
	times := 1
	_ = json.Unmarshal(members["times"], &times)
	members["times"] = fmt.Appendf(nil, "%d", times+1)
	more, err := encode(members)
	if err != nil {
		return step
	}
	return more
}

// response makes the answer of the mock (rules T16 and T19).
func (r Rules) response(x *Exchange) map[string]any {
	header := maps.Clone(x.AnswerHeader)
	content, err := body.New(x.AnswerBody, header).Decoded()
	if err != nil {
		content = x.AnswerBody
	} else {
		delete(header, "Content-Encoding")
	}
	answer := map[string]any{"status": x.Status, "template": false}
	if lines := r.headerLines(header, len(content)); len(lines) > 0 {
		answer["headers"] = lines
	}
	switch {
	case len(content) == 0 || x.Method == http.MethodHead:
	case utf8.Valid(content):
		answer["text"] = string(content)
	default:
		answer["base64"] = base64.StdEncoding.EncodeToString(content)
	}
	return answer
}

// headerLines are the headers to keep of an answer with a body of this size, and what the mock must not add of its own.
func (r Rules) headerLines(header http.Header, size int) map[string]any {
	kept := map[string]any{}
	for name, lines := range header {
		switch {
		case dropped(name) || len(lines) == 0 || slices.ContainsFunc(lines, unwritable):
		case r.secret(name):
			kept[name] = Mask
		case len(lines) == 1:
			kept[name] = lines[0]
		default:
			kept[name] = lines
		}
	}
	if _, typed := kept["Content-Type"]; size > 0 && !typed {
		kept["Content-Type"] = nil
	}
	return kept
}

// unwritable tells that a line is no text, or one that no header may hold.
func unwritable(line string) bool { return !utf8.ValidString(line) }

// dropped are headers about the connection or the moment, and those that the mock gets from its project.
func dropped(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Date", "Content-Length",
		"Mockbase-Mock", "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers":
		return true
	default:
		return false
	}
}
