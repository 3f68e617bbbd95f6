package openapi

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
)

// soundXML tells what keeps a body from being XML at all, nil for nothing. Its elements are not compared with a schema. What the
// parser does not read, such as other character sets and entities that the body defines itself, is not judged.
func soundXML(body []byte) error {
	d := xml.NewDecoder(bytes.NewReader(body))
	found := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if !found {
				return errors.New("it has no element")
			}
			return nil
		}
		if wrong, ok := errors.AsType[*xml.SyntaxError](err); ok {
			return wrong
		}
		if err != nil {
			return nil //nolint:nilerr // the parser cannot read it, which is no fault of the body
		}
		switch t := token.(type) {
		case xml.StartElement:
			found = true
		case xml.Directive:
			if bytes.Contains(t, []byte("<!ENTITY")) {
				return nil
			}
		}
	}
}
