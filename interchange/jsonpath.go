package interchange

import (
	"errors"
	"strings"
)

var errNoStandardPath = errors.New("it is not of RFC 9535 and cannot be written so")

// standardPath writes a JSONPath as other tools know it in the form of RFC 9535. What differs is small: the dollar sign may
// be missing, and filters may compare with =~ or call functions at the end.
func standardPath(text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", errNoStandardPath
	case !strings.HasPrefix(text, "$"):
		if strings.HasPrefix(text, "[") || strings.HasPrefix(text, ".") {
			text = "$" + text
		} else {
			text = "$." + text
		}
	}
	for _, odd := range []string{"=~", " in ", " nin ", "subsetof", "anyof", "noneof", " size ", " empty ", ".length()", ".size()", ".min()", ".max()", ".avg()", ".sum()", ".keys()", ".concat(", ".append("} {
		if strings.Contains(text, odd) {
			return "", errNoStandardPath
		}
	}
	return text, nil
}
