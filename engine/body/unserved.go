package body

import "github.com/mockbase/mockbase"

// others refuses what the format knows and this package does not act on.
func (k *compiler) others() {
	b := k.match
	for name, stated := range map[string]bool{
		"xpath": len(b.XPath) > 0, "form": len(b.Form) > 0, "multipart": len(b.Multipart) > 0, "xml": b.XML != nil, "text": b.Text != nil,
	} {
		if stated {
			k.wrong(mockbase.FieldNotServed, `"`+name+`" is not served by this version yet; leave it out`, name)
		}
	}
}
