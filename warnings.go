package mockbase

// The codes of warnings (mock format, section 5). A warning never blocks.
const (
	// WarningTie marks a mock that another one of the same rank hides, or is hidden by.
	WarningTie Code = "tie"
	// WarningUnreachable marks a mock that can never answer.
	WarningUnreachable Code = "unreachable"
	// WarningTemplateOff marks a text that holds {{ in a response that is not rendered (rule P1).
	WarningTemplateOff Code = "template_off"
	// WarningNoDefault marks a mock all of whose responses have a condition, so that it may not answer (rule R10).
	WarningNoDefault Code = "no_default"
	// WarningBodyDropped marks a body that HTTP does not allow beside the status (rule O2).
	WarningBodyDropped Code = "body_dropped"
	// WarningUnused marks a value that has no effect here.
	WarningUnused Code = "unused"
)
