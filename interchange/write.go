package interchange

import (
	"encoding/base64"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// Short ways to make the values of a definition.

func textNode(s string) *mockbase.Node {
	return &mockbase.Node{Kind: mockbase.NodeText, Text: toValid(s)}
}

func numberNode(n int64) *mockbase.Node {
	return &mockbase.Node{Kind: mockbase.NodeNumber, Text: strconv.FormatInt(n, 10)}
}

func floatNode(f float64) *mockbase.Node {
	return &mockbase.Node{Kind: mockbase.NodeNumber, Text: strconv.FormatFloat(f, 'f', -1, 64)}
}

func boolNode(b bool) *mockbase.Node {
	return &mockbase.Node{Kind: mockbase.NodeBool, Text: strconv.FormatBool(b)}
}

func trueNode() *mockbase.Node { return &mockbase.Node{Kind: mockbase.NodeBool, Text: "true"} }

func falseNode() *mockbase.Node { return &mockbase.Node{Kind: mockbase.NodeBool, Text: "false"} }

func nullNode() *mockbase.Node { return &mockbase.Node{Kind: mockbase.NodeNull} }

func listNode(items ...*mockbase.Node) *mockbase.Node {
	return &mockbase.Node{Kind: mockbase.NodeList, Items: items}
}

// durationNode writes a duration as the format has it, such as 250ms.
func durationNode(d time.Duration) *mockbase.Node {
	return textNode(strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64) + "ms")
}

// millis is a duration of so many milliseconds, of which none is negative and none beyond reason.
func millis(ms float64) time.Duration {
	const longest = 1000 * time.Hour
	d := ms * float64(time.Millisecond)
	switch {
	case !(d > 0):
		return 0
	case d > float64(longest):
		return longest
	}
	return time.Duration(d)
}

func toValid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	b := make([]rune, 0, len(s))
	for _, r := range s {
		b = append(b, r)
	}
	return string(b)
}

// doc is an object of the definition in the making. Its zero value is an object without members.
type doc struct {
	members []mockbase.Member
}

// set adds or replaces a member. A nil node is no member.
func (d *doc) set(key string, n *mockbase.Node) {
	if n == nil {
		return
	}
	for i := range d.members {
		if d.members[i].Key == key {
			d.members[i].Value = n
			return
		}
	}
	d.members = append(d.members, mockbase.Member{Key: key, Value: n})
}

// text adds a text that is not empty.
func (d *doc) text(key, s string) {
	if s != "" {
		d.set(key, textNode(s))
	}
}

// doc adds an object that has members.
func (d *doc) doc(key string, inner *doc) {
	if inner != nil && len(inner.members) > 0 {
		d.set(key, inner.node())
	}
}

// list adds a list that has items.
func (d *doc) list(key string, items []*mockbase.Node) {
	if len(items) > 0 {
		d.set(key, listNode(items...))
	}
}

// get returns a member, nil if there is none.
func (d *doc) get(key string) *mockbase.Node { return d.node().Find(key) }

func (d *doc) empty() bool { return d == nil || len(d.members) == 0 }

// remove deletes a member.
func (d *doc) remove(key string) {
	for i := range d.members {
		if d.members[i].Key == key {
			d.members = append(d.members[:i], d.members[i+1:]...)
			return
		}
	}
}

// append adds an item to a list member, which is made when it is not there.
func (d *doc) append(key string, n *mockbase.Node) {
	if old := d.get(key); old != nil && old.Kind == mockbase.NodeList {
		d.set(key, listNode(append(slices.Clip(old.Items), n)...))
		return
	}
	d.set(key, listNode(n))
}

func (d *doc) node() *mockbase.Node {
	return &mockbase.Node{Kind: mockbase.NodeObject, Members: d.members}
}

// ordered returns the members of a response in the order in which people write them.
func (d *doc) ordered() *doc {
	order := []string{"name", "when", "weight", "times", "status", "template", "headers", "json", "text", "base64", "file"}
	rank := func(m mockbase.Member) int {
		if i := slices.Index(order, m.Key); i >= 0 {
			return i
		}
		return len(order)
	}
	sorted := &doc{members: slices.Clone(d.members)}
	slices.SortStableFunc(sorted.members, func(a, b mockbase.Member) int { return rank(a) - rank(b) })
	return sorted
}

// with makes an object of one member.
func with(key string, n *mockbase.Node) *doc {
	d := &doc{}
	d.set(key, n)
	return d
}

// bytesBody sets the body of an answer to bytes: as text where they are text, else as base64.
func (d *doc) bytesBody(body []byte) {
	if utf8.Valid(body) {
		d.set("text", textNode(string(body)))
		return
	}
	d.set("base64", textNode(base64.StdEncoding.EncodeToString(body)))
}
