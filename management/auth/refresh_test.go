package auth_test

import (
	"bytes"
	"crypto/sha256"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/management/auth"
)

func TestM34_the_successor_is_the_same_each_time_and_on_each_replica(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	ring := openRing(t, dir, newWatch())
	first := ring.NewRefresh("sgn_1")
	replica := openRing(t, dir, newWatch())
	one, two := ring.Successor(first), replica.Successor(first)
	if one.Token != two.Token || !bytes.Equal(one.Hash, two.Hash) || one.SignInID != "sgn_1" {
		t.Errorf("successors %v and %v", one, two)
	}
	if one.Token == first.Token || ring.Successor(one).Token == one.Token {
		t.Error("a rotation gave the same token")
	}
	if sum := sha256.Sum256([]byte(one.Token)); !bytes.Equal(sum[:], one.Hash) {
		t.Error("the hash is not the token's SHA-256")
	}
	if another := openRing(t, "", newWatch()); another.Successor(first).Token == one.Token {
		t.Error("another instance derives the same successor")
	}
}

func TestM34_tokens_of_this_instance_are_recognised_and_no_others(t *testing.T) {
	t.Parallel()
	ring := openRing(t, "", newWatch())
	good := ring.NewRefresh("sgn_1")
	read, ok := ring.ReadRefresh(good.Token)
	if !ok || read.SignInID != "sgn_1" || !bytes.Equal(read.Hash, good.Hash) {
		t.Fatalf("read %v, %v", read, ok)
	}
	if ring.Successor(read).Token != ring.Successor(good).Token {
		t.Error("the token that was read has another successor")
	}
	parts := strings.Split(good.Token, ".")
	for name, token := range map[string]string{
		"empty":                   "",
		"no parts":                "abc",
		"no tag":                  parts[0] + "." + parts[1],
		"another sign-in":         parts[0] + ".sgn_2." + parts[2],
		"another secret":          strings.Repeat("A", len(parts[0])) + "." + parts[1] + "." + parts[2],
		"short secret":            "AAAA." + parts[1] + "." + parts[2],
		"trailing part":           good.Token + ".x",
		"trailing line end":       good.Token + "\n",
		"line end in the secret":  parts[0][:8] + "\n" + parts[0][8:] + "." + parts[1] + "." + parts[2],
		"token of another server": openRing(t, "", newWatch()).NewRefresh("sgn_1").Token,
	} {
		if _, ok := ring.ReadRefresh(token); ok {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestM34_two_tokens_are_never_alike(t *testing.T) {
	t.Parallel()
	ring := openRing(t, "", newWatch())
	seen := map[string]bool{}
	token := ring.NewRefresh("sgn_1")
	for range 1000 {
		if seen[token.Token] {
			t.Fatal("a token came twice")
		}
		seen[token.Token] = true
		token = ring.Successor(token)
	}
	if other := ring.NewRefresh("sgn_1"); seen[other.Token] {
		t.Error("a new token is in the chain of another")
	}
}

func FuzzReadRefresh(f *testing.F) {
	ring, err := auth.OpenKeyRing("", nil)
	if err != nil {
		f.Fatal(err)
	}
	good := ring.NewRefresh("sgn_1").Token
	f.Add(good)
	f.Add("..")
	f.Add("AAAA.sgn_1.AAAA")
	f.Fuzz(func(t *testing.T, token string) {
		if _, ok := ring.ReadRefresh(token); ok && token != good {
			t.Errorf("accepted %q", token)
		}
	})
}
