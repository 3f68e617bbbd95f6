package interchange

import "github.com/mockbase/mockbase"

// collectionOf is the collection that a document holds: itself, or what the API of Postman wraps it in.
func collectionOf(d value) value {
	if inner := d.member("collection"); inner.is(mockbase.NodeObject) {
		return inner
	}
	return d
}

// isEnvironment tells whether a document holds the variables of an environment of Postman, or those that count everywhere.
func isEnvironment(d value) bool {
	return d.has("_postman_variable_scope") || d.member("values").is(mockbase.NodeList) && d.has("name") && !d.has("item")
}

// environments reads the variables of environments that came with collections. Where several say the same, those of an
// environment count before those that count everywhere, and then the first.
func (o *output) environments(docs []value) map[string]string {
	known := map[string]string{}
	for _, scope := range []bool{false, true} {
		for _, d := range docs {
			if everywhere := d.member("_postman_variable_scope").text() == "globals"; isEnvironment(d) && everywhere == scope {
				o.environment(o.object(d), known)
			}
		}
	}
	return known
}

func (o *output) environment(d *object, known map[string]string) {
	d.skip("id", "name", "_postman_variable_scope", "_postman_exported_at", "_postman_exported_using", "color")
	for _, item := range d.listOf("values") {
		v, ok := o.entry(item)
		if !ok {
			continue
		}
		v.skip("type", "enabled", "description", "key")
		name, text := v.member("key").text(), v.textOf("value")
		switch _, stated := known[name]; {
		case item.member("enabled").text() == "false":
		case stated && known[name] != text:
			o.lost(item, "the variable %s has another value already, which counts", quoted(name))
		default:
			known[name] = text
		}
		v.done()
	}
	d.done()
}
