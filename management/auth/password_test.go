package auth_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

// cheap keeps the tests fast; one test uses the real costs.
func cheap() *auth.Hasher {
	return auth.NewHasher(auth.HasherOptions{Parameters: auth.Parameters{Memory: 64, Passes: 1, Lanes: 1}})
}

func hash(t *testing.T, h *auth.Hasher, password string) string {
	t.Helper()
	text, err := h.Hash(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestM36_hashes_have_the_stated_costs(t *testing.T) {
	t.Parallel()
	h := auth.NewHasher(auth.HasherOptions{})
	stored := hash(t, h, "four unrelated words here")
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || strings.Join(parts[:4], "$") != "$argon2id$v=19$m=19456,t=2,p=1" {
		t.Fatalf("stored as %q", stored)
	}
	for i, want := range map[int]int{4: 16, 5: 32} {
		if part, err := base64.RawStdEncoding.DecodeString(parts[i]); err != nil || len(part) != want {
			t.Errorf("part %d has %d bytes (%v), want %d", i, len(part), err, want)
		}
	}
	match, renew, err := h.Verify(t.Context(), stored, "four unrelated words here")
	if !match || renew || err != nil {
		t.Errorf("the right password: %v, %v, %v", match, renew, err)
	}
}

func TestM36_verify_tells_right_from_wrong(t *testing.T) {
	t.Parallel()
	h := cheap()
	stored := hash(t, h, "four unrelated words here")
	for _, c := range []struct {
		name, password string
		match          bool
	}{
		{"right", "four unrelated words here", true},
		{"wrong", "four unrelated words there", false},
		{"empty", "", false},
		{"other case", "Four unrelated words here", false},
		{"huge", strings.Repeat("x", 1<<20), false},
	} {
		if match, _, err := h.Verify(t.Context(), stored, c.password); match != c.match || err != nil {
			t.Errorf("%s: %v, %v", c.name, match, err)
		}
	}
	if again := hash(t, h, "four unrelated words here"); again == stored {
		t.Error("two hashes share a salt")
	}
}

func TestM36_a_password_typed_on_two_keyboards_is_the_same(t *testing.T) {
	t.Parallel()
	h := cheap()
	stored := hash(t, h, "un cafe\u0301 tre\u0300s serre\u0301")
	if match, _, err := h.Verify(t.Context(), stored, "un caf\u00e9 tr\u00e8s serr\u00e9"); !match || err != nil {
		t.Errorf("composed and decomposed letters differ: %v, %v", match, err)
	}
}

func TestM36_weaker_hashes_ask_to_be_renewed(t *testing.T) {
	t.Parallel()
	weak := hash(t, cheap(), "four unrelated words here")
	strong := auth.NewHasher(auth.HasherOptions{Parameters: auth.Parameters{Memory: 128, Passes: 1, Lanes: 1}})
	if match, renew, err := strong.Verify(t.Context(), weak, "four unrelated words here"); !match || !renew || err != nil {
		t.Errorf("right password: %v, %v, %v", match, renew, err)
	}
	if match, renew, err := strong.Verify(t.Context(), weak, "wrong"); match || renew || err != nil {
		t.Errorf("wrong password: %v, %v, %v", match, renew, err)
	}
}

func TestM36_stored_hashes_are_read_within_bounds(t *testing.T) {
	t.Parallel()
	salt, sum := base64.RawStdEncoding.EncodeToString(make([]byte, 16)), base64.RawStdEncoding.EncodeToString(make([]byte, 32))
	phc := func(v int, m, passes, p uint64) string {
		return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", v, m, passes, p, salt, sum)
	}
	for _, c := range []struct {
		name, text string
		bounds     bool
	}{
		{"4 GB of memory", phc(19, 4<<20, 2, 1), true},
		{"memory beyond 32 bits", phc(19, 1<<33, 2, 1), false},
		{"too little memory", phc(19, 7, 1, 1), true},
		{"a million passes", phc(19, 19456, 1_000_000, 1), true},
		{"no passes", phc(19, 19456, 0, 1), true},
		{"255 lanes", phc(19, 19456, 2, 255), true},
		{"257 lanes", phc(19, 19456, 2, 257), true},
		{"no lanes", phc(19, 19456, 2, 0), true},
		{"a long hash", phc(19, 64, 1, 1) + strings.Repeat("A", 80), true},
		{"a short hash", strings.TrimSuffix(phc(19, 64, 1, 1), sum) + "AAAA", true},
		{"an old version", phc(16, 19456, 2, 1), false},
		{"argon2i", strings.Replace(phc(19, 64, 1, 1), "argon2id", "argon2i", 1), false},
		{"bcrypt", "$2a$10$abcdefghijklmnopqrstuv", false},
		{"empty", "", false},
		{"leading zeros", strings.Replace(phc(19, 64, 1, 1), "m=64", "m=064", 1), false},
		{"trailing text", strings.Replace(phc(19, 64, 1, 1), "p=1", "p=1,x=2", 1), false},
		{"padded base64", phc(19, 64, 1, 1) + "=", false},
	} {
		err := auth.ReadHash(c.text)
		if err == nil || auth.IsOutOfBounds(err) != c.bounds {
			t.Errorf("%s: %v, want out of bounds: %v", c.name, err, c.bounds)
		}
		// No text at all is that of a user without a password, whom none lets in.
		if match, _, err := cheap().Verify(t.Context(), c.text, "x"); match || (err == nil) != (c.text == "") {
			t.Errorf("%s: verified: %v, %v", c.name, match, err)
		}
	}
	if _, _, err := cheap().Verify(t.Context(), strings.Repeat("$", 1000), "x"); !auth.IsOutOfBounds(err) {
		t.Errorf("a very long string: %v", err)
	}
}

func TestM36_at_most_4_hash_and_32_wait(t *testing.T) {
	t.Parallel()
	h := cheap()
	release := h.Fill()
	var group sync.WaitGroup
	results := make([]error, auth.MaxWaiting)
	for i := range results {
		group.Go(func() { results[i] = h.VerifyNobody(context.WithoutCancel(t.Context()), "x") })
	}
	for h.Waiting() < auth.MaxWaiting {
		runtime.Gosched()
	}
	if err := h.VerifyNobody(t.Context(), "x"); mockbase.ErrorCode(err) != mockbase.CodeBusy {
		t.Errorf("the 33rd waiting caller: %v, want %s", err, mockbase.CodeBusy)
	}
	release()
	group.Wait()
	if i := slices.IndexFunc(results, func(err error) bool { return err != nil }); i >= 0 {
		t.Errorf("a waiting caller: %v", results[i])
	}
	if err := h.VerifyNobody(t.Context(), "x"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestM36_a_waiting_caller_may_give_up(t *testing.T) {
	t.Parallel()
	h := cheap()
	defer h.Fill()()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Hash(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if h.Waiting() != 0 {
		t.Error("it still counts as waiting")
	}
}

// Time itself is not measured, as a busy machine decides over it: the work is the same, with the same costs, in the same
// queue.
func TestM36_an_unknown_user_costs_the_same_work(t *testing.T) {
	t.Parallel()
	h := auth.NewHasher(auth.HasherOptions{})
	stored := strings.Split(hash(t, h, "four unrelated words here"), "$")
	nobody := strings.Split(h.Nobody(), "$")
	for i := range stored {
		if i < 4 && stored[i] != nobody[i] || len(stored[i]) != len(nobody[i]) {
			t.Errorf("part %d: %q for a user, %q for nobody", i, stored[i], nobody[i])
		}
	}
	defer h.Fill()()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.VerifyNobody(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("it does not wait in the queue: %v", err)
	}
}

func TestM36_new_passwords_are_judged(t *testing.T) {
	t.Parallel()
	const email = "somebody@example.com"
	for _, c := range []struct {
		name, password string
		code           mockbase.Code
	}{
		{"words", "correct horse battery staple", ""},
		{"exactly 15", "k9fe2mmq0zu4tyx", ""},
		{"14", "k9fe2mmq0zu4ty", mockbase.FieldRange},
		{"15 letters of two bytes", "aäeöiüoßuyâêîôû", ""},
		{"14 letters of two code points", strings.Repeat("a\u0301", 3) + "bcdefghijkl", mockbase.FieldRange},
		{"256", strings.Repeat("0123456789abcdef", 15) + "and sixteen more", ""},
		{"257", strings.Repeat("0123456789abcdef", 15) + "and seventeen mor", mockbase.FieldRange},
		{"1,000 bytes", strings.Repeat("😀", 248) + "abcdefgh", ""},
		{"the e-mail address", "Somebody@Example.com", mockbase.FieldPattern},
		{"one character", strings.Repeat("x", 20), mockbase.FieldPattern},
		{"a repeated word", "hunter2hunter2hunter2", mockbase.FieldPattern},
		{"a repeated word, cut", "secretsecretsec", mockbase.FieldPattern},
		{"a repeated word in other case", "abcdefghABCDEFGH", mockbase.FieldPattern},
		{"repeated once only in part", "abcdefghij abcdefg", ""},
		{"common", "1qaz2wsx3edc4rfv", mockbase.FieldPattern},
		{"common in capitals", "QWERTYUIOPASDFGHJKL", mockbase.FieldPattern},
		{"not UTF-8", "four unrelated words \xff\xfe", mockbase.FieldPattern},
		{"spaces and symbols", "  ~~ any kind !! ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := auth.CheckPassword("#/password", c.password, email)
			if c.code == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			weak, ok := errors.AsType[*mockbase.Error](err)
			if !ok || weak.Code != mockbase.CodeWeakPassword || len(weak.Fields) != 1 {
				t.Fatalf("got %v", err)
			}
			if f := weak.Fields[0]; f.Pointer != "#/password" || f.Code != c.code || f.Detail == "" {
				t.Errorf("field %+v, want code %s", f, c.code)
			}
			if strings.Contains(err.Error(), c.password) {
				t.Errorf("the message repeats the password: %v", err)
			}
		})
	}
}

func TestM36_the_list_of_common_passwords_is_sorted_and_long_enough(t *testing.T) {
	t.Parallel()
	list := strings.Fields(auth.CommonPasswords())
	if len(list) < 200 || !slices.IsSorted(list) {
		t.Errorf("%d passwords, sorted: %v", len(list), slices.IsSorted(list))
	}
	for _, p := range list {
		if len([]rune(p)) < auth.MinPassword || p != strings.ToLower(p) {
			t.Errorf("%q can never be asked for", p)
		}
	}
}

func FuzzReadHash(f *testing.F) {
	f.Add("$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("$argon2id$v=19$m=4194304,t=1,p=1$AAAA$AAAA")
	f.Add("$2a$10$abc")
	f.Add("$$$$$")
	f.Fuzz(func(t *testing.T, text string) {
		if auth.ReadHash(text) == nil && !strings.HasPrefix(text, "$argon2id$v=19$m=") {
			t.Errorf("read %q", text)
		}
	})
}

func FuzzCheckPassword(f *testing.F) {
	f.Add("correct horse battery staple")
	f.Add(strings.Repeat("ab", 300))
	f.Add("\xff\u0301")
	f.Fuzz(func(t *testing.T, password string) {
		if err := auth.CheckPassword("#/password", password, "a@b.test"); err == nil && len(password) < auth.MinPassword {
			t.Errorf("accepted %q", password)
		}
	})
}
