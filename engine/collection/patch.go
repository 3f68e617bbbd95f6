package collection

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// maxOperations bounds a patch, and maxCopied what its copies may add, in bytes.
const (
	maxOperations = 1_000
	maxCopied     = 1 << 20
)

// errTestFailed tells that a test of a patch does not hold.
var errTestFailed = errors.New("the value is another")

// operation is one step of a JSON Patch (RFC 6902).
type operation struct {
	op         string
	path, from []string
	value      *jsonvalue.Value
}

// patchOf reads the operations of a patch. Members that it does not know are passed over, as RFC 6902 asks.
func patchOf(document *jsonvalue.Value) ([]operation, error) {
	if document.Kind() != jsonvalue.Array || document.Len() > maxOperations {
		return nil, fmt.Errorf("a patch is a list of at most %d operations", maxOperations)
	}
	list := make([]operation, 0, document.Len())
	for i, step := range document.Items() {
		o, err := operationOf(step)
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		list = append(list, o)
	}
	return list, nil
}

func operationOf(step *jsonvalue.Value) (operation, error) {
	op, _ := step.Member("op")
	if op == nil || op.Kind() != jsonvalue.String {
		return operation{}, errors.New("it has no op")
	}
	o := operation{op: op.Text()}
	var err error
	if o.path, err = pointerIn(step, "path"); err != nil {
		return o, err
	}
	switch o.op {
	case "add", "replace", "test":
		if o.value, _ = step.Member("value"); o.value == nil {
			err = errors.New("it has no value")
		}
	case "move", "copy":
		o.from, err = pointerIn(step, "from")
	case "remove":
	default:
		err = fmt.Errorf("op %s is none of add, remove, replace, move, copy and test", strconv.Quote(shown(o.op)))
	}
	return o, err
}

func pointerIn(step *jsonvalue.Value, name string) ([]string, error) {
	text, _ := step.Member(name)
	if text == nil || text.Kind() != jsonvalue.String {
		return nil, fmt.Errorf("it has no %s", name)
	}
	path, ok := jsonvalue.ParsePointer(text.Text())
	if !ok {
		return nil, fmt.Errorf("its %s %s is no JSON Pointer", name, strconv.Quote(shown(text.Text())))
	}
	return path, nil
}

// apply applies a patch, all of it or nothing.
func apply(document *jsonvalue.Value, patch []operation) (*jsonvalue.Value, error) {
	copied := 0
	for i := range patch {
		o := &patch[i]
		if o.op == "copy" {
			if value, ok := document.At(o.from...); ok {
				copied += len(value.Append(nil))
			}
			if copied > maxCopied {
				return nil, fmt.Errorf("the copies of a patch may add %d bytes", maxCopied)
			}
		}
		next, err := o.applyTo(document)
		if err != nil {
			return nil, fmt.Errorf("operation %d, %s at %s: %w", i, o.op, strconv.Quote(shown(jsonvalue.Pointer(o.path...))), err)
		}
		document = next
	}
	return document, nil
}

func (o *operation) applyTo(document *jsonvalue.Value) (*jsonvalue.Value, error) {
	switch o.op {
	case "test":
		if value, ok := document.At(o.path...); !ok || !jsonvalue.Equal(value, o.value) {
			return nil, errTestFailed
		}
		return document, nil
	case "add":
		return put(document, o.path, o.value, insert)
	case "replace":
		return put(document, o.path, o.value, overwrite)
	case "remove":
		return remove(document, o.path)
	}
	value, ok := document.At(o.from...)
	if !ok {
		return nil, fmt.Errorf("there is nothing at %s", strconv.Quote(shown(jsonvalue.Pointer(o.from...))))
	}
	if o.op == "move" {
		if len(o.path) > len(o.from) && slices.Equal(o.path[:len(o.from)], o.from) {
			return nil, errors.New("a value cannot be moved into itself")
		}
		var err error
		if document, err = remove(document, o.from); err != nil {
			return nil, err
		}
	}
	return put(document, o.path, value, insert)
}

// placing says what happens at the end of a path.
type placing int

const (
	// insert adds a member or an item, overwrite replaces one that is there.
	insert placing = iota
	overwrite
)

var errNothingThere = errors.New("there is nothing of this name")

// put returns the document with a value at a path; everything beside the path is shared.
func put(document *jsonvalue.Value, path []string, value *jsonvalue.Value, how placing) (*jsonvalue.Value, error) {
	if len(path) == 0 {
		return value, nil
	}
	name, rest := path[0], path[1:]
	switch document.Kind() {
	case jsonvalue.Object:
		child, there := document.Member(name)
		if !there && (len(rest) > 0 || how == overwrite) {
			return nil, errNothingThere
		}
		if len(rest) > 0 {
			var err error
			if value, err = put(child, rest, value, how); err != nil {
				return nil, err
			}
		}
		return overlaid(document, jsonvalue.NewObject(jsonvalue.Member{Name: name, Value: value})), nil
	case jsonvalue.Array:
		return putItem(document, path, value, how)
	default:
		return nil, errNothingThere
	}
}

func putItem(list *jsonvalue.Value, path []string, value *jsonvalue.Value, how placing) (*jsonvalue.Value, error) {
	inserts := len(path) == 1 && how == insert
	at, err := indexOf(path[0], list.Len(), inserts)
	if err != nil {
		return nil, err
	}
	items := itemsOf(list)
	if inserts {
		return jsonvalue.NewArray(slices.Insert(items, at, value)...), nil
	}
	if items[at], err = put(items[at], path[1:], value, how); err != nil {
		return nil, err
	}
	return jsonvalue.NewArray(items...), nil
}

// indexOf reads an array index: digits without a leading zero (RFC 6901), and for an insertion the end, also as a hyphen.
func indexOf(token string, length int, inserts bool) (int, error) { //nolint:revive // the two readings differ in one place
	if inserts && token == "-" {
		return length, nil
	}
	at, err := strconv.Atoi(token)
	if err != nil || strconv.Itoa(at) != token || at < 0 || at > length || at == length && !inserts {
		return 0, fmt.Errorf("%s is no index of a list of %d", strconv.Quote(shown(token)), length)
	}
	return at, nil
}

func itemsOf(list *jsonvalue.Value) []*jsonvalue.Value {
	items := make([]*jsonvalue.Value, 0, list.Len()+1)
	for _, item := range list.Items() {
		items = append(items, item)
	}
	return items
}

// remove returns the document without the value at a path.
func remove(document *jsonvalue.Value, path []string) (*jsonvalue.Value, error) {
	if _, there := document.At(path...); !there || len(path) == 0 {
		return nil, errNothingThere
	}
	parentPath, name := path[:len(path)-1], path[len(path)-1]
	parent, _ := document.At(parentPath...)
	if parent.Kind() == jsonvalue.Array {
		at, err := indexOf(name, parent.Len(), false)
		if err != nil {
			return nil, err
		}
		return put(document, parentPath, jsonvalue.NewArray(slices.Delete(itemsOf(parent), at, at+1)...), overwrite)
	}
	var members []jsonvalue.Member
	for n, value := range parent.Members() {
		if n != name {
			members = append(members, jsonvalue.Member{Name: n, Value: value})
		}
	}
	return put(document, parentPath, jsonvalue.NewObject(members...), overwrite)
}
