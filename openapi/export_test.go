package openapi

// Steps counts the schemas that were compiled with each other, and the values that were made.
func (d *Document) Steps() int64 { return d.schemas.steps.Load() }

// Texts counts the texts of schemas that were compiled, and the schemas in the longest of them.
func (d *Document) Texts() (count, longest int) { return d.schemas.texts, d.schemas.longest }
