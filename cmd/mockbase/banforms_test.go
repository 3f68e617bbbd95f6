package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

// from asks for a mock as a client behind a trusted proxy, and returns the status.
func (c *visitor) from(t *testing.T, address string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+"/m/demo/hello", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Forwarded-For", address)
	answer, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

func TestRL74_a_ban_is_about_the_same_client_however_its_address_is_written(t *testing.T) {
	t.Parallel()
	for name, hashed := range map[string]string{"readable": "--shield-hash-addresses=false", "hashed": "--shield-hash-addresses"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := []string{"--trusted-proxies=::ffff:127.0.0.1", "--engine-limit=disabled", hashed}
			server, c := administered(t, dir, args...)
			for _, own := range []string{`"type":"ip","value":"::ffff:127.0.0.1"`, `"type":"cidr","value":"::ffff:127.0.0.0/120"`, `"type":"ip","value":"64:ff9b::127.0.0.1"`} {
				got := c.call(t, http.StatusConflict, http.MethodPost, "/api/v1/admin/bans", `{"subject":{`+own+`},"duration":"1h","reason":"mine"}`)
				if !strings.Contains(got.body, `"would-lock-out"`) {
					t.Errorf("%s: %s", own, got.body)
				}
			}
			forms := []struct{ kind, written, shown, banned, other string }{
				{"ip", "::ffff:198.51.100.7", "198.51.100.7", "198.51.100.7", "198.51.100.8"},
				{"cidr", "::ffff:203.0.113.0/121", "203.0.113.0/25", "203.0.113.9", "203.0.113.200"},
				{"ip", "64:ff9b::192.0.2.7", "192.0.2.7", "192.0.2.7", "192.0.2.8"},
				{"ip", "2001:db8:1:2::7", "2001:db8:1:2::7", "2001:db8:1:2::8", "2001:db8:1:3::7"},
			}
			var made []mockbase.Ban
			for _, f := range forms {
				got := c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/admin/bans", `{"subject":{"type":"`+f.kind+`","value":"`+f.written+`"},"duration":"1h","reason":"x"}`)
				var b mockbase.Ban
				if err := json.Unmarshal([]byte(got.body), &b); err != nil || b.Subject.Value != f.shown {
					t.Errorf("%s: %s", f.written, got.body)
				}
				made = append(made, b)
				if a, b := c.from(t, f.banned), c.from(t, f.other); a != http.StatusForbidden || b != http.StatusOK {
					t.Errorf("%s: status %d for %s and %d for %s", f.written, a, f.banned, b, f.other)
				}
			}
			server.stop(t)
			_, c = administered(t, dir, args...)
			for i, f := range forms {
				if got := c.from(t, f.banned); got != http.StatusForbidden {
					t.Errorf("%s after a restart: status %d", f.written, got)
				}
				c.call(t, http.StatusNoContent, http.MethodDelete, "/api/v1/admin/bans/"+made[i].ID, "")
				if got := c.from(t, f.banned); got != http.StatusOK {
					t.Errorf("%s after it was lifted: status %d", f.written, got)
				}
			}
		})
	}
}
