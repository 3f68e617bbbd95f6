package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/internal/testkit"
)

// banOf returns the id of the ban that a server lists for an address, and what it says of it, or nothing.
func (c *visitor) banOf(t *testing.T, address string) (id, text string) {
	t.Helper()
	var page struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal([]byte(c.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/bans", "").body), &page); err != nil {
		t.Fatal(err)
	}
	for _, item := range page.Items {
		var ban struct {
			ID      string `json:"id"`
			Subject struct {
				Value string `json:"value"`
			} `json:"subject"`
		}
		if err := json.Unmarshal(item, &ban); err != nil {
			t.Fatal(err)
		}
		if ban.Subject.Value == address {
			return ban.ID, string(item)
		}
	}
	return "", ""
}

// banned says whether a server both lists and refuses an address; a server that does one of them is on its way.
func (c *visitor) banned(t *testing.T, address string) (listed, refused bool) {
	t.Helper()
	id, _ := c.banOf(t, address)
	return id != "", c.as(t, address) == http.StatusForbidden
}

func (c *visitor) ban(t *testing.T, kind, address string) {
	t.Helper()
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/admin/bans", `{"subject":{"type":"`+kind+`","value":"`+address+`"},"duration":"1d","reason":"scraping"}`)
}

func (c *visitor) lift(t *testing.T, address string) {
	t.Helper()
	id, _ := c.banOf(t, address)
	c.call(t, http.StatusNoContent, http.MethodDelete, "/api/v1/admin/bans/"+id, "")
}

// liftedAddress is banned and freed.
const liftedAddress = "198.51.100.7"

// free waits until a server neither lists nor refuses that address any more.
func (c *visitor) free(t *testing.T, when string) {
	t.Helper()
	await(t, when+": the end of the ban", func() bool {
		listed, refused := c.banned(t, liftedAddress)
		return !listed && !refused
	})
}

// held waits until a server lists and refuses it.
func (c *visitor) held(t *testing.T, when string) {
	t.Helper()
	await(t, when+": the ban", func() bool {
		listed, refused := c.banned(t, liftedAddress)
		return listed && refused
	})
}

// emptied empties Redis and waits until each of two servers has looked at what it shares several times since, and has given
// back what it knows.
func emptied(t *testing.T, redis *testkit.Redis) {
	t.Helper()
	const looks, documents, servers = 3, 3, 2
	redis.Do("FLUSHALL")
	least := scriptRuns(redis) + looks*documents*servers
	await(t, "the looks at what is shared", func() bool {
		return scriptRuns(redis) >= least && redis.Do("EXISTS", "ratelimit:document:bans") == "1"
	})
}

// scriptRuns is how many scripts Redis has run.
func scriptRuns(redis *testkit.Redis) int {
	_, rest, _ := strings.Cut(redis.Do("INFO", "commandstats"), "cmdstat_evalsha:calls=")
	number, _, _ := strings.Cut(rest, ",")
	runs, _ := strconv.Atoi(number) // None have run.
	return runs
}

// RL100 and RL101: a ban that is lifted at one server is lifted at the one where it was made, and stays so when that is
// started again and when Redis has lost all it held.
func TestRL101_a_ban_that_is_lifted_at_another_server_is_lifted_for_good(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	home := t.TempDir()
	server, a := sharing(t, redis, home)
	_, b := sharing(t, redis, t.TempDir())
	const address = liftedAddress
	a.ban(t, "ip", address)
	b.held(t, "at the other server")
	b.lift(t, address)
	a.free(t, "where it was made")
	b.free(t, "where it was lifted")

	server.stop(t)
	server, a = sharing(t, redis, home)
	a.free(t, "after a restart")
	emptied(t, redis)
	a.free(t, "after a loss")
	b.free(t, "after a loss, at the other server")

	// A new ban is another one.
	a.ban(t, "ip", address)
	b.held(t, "anew")
	emptied(t, redis)
	a.held(t, "anew, after a loss")
	b.held(t, "anew, after a loss, at the other server")

	// The server that made it is away when it is lifted, and Redis forgets all before that comes back.
	server.stop(t)
	b.lift(t, address)
	redis.Do("FLUSHALL")
	_, a = sharing(t, redis, home)
	a.free(t, "back after an absence")
	b.free(t, "when the other is back")
	emptied(t, redis)
	a.free(t, "at last")
	b.free(t, "at last, at the other server")
}

// RL101: another end and reason that a ban is given at one server are those that its maker gives it back with.
func TestRL101_a_ban_that_is_changed_at_another_server_is_changed_for_good(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	_, a := sharing(t, redis, t.TempDir())
	_, b := sharing(t, redis, t.TempDir())
	const address = "203.0.113.0/24"
	a.ban(t, "cidr", address)
	await(t, "the ban at the other server", func() bool { id, _ := b.banOf(t, address); return id != "" })
	id, _ := b.banOf(t, address)
	b.call(t, http.StatusOK, http.MethodPatch, "/api/v1/admin/bans/"+id, `{"reason":"a mistake of theirs"}`)
	for _, when := range []string{"at once", "after a loss"} {
		await(t, "the change "+when, func() bool {
			_, text := a.banOf(t, address)
			return strings.Contains(text, "a mistake of theirs") && a.as(t, "203.0.113.77") == http.StatusForbidden
		})
		emptied(t, redis)
	}
}
