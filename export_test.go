package mockbase

// WrongBracket returns what the search for wrong brackets says of a YAML text, "" for nothing.
func WrongBracket(src []byte) string { return scanYAML(src, ParseLimits{}.withDefaults().Depth).wrong }
