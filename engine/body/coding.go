package body

import (
	"fmt"
	"strings"
)

// decode undoes the codings of a Content-Encoding header. The identity does nothing; no other coding is known.
func decode(raw []byte, lines []string) ([]byte, error) {
	for _, line := range lines {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.Trim(name, " \t"); name != "" && !strings.EqualFold(name, "identity") {
				return nil, fmt.Errorf("unknown content coding %q", cut(name))
			}
		}
	}
	return raw, nil
}
