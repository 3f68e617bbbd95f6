package auth_test

import (
	"bytes"
	"crypto/sha256"
	"regexp"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

func TestM41_a_token_has_its_form_and_is_read_back(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^mb_(pat|svc|pub)_[0-9A-Za-z]{36}$`)
	seen := map[string]bool{}
	for kind, prefix := range map[string]string{mockbase.TokenPersonal: "mb_pat_", mockbase.TokenService: "mb_svc_", mockbase.TokenPublic: "mb_pub_"} {
		for range 100 {
			made := auth.NewAPIToken(kind)
			if !form.MatchString(made.Text) || !strings.HasPrefix(made.Text, prefix) || seen[made.Text] {
				t.Fatalf("token %q", made.Text)
			}
			seen[made.Text] = true
			if made.Shown() != made.Text[:12] {
				t.Errorf("shown as %q", made.Shown())
			}
			read, ok := auth.ReadAPIToken(made.Text)
			digest := sha256.Sum256([]byte(made.Text))
			if !ok || read.Kind != kind || !bytes.Equal(read.Hash, digest[:]) {
				t.Errorf("read as %v %+v", ok, read)
			}
		}
	}
}

// The checksum is over all that precedes it, in base 62 with leading zeros: worked by hand from CRC-32 (IEEE).
func TestM41_the_checksum_is_the_CRC_of_all_that_precedes(t *testing.T) {
	t.Parallel()
	const body = "mb_pat_000000000000000000000000000000"
	if _, ok := auth.ReadAPIToken(body + auth.Checksum(body)); !ok {
		t.Error("a token with the right checksum is refused")
	}
	for text, want := range map[string]string{"": "000000", "123456789": "3jZRME"} {
		if got := auth.Checksum(text); got != want {
			t.Errorf("checksum of %q is %q, want %q", text, got, want)
		}
	}
}

func TestM41_a_token_with_any_other_character_is_none(t *testing.T) {
	t.Parallel()
	good := auth.NewAPIToken(mockbase.TokenPersonal).Text
	for i := range good {
		for _, c := range []byte{'0', 'x', '_', '.'} {
			if good[i] == c {
				continue
			}
			if bad := good[:i] + string(c) + good[i+1:]; isToken(bad) {
				t.Errorf("%q is taken for a token", bad)
			}
		}
	}
	for _, bad := range []string{"", "mb_", good[:len(good)-1], good + "0", " " + good, strings.ToUpper(good), strings.Replace(good, "pat", "svc", 1)} {
		if isToken(bad) {
			t.Errorf("%q is taken for a token", bad)
		}
	}
}

func isToken(text string) bool {
	_, ok := auth.ReadAPIToken(text)
	return ok
}

func TestM42_a_link_secret_is_found_by_its_digest(t *testing.T) {
	t.Parallel()
	one, two := auth.NewLinkSecret(), auth.NewLinkSecret()
	if len(one.Text) != 43 || one.Text == two.Text {
		t.Errorf("secrets %q and %q", one.Text, two.Text)
	}
	if !bytes.Equal(auth.ReadLinkSecret(one.Text).Hash, one.Hash) || bytes.Equal(one.Hash, two.Hash) {
		t.Error("the digest is not that of the secret")
	}
}

func FuzzReadAPIToken(f *testing.F) {
	f.Add(auth.NewAPIToken(mockbase.TokenService).Text)
	f.Add("mb_pat_")
	f.Fuzz(func(t *testing.T, text string) {
		if read, ok := auth.ReadAPIToken(text); ok && (read.Text != text || read.Kind == "") {
			t.Errorf("%q was read as %+v", text, read)
		}
	})
}
