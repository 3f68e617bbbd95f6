package mockbase

import (
	"errors"
	"regexp/syntax"
	"strings"
)

// checkRegexp says why a pattern is no RE2 expression and at which byte offset; the reason is "" for a good one (rule
// K2).
func checkRegexp(pattern string) (reason string, offset int) {
	_, err := syntax.Parse(pattern, syntax.Perl)
	wrong, isSyntax := errors.AsType[*syntax.Error](err)
	switch {
	case err == nil:
		return "", 0
	case !isSyntax:
		return err.Error(), 0
	}
	offset = max(strings.Index(pattern, wrong.Expr), 0)
	return describeRegexp(wrong), offset
}

func describeRegexp(wrong *syntax.Error) string {
	for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(wrong.Expr, look) {
			return "look-around is not supported"
		}
	}
	if wrong.Code == syntax.ErrInvalidEscape && len(wrong.Expr) > 1 && '1' <= wrong.Expr[1] && wrong.Expr[1] <= '9' {
		return "back-references are not supported"
	}
	if strings.HasPrefix(wrong.Expr, "(?>") {
		return "atomic groups are not supported"
	}
	return wrong.Code.String() + ": " + quote(wrong.Expr)
}
