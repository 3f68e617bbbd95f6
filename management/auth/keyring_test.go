package auth_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/management/auth"
)

// watch is a clock that tests move by hand.
type watch struct{ now time.Time }

func newWatch() *watch { return &watch{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (w *watch) Now() time.Time          { return w.now }
func (w *watch) Advance(d time.Duration) { w.now = w.now.Add(d) }

func openRing(t *testing.T, dir string, w *watch) *auth.KeyRing {
	t.Helper()
	ring, err := auth.OpenKeyRing(dir, w.Now)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func states(ring *auth.KeyRing) []auth.KeyState {
	var list []auth.KeyState
	for _, k := range ring.Keys() {
		list = append(list, k.State)
	}
	return list
}

func TestM33_the_first_start_makes_keys_that_the_next_start_finds(t *testing.T) {
	t.Parallel()
	dir, w := filepath.Join(t.TempDir(), "keys"), newWatch()
	first := openRing(t, dir, w)
	second := openRing(t, dir, w)
	if diff := cmp.Diff(first.Keys(), second.Keys()); diff != "" {
		t.Errorf("keys changed over a restart (-first +second):\n%s", diff)
	}
	if first.InstanceID() != second.InstanceID() || first.InstanceID() == "" {
		t.Errorf("instance id %q, then %q", first.InstanceID(), second.InstanceID())
	}
	if diff := cmp.Diff([]auth.KeyState{auth.KeyActive, auth.KeyNext}, states(first)); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	token, err := first.Issue(auth.Claims{UserID: "usr_1", SignInID: "sgn_1", AuthTime: w.now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Verify(token); err != nil {
		t.Errorf("a token from before the restart: %v", err)
	}
}

func TestM33_key_storage_is_for_its_owner_alone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	openRing(t, dir, newWatch())
	check := func(name string, want os.FileMode) {
		t.Helper()
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("entries %v, %v: want the one file", entries, err)
	}
	file := filepath.Join(dir, entries[0].Name())
	check(dir, 0o700)
	check(file, 0o600)

	for name, mode := range map[string]os.FileMode{dir: 0o755, file: 0o644} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	openRing(t, dir, newWatch())
	check(dir, 0o700)
	check(file, 0o600)
}

func TestM33_rotation_promotes_the_next_key_and_keeps_the_old_one_until_its_tokens_end(t *testing.T) {
	t.Parallel()
	dir, w := t.TempDir(), newWatch()
	ring := openRing(t, dir, w)
	before := ring.Keys()
	old, err := ring.Issue(auth.Claims{UserID: "usr_1", SignInID: "sgn_1", AuthTime: w.now})
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Rotate(); err != nil {
		t.Fatal(err)
	}
	after := ring.Keys()
	if diff := cmp.Diff([]auth.KeyState{auth.KeyActive, auth.KeyNext, auth.KeyRetired}, states(ring)); diff != "" {
		t.Fatalf("states (-want +got):\n%s", diff)
	}
	if after[0].ID != before[1].ID || after[2].ID != before[0].ID || after[1].ID == before[1].ID {
		t.Errorf("before %v, after %v", before, after)
	}
	if got := after[2].RetiresAt.Sub(w.now); got != auth.AccessLife+auth.Leeway {
		t.Errorf("the old key verifies for %v", got)
	}
	reopened := openRing(t, dir, w)
	if _, err := reopened.Verify(old); err != nil {
		t.Errorf("a token of the retired key, after a restart: %v", err)
	}
	w.Advance(auth.AccessLife + auth.Leeway)
	if _, err := ring.Verify(old); err == nil {
		t.Error("the token of a retired key outlived it")
	}
	if got := len(ring.JWKS().Keys); got != 2 {
		t.Errorf("%d published keys after the old one ended, want 2", got)
	}
	if err := ring.Rotate(); err != nil {
		t.Fatal(err)
	}
	if got := len(ring.Keys()); got != 3 {
		t.Errorf("%d keys after the second rotation, want 3", got)
	}
}

func TestM33_the_retired_key_loses_its_private_half(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ring := openRing(t, dir, newWatch())
	if err := ring.Rotate(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "keyring.json"))
	if err != nil {
		t.Fatal(err)
	}
	var stored struct {
		Keys []struct {
			State string `json:"state"`
			PEM   string `json:"pem"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	for _, k := range stored.Keys {
		block, _ := pem.Decode([]byte(k.PEM))
		_, private := x509.ParsePKCS8PrivateKey(block.Bytes)
		if (private == nil) != (k.State != "retired") {
			t.Errorf("key in state %s: private half readable: %v", k.State, private == nil)
		}
	}
}

func TestM33_keys_rotate_by_themselves_after_90_days(t *testing.T) {
	t.Parallel()
	dir, w := t.TempDir(), newWatch()
	ring := openRing(t, dir, w)
	w.Advance(auth.RotateAfter - time.Second)
	if rotated, err := ring.RotateIfDue(); rotated || err != nil {
		t.Fatalf("a second early: %v, %v", rotated, err)
	}
	w.Advance(time.Second)
	active := openRing(t, dir, w).Keys()[0]
	if active.ID == ring.Keys()[0].ID || !active.CreatedAt.Equal(w.now) {
		t.Errorf("after 90 days the active key is still %v", active)
	}
}

func TestM33_a_failed_rotation_changes_nothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	ring := openRing(t, dir, newWatch())
	before := ring.Keys()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := ring.Rotate(); err == nil {
		t.Fatal("rotation without a directory succeeded")
	}
	if diff := cmp.Diff(before, ring.Keys()); diff != "" {
		t.Errorf("keys (-before +after):\n%s", diff)
	}
}

func TestM33_broken_key_files_are_refused(t *testing.T) {
	t.Parallel()
	good := t.TempDir()
	openRing(t, good, newWatch())
	text, err := os.ReadFile(filepath.Join(good, "keyring.json"))
	if err != nil {
		t.Fatal(err)
	}
	damage := func(change func(ring map[string]any)) string {
		var ring map[string]any
		if err := json.Unmarshal(text, &ring); err != nil {
			t.Fatal(err)
		}
		change(ring)
		out, err := json.Marshal(ring)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	key := func(ring map[string]any) map[string]any { return ring["keys"].([]any)[0].(map[string]any) }
	for name, content := range map[string]string{
		"empty":          "",
		"not JSON":       "-----BEGIN",
		"no instance":    damage(func(r map[string]any) { r["instance"] = "" }),
		"short secret":   damage(func(r map[string]any) { r["secret"] = "AAAA" }),
		"no keys":        damage(func(r map[string]any) { r["keys"] = []any{} }),
		"no active key":  damage(func(r map[string]any) { key(r)["state"] = "next" }),
		"foreign method": damage(func(r map[string]any) { key(r)["algorithm"] = "none" }),
		"no PEM":         damage(func(r map[string]any) { key(r)["pem"] = "x" }),
		"key of no kind": damage(func(r map[string]any) { key(r)["pem"] = pemOf("PRIVATE KEY", []byte("x")) }),
		"retired, no PKIX": damage(func(r map[string]any) {
			r["keys"] = append(r["keys"].([]any), map[string]any{"state": "retired", "algorithm": "EdDSA", "pem": pemOf("PUBLIC KEY", []byte("x"))})
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "keyring.json"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := auth.OpenKeyRing(dir, nil); err == nil {
				t.Error("accepted")
			}
			if kept, err := os.ReadFile(filepath.Join(dir, "keyring.json")); err != nil || string(kept) != content {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

func pemOf(kind string, data []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}))
}

func TestM33_the_published_set_holds_public_halves_only(t *testing.T) {
	t.Parallel()
	ring := openRing(t, "", newWatch())
	text, err := json.Marshal(ring.JWKS())
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Keys []map[string]string `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		t.Fatal(err)
	}
	if len(set.Keys) != 2 {
		t.Fatalf("%d keys, want 2", len(set.Keys))
	}
	for i, k := range set.Keys {
		want := map[string]string{"kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": ring.Keys()[i].ID, "x": k["x"]}
		if diff := cmp.Diff(want, k); diff != "" {
			t.Errorf("key (-want +got):\n%s", diff)
		}
		if len(k["x"]) != (ed25519.PublicKeySize*8+5)/6 {
			t.Errorf("x is %q", k["x"])
		}
	}
}

func TestRL81_derived_secrets_last_as_long_as_the_ring(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func(dir string) *auth.KeyRing {
		k, err := auth.OpenKeyRing(dir, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := open(dir).Derive("shield identity")
	if again := open(dir).Derive("shield identity"); len(first) != 32 || !bytes.Equal(first, again) {
		t.Errorf("%d bytes, and others the next time", len(first))
	}
	if bytes.Equal(first, open(dir).Derive("something else")) || bytes.Equal(first, open("").Derive("shield identity")) {
		t.Error("two purposes or two rings have the same secret")
	}
}
