package mockbase_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

func TestM20_secrets_are_masked(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		``:           ``,
		`{"a":`:      ``,
		`{"n":2.50}`: `{"n":2.50}`,
		`{"password":"p","newPassword":"q","name":"n"}`:                                     `{"password":"***","newPassword":"***","name":"n"}`,
		`{"request":{"headers":{"Authorization":"Bearer x","Accept":"y"}}}`:                 `{"request":{"headers":{"Authorization":"***","Accept":"y"}}}`,
		`{"value":true,"secret":true}`:                                                      `{"value":"***","secret":true}`,
		`{"auth":{"bearer":{"equals":"t0ps3cret"}},"sign":{"header":"X-Sig","secret":"k"}}`: `{"auth":{"bearer":"***"},"sign":{"header":"X-Sig","secret":"***"}}`,
		`[{"api-key":["a"]},{"X_API_KEY":{"a":1}}]`:                                         `[{"api-key":"***"},{"X_API_KEY":"***"}]`,
		`{"variables":{"pin":{"value":"1234","secret":true}}}`:                              `{"variables":{"pin":{"value":"***","secret":true}}}`,
		`{"variables":{"pin":{"value":"1234","secret":false}},"token":null}`:                `{"variables":{"pin":{"value":"1234","secret":false}},"token":null}`,
		`{"long":"` + strings.Repeat("x", 70<<10) + `"}`:                                    `{"truncated":true}`,
		`{"code":"7KQ2-M4XD-9TPA","Set-Cookie":"a=b","accessToken":"e30.e30"}`:              `{"code":"***","Set-Cookie":"***","accessToken":"***"}`,
	} {
		if got := string(mockbase.MaskSecrets([]byte(document))); got != want {
			t.Errorf("%.60s became %.200s, want %s", document, got, want)
		}
	}
}
