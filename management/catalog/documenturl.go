package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
)

// FillDocuments puts the texts of documents that a definition names by url in the place of the addresses, so that what is
// applied is what was fetched, once. text returns the document at an address as JSON; its error is a fault at the url.
func FillDocuments(d *mockbase.Definition, text func(address string) (json.RawMessage, error)) error {
	if !slices.ContainsFunc(d.Config.Documents, func(own mockbase.Document) bool { return own.URL != "" }) {
		return nil
	}
	parts, err := documentSection().parts(d.Config.Source["documents"])
	if err != nil {
		return err
	}
	var faults []mockbase.FieldError
	for i := range parts {
		address := parts[i].node.Find("url")
		if address == nil {
			continue
		}
		found, err := text(address.Text)
		if err != nil {
			faults = append(faults, mockbase.FieldError{
				Pointer: "#/documents/" + strconv.Itoa(i) + "/url", Code: mockbase.FieldReference, Detail: "gives no OpenAPI document: " + err.Error(),
			})
			continue
		}
		entry := withoutSource(parts[i].node)
		entry.Members = append(entry.Members, mockbase.Member{Key: "inline", Value: rawNode(found)})
		parts[i] = documentPart(entry)
	}
	if err := mockbase.Invalid(faults); err != nil {
		return err
	}
	source := maps.Clone(d.Config.Source)
	source["documents"] = documentSection().join(parts)
	config, err := mockbase.DecodeConfigPart(source)
	if err != nil {
		return err
	}
	d.Config = config
	return nil
}
