package openapi

// Steps counts the schemas that were compiled with each other, and the values that were made.
func (d *Document) Steps() int64 { return d.schemas.steps.Load() }
