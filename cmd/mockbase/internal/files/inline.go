package files

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxInlined is the largest file that becomes part of a definition, as for every body (mock format, section 6).
const maxInlined = 10 << 20

// mayInline tells whether a text may name a file.
func mayInline(text []byte) bool {
	return bytes.Contains(text, []byte("file")) || bytes.Contains(text, []byte("File")) || bytes.Contains(text, []byte("schema"))
}

// inliner puts what files hold in the place of their names (mock format, section 4): the bodies of answers, seeds,
// schemas and descriptions. A name with a template in it is left to the server.
type inliner struct {
	source *source
	faults []mockbase.FieldError
	// names are the files that were asked for, as places below the folder that is loaded.
	names []string
	// attached are the OpenAPI documents by the indexes of their entries; document is that of the one under work.
	attached map[int]*attached
	document int
}

// definition returns a definition with its files inside. Nodes are shared, so a changed one is a copy.
func (i *inliner) definition(root *mockbase.Node) *mockbase.Node {
	return eachMember(root, func(key string, value *mockbase.Node) *mockbase.Node {
		switch key {
		case "mocks":
			return eachItem(value, i.mock)
		case "settings":
			return changeMember(value, "noMatch", func(n *mockbase.Node) *mockbase.Node { return i.answer(n, nil) })
		case "rateLimits":
			return eachMember(value, func(_ string, n *mockbase.Node) *mockbase.Node { return i.limit(n) })
		case "collections":
			return eachMember(value, func(_ string, n *mockbase.Node) *mockbase.Node { return i.collection(n) })
		case "documents":
			i.document = -1
			return eachItem(value, i.entry)
		default:
			return value
		}
	})
}

func (i *inliner) mock(mock *mockbase.Node) *mockbase.Node {
	return eachMember(mock, func(key string, value *mockbase.Node) *mockbase.Node {
		switch key {
		case "request":
			return i.conditions(value)
		case "response":
			return i.response(value)
		case "responses":
			return eachItem(value, i.response)
		case "rateLimit":
			if value.Kind == mockbase.NodeList {
				return eachItem(value, i.limit)
			}
			return i.limit(value)
		default:
			return value
		}
	})
}

func (i *inliner) response(response *mockbase.Node) *mockbase.Node {
	response = changeMember(response, "when", i.conditions)
	// A file answers range requests unless its author says otherwise (rule O13).
	return i.answer(response, &mockbase.Member{Key: "range", Value: &mockbase.Node{Kind: mockbase.NodeBool, Text: "true"}})
}

func (i *inliner) limit(limit *mockbase.Node) *mockbase.Node {
	return changeMember(limit, "onExceed", func(n *mockbase.Node) *mockbase.Node {
		return changeMember(n, "response", func(n *mockbase.Node) *mockbase.Node { return i.answer(n, nil) })
	})
}

// conditions puts the schemas of bodies in place, however deep the conditions nest.
func (i *inliner) conditions(n *mockbase.Node) *mockbase.Node {
	return eachMember(n, func(key string, value *mockbase.Node) *mockbase.Node {
		switch key {
		case "body":
			return changeMember(value, "schema", i.json)
		case "anyOf", "allOf":
			return eachItem(value, i.conditions)
		case "not":
			return i.conditions(value)
		default:
			return value
		}
	})
}

func (i *inliner) collection(n *mockbase.Node) *mockbase.Node {
	n = changeMember(n, "schema", i.json)
	return replaceMember(n, "seedFile", "seed", i.json)
}

func (i *inliner) entry(n *mockbase.Node) *mockbase.Node {
	i.document++
	return replaceMember(n, "file", "inline", i.openAPI)
}

// answer gives a response the bytes of its file, with the type that its extension says and with what else files have.
func (i *inliner) answer(n *mockbase.Node, more *mockbase.Member) *mockbase.Node {
	name := n.Find("file")
	text, ok := i.read(name)
	if !ok {
		return n
	}
	n = replaceMember(n, "file", "base64", func(*mockbase.Node) *mockbase.Node {
		return textNode(base64.StdEncoding.EncodeToString(text))
	})
	if more != nil && n.Find(more.Key) == nil {
		n.Members = append(n.Members, *more)
	}
	mediaType := mockbase.MediaTypeOf(name.Text)
	if mediaType == "" {
		return n
	}
	return typed(n, mediaType)
}

// typed states the Content-Type of a response that states none.
func typed(n *mockbase.Node, mediaType string) *mockbase.Node {
	line := mockbase.Member{Key: "Content-Type", Value: textNode(mediaType)}
	headers := n.Find("headers")
	switch {
	case headers == nil:
		n.Members = append(n.Members, mockbase.Member{
			Key: "headers", Value: &mockbase.Node{Kind: mockbase.NodeObject, Members: []mockbase.Member{line}},
		})
	case headers.Kind == mockbase.NodeObject && !slices.ContainsFunc(headers.Members, func(m mockbase.Member) bool {
		return strings.EqualFold(m.Key, line.Key)
	}):
		copied := *headers
		copied.Members = append(slices.Clip(headers.Members), line)
		for at := range n.Members {
			if n.Members[at].Key == "headers" {
				n.Members[at].Value = &copied
			}
		}
	}
	return n
}

// json is the value in a file of JSON or YAML; a node that names none is left as it is.
func (i *inliner) json(n *mockbase.Node) *mockbase.Node {
	text, ok := i.read(n)
	if !ok {
		return n
	}
	format := mockbase.FormatJSON
	if f := formatOf(n.Text); f != "" {
		format = f
	}
	value, err := mockbase.ParseNode(text, format, mockbase.ParseLimits{Bytes: maxInlined})
	if err != nil {
		i.unreadable(n, err)
		return n
	}
	return value
}

// maxFileFaults is how many faults of one file are told.
const maxFileFaults = 20

// unreadable notes every fault of the text of a file, with its place there.
func (i *inliner) unreadable(n *mockbase.Node, err error) {
	known, ok := errors.AsType[*mockbase.Error](err)
	if !ok || len(known.Fields) == 0 {
		i.fault(n, mockbase.FieldSyntax, "the file %q cannot be read: %s", n.Text, err.Error())
		return
	}
	shown := known.Fields[:min(len(known.Fields), maxFileFaults)]
	for at := range shown {
		i.fault(n, shown[at].Code, "the file %q cannot be read: %s", n.Text, shown[at].Within("#"))
	}
	if more := len(known.Fields) - len(shown); more > 0 {
		i.fault(n, mockbase.FieldSyntax, "the file %q has %d more faults", n.Text, more)
	}
}

// read reads the file that a text names, inside the folder of the definition.
func (i *inliner) read(n *mockbase.Node) ([]byte, bool) {
	if n == nil || n.Kind != mockbase.NodeText || n.Text == "" || strings.Contains(n.Text, "{{") {
		return nil, false
	}
	clean := path.Clean(n.Text)
	if !fs.ValidPath(clean) || strings.ContainsRune(clean, 0) {
		i.fault(n, mockbase.FieldReference, "the file %q must lie inside the folder of this definition, named by a relative path with slashes", n.Text)
		return nil, false
	}
	text, err := i.source.open(clean)
	switch {
	case err != nil:
		i.fault(n, mockbase.FieldReference, "the file %q cannot be read: %s", n.Text, reason(err))
		return nil, false
	case len(text) > maxInlined:
		i.fault(n, mockbase.FieldLimit, "the file %q has more than %d bytes", n.Text, maxInlined)
		return nil, false
	}
	i.names = append(i.names, path.Join(path.Dir(i.source.name), clean))
	return text, true
}

func (i *inliner) fault(n *mockbase.Node, code mockbase.Code, format string, args ...any) {
	i.faults = append(i.faults, mockbase.FieldError{
		Pointer: "#", Code: code, Detail: fmt.Sprintf(format, args...), Line: n.Line, Column: n.Column,
	})
}

// eachMember returns an object with every member as change returns it.
func eachMember(n *mockbase.Node, change func(key string, value *mockbase.Node) *mockbase.Node) *mockbase.Node {
	if n.Kind != mockbase.NodeObject {
		return n
	}
	copied := *n
	copied.Members = slices.Clone(n.Members)
	for at, m := range n.Members {
		copied.Members[at].Value = change(m.Key, m.Value)
	}
	return &copied
}

// changeMember returns an object with one member changed.
func changeMember(n *mockbase.Node, name string, change func(n *mockbase.Node) *mockbase.Node) *mockbase.Node {
	return replaceMember(n, name, name, change)
}

// replaceMember returns an object with the value of one member changed, under another name where it has changed.
func replaceMember(n *mockbase.Node, name, by string, change func(n *mockbase.Node) *mockbase.Node) *mockbase.Node {
	if n.Kind != mockbase.NodeObject {
		return n
	}
	copied := *n
	copied.Members = slices.Clone(n.Members)
	for at, m := range n.Members {
		if m.Key != name {
			continue
		}
		if value := change(m.Value); value != m.Value {
			copied.Members[at].Key, copied.Members[at].Value = by, value
		}
	}
	return &copied
}

// eachItem returns a list with every item as change returns it.
func eachItem(n *mockbase.Node, change func(n *mockbase.Node) *mockbase.Node) *mockbase.Node {
	if n.Kind != mockbase.NodeList {
		return n
	}
	copied := *n
	copied.Items = make([]*mockbase.Node, len(n.Items))
	for at, item := range n.Items {
		copied.Items[at] = change(item)
	}
	return &copied
}

var errNoFile = errors.New("it is no ordinary file")

// reason is what went wrong with a file, without its name.
func reason(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}

// opener reads files below a folder on disk, and notes in read how they were just before. A root refuses links that lead out of it.
func opener(folder string, read States) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if fs.ValidPath(name) {
			read.note(filepath.Join(folder, filepath.FromSlash(name)))
		}
		root, err := os.OpenRoot(folder)
		if err != nil {
			return nil, err
		}
		defer func() { _ = root.Close() }() // nothing was written
		return readFrom(root.FS(), name)
	}
}

// readFrom reads an ordinary file, and no more of it than tells that it is too large.
func readFrom(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return io.ReadAll(io.LimitReader(f, maxInlined+1))
}
