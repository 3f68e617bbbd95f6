package mockbase

import "encoding/json"

// SetInline puts texts, which are JSON, into the places of what stands inline in the entries of documents, by the indexes of those.
// Documents may be large, and are not read again for it.
func (c *Config) SetInline(texts map[int]json.RawMessage) error {
	const section = "documents"
	if len(texts) == 0 {
		return nil
	}
	list, err := ParseNode(c.Source[section], FormatJSON, ParseLimits{})
	if err != nil {
		return err
	}
	size := len(c.Source[section])
	for _, text := range texts {
		size += len(text)
	}
	b := append(make([]byte, 0, size), '[')
	for i, entry := range list.Items {
		if i > 0 {
			b = append(b, ',')
		}
		text, ok := texts[i]
		if !ok || entry.Kind != NodeObject {
			b = entry.appendJSON(b)
			continue
		}
		var at int
		b, at = entry.appendWith(b, "inline", text)
		if i < len(c.Documents) && at > 0 {
			c.Documents[i].Inline = b[at : at+len(text) : at+len(text)]
		}
	}
	c.Source[section] = append(b, ']')
	return nil
}

// appendWith appends an object with a text as the value of one member, and returns where that begins; 0 is nowhere.
func (n *Node) appendWith(b []byte, name string, text []byte) (whole []byte, at int) {
	b = append(b, '{')
	for i := range n.Members {
		if i > 0 {
			b = append(b, ',')
		}
		m := &n.Members[i]
		b = append(appendJSONText(b, m.Key), ':')
		if m.Key == name {
			at = len(b)
			b = append(b, text...)
			continue
		}
		b = m.Value.appendJSON(b)
	}
	return append(b, '}'), at
}
