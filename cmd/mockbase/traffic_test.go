package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mockbase/mockbase/store/sqlite"
)

// keeping is a server with a data directory whose project keeps its traffic.
type keeping struct {
	*instance
	*visitor

	dir, password string
}

func startKeeping(t *testing.T, settings string) *keeping {
	t.Helper()
	dir := t.TempDir()
	r := &keeping{dir: filepath.Join(dir, "data"), password: filepath.Join(dir, "password")}
	if err := os.WriteFile(r.password, []byte(testPassword), 0o600); err != nil {
		t.Fatal(err)
	}
	r.again(t)
	r.logIn(t)
	r.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"shop","name":"Shop","settings":`+settings+`}`)
	r.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects/shop/mocks", `{"request":"GET /n/{n}","response":{"text":"hi"}}`)
	return r
}

// again starts the server on what it has on disk.
func (r *keeping) again(t *testing.T) {
	t.Helper()
	token := ""
	if r.visitor != nil {
		token = r.token
	}
	r.instance = start(t, "--data-dir="+r.dir, "--admin-email="+testEmail, "--admin-password-file="+r.password,
		"--management-limit=disabled", "--engine-limit=disabled", "--log-level=error")
	r.visitor = newClient(t, r.URL)
	r.token = token
}

// visit calls the mock some times.
func (r *keeping) visit(t *testing.T, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		r.call(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/m/shop/n/%d", n), "")
	}
}

// paths are those of the recorded exchanges, newest first.
func (r *keeping) paths(t *testing.T) []string {
	t.Helper()
	var page struct {
		Items []struct{ Request struct{ Path string } }
	}
	if err := json.Unmarshal([]byte(r.call(t, http.StatusOK, http.MethodGet, "/api/v1/projects/shop/traffic?limit=200", "").body), &page); err != nil {
		t.Fatal(err)
	}
	list := make([]string, len(page.Items))
	for i, x := range page.Items {
		list[i] = x.Request.Path
	}
	return list
}

// store opens the server's file of exchanges beside it.
func (r *keeping) store(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+sqlite.Files(filepath.Join(r.dir, databaseName))[1]+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// savedIn is how many exchanges are on disk.
func savedIn(t *testing.T, db *sql.DB) int {
	t.Helper()
	n := 0
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM exchanges").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestM61_traffic_that_was_saved_outlives_kill_9: what was on disk is there again, within the retention, and in order.
func TestM61_traffic_that_was_saved_outlives_kill_9(t *testing.T) {
	t.Parallel()
	r := startKeeping(t, `{"persistTraffic":true,"retention":{"maxCount":5}}`)
	r.visit(t, 0, 4)
	db := r.store(t)
	await(t, "the saved traffic", func() bool { return savedIn(t, db) == 4 })
	r.visit(t, 4, 7) // whether these are saved by then is chance
	r.kill(t)
	r.again(t)
	after := r.paths(t)
	if len(after) < 4 || len(after) > 5 {
		t.Fatalf("after kill -9 there is %q", after)
	}
	newest := 3
	if _, err := fmt.Sscanf(after[0], "/n/%d", &newest); err != nil {
		t.Fatal(err)
	}
	for i, path := range after {
		if path != fmt.Sprintf("/n/%d", newest-i) {
			t.Errorf("after kill -9 there is %q", after)
			break
		}
	}
	r.visit(t, 10, 13)
	if now := r.paths(t); len(now) != 5 || now[0] != "/n/12" || now[2] != "/n/10" || now[3] != after[0] {
		t.Errorf("after %q and three more there is %q", after, now)
	}
}

// TestM61_age_empties_a_journal_that_records_nothing: what is too old goes, from the disk with the next restart too.
func TestM61_age_empties_a_journal_that_records_nothing(t *testing.T) {
	t.Parallel()
	r := startKeeping(t, `{"persistTraffic":true,"retention":{"maxAge":"1s"}}`)
	r.visit(t, 0, 3)
	db := r.store(t)
	await(t, "the saved traffic", func() bool { return savedIn(t, db) == 3 })
	await(t, "the end of what is too old", func() bool { return len(r.paths(t)) == 0 })
	r.kill(t)
	r.again(t)
	if now := r.paths(t); len(now) != 0 {
		t.Errorf("a restart brings back %q", now)
	}
}

// TestM61_a_store_that_stalls_costs_no_mock_any_time holds the database for itself while mocks are called.
func TestM61_a_store_that_stalls_costs_no_mock_any_time(t *testing.T) {
	t.Parallel()
	r := startKeeping(t, `{"persistTraffic":true}`)
	r.visit(t, 0, 1)
	db := r.store(t)
	await(t, "the saved traffic", func() bool { return savedIn(t, db) == 1 })
	held, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := held.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	const calls = 150
	began := time.Now()
	for n := 1; n <= calls; n++ {
		r.visit(t, n, n+1)
	}
	// Waiting for the database would take seconds each time.
	if took := time.Since(began); took > calls*time.Second {
		t.Errorf("%d answers took %s while the database was held", calls, took)
	}
	if shown := len(r.paths(t)); shown != calls+1 {
		t.Errorf("%d exchanges of %d are shown meanwhile", shown, calls+1)
	}
	if n := savedIn(t, db); n != 1 {
		t.Errorf("%d exchanges are saved, though the database was held", n)
	}
	if _, err := held.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	await(t, "what waited, on disk", func() bool { return savedIn(t, db) == calls+1 })
}
