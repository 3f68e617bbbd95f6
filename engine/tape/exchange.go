package tape

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/mockbase/mockbase"
)

// Tag marks the mocks that were recorded.
const Tag = "recorded"

// Mask stands in the place of a secret.
const Mask = "***"

// Rules say what of a request becomes a condition, and what is a secret.
type Rules struct {
	// Headers are the request headers that become conditions.
	Headers []string
	// Secret tells that values of this name are never kept (rule T19).
	Secret func(name string) bool
}

// Exchange is a request that was passed on, and its answer, both whole.
type Exchange struct {
	// Method, Path and Query are those of the request, below the project; path and query as they were sent.
	Method, Path, Query string
	Header              http.Header
	Body                []byte
	// Status, AnswerHeader and AnswerBody are what the upstream answered.
	Status       int
	AnswerHeader http.Header
	AnswerBody   []byte
}

// Name is the name of the mock that records the request: that of its method and path, and where more decides, a digest of
// the rest (rule T20).
func Name(x *Exchange, rules Rules) (string, error) {
	request, err := rules.request(x)
	if err != nil {
		return "", err
	}
	return nameOf(x, request), nil
}

const (
	namePrefix = "rec-"
	nameDigest = 8
	nameRoom   = 64 - len(namePrefix) - nameDigest - 1
)

func nameOf(x *Exchange, request *asked) string {
	// Nothing of a literal path is a parameter, so that its letters alone make the name.
	path := resolved(x.Path)
	plain := mockbase.DefaultMockName(x.Method, strings.NewReplacer("{", "", "}", "", "*", "").Replace(path))
	name := namePrefix + strings.Trim(plain[:min(len(plain), nameRoom)], "-")
	if request.guarded || len(plain) > nameRoom || lossy(path) {
		sum := sha256.Sum256(request.document)
		name += "-" + hex.EncodeToString(sum[:])[:nameDigest]
	}
	return name
}

// lossy tells that a name does not hold all of a path, so that another path may have the same.
func lossy(path string) bool {
	for i := range len(path) {
		if c := path[i]; c != '/' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return true
		}
	}
	return strings.Contains(path, "//") || strings.HasSuffix(path, "/") && path != "/"
}
