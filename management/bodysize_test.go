package management_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The rest of a body that is too large is read, so that its sender, who has begun to send it, gets to the answer.
func TestM9_the_rest_of_a_body_that_is_too_large_is_read(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"slug":"` + strings.Repeat("x", 6<<20) + `"}`
	for name, header := range map[string]map[string]string{"a body": nil, "one with a key": {"Idempotency-Key": "k"}} {
		r := w.request(t, call{method: http.MethodPost, path: "/api/v1/projects", as: editor, body: body, header: header})
		r.ContentLength = -1 // what says how long it is is refused before it is sent
		got, err := (&http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: time.Minute}).RoundTrip(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got.Body.Close()
		if got.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: status %d", name, got.StatusCode)
		}
	}
}
