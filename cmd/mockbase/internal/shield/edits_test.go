package shield_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/shield"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// RL101: what administrators did at two servers comes to the same, in whatever order and however often they tell each other.
func TestRL101_edits_of_bans_are_joined_in_any_order(t *testing.T) {
	t.Parallel()
	a := shield.Edits(map[string]int64{"one": 5, "two": 9})
	b := shield.Edits(map[string]int64{"two": 7, "three": 8})
	c := shield.Edits(map[string]int64{"one": 6, "three": 8})
	want, _ := shield.JoinEdits(a, b, c)
	for _, order := range [][]any{{a, c, b}, {b, a, c}, {b, c, a}, {c, a, b}, {c, b, a, a, b}} {
		if got, _ := shield.JoinEdits(order[0], order[1:]...); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if _, changed := shield.JoinEdits(a, c); !cmp.Equal(changed, []string{"one", "three"}) {
		t.Errorf("changed are %v", changed)
	}
	if _, changed := shield.JoinEdits(a, a); len(changed) != 0 {
		t.Errorf("changed by itself are %v", changed)
	}
	if got, _ := shield.JoinEdits(shield.ReadEdits(want), a); got != want {
		t.Errorf("read again: %s, want %s", got, want)
	}
	for _, text := range []string{"", "null", "[]", `{"one":7}`, "\x00\xff"} {
		if got, _ := shield.JoinEdits(a, shield.ReadEdits(text)); strings.Count(got, "lifted") != 2 {
			t.Errorf("with %q: %s", text, got)
		}
	}
}

// RL101: they are bounded, the newest stay, and two servers drop the same.
func TestRL101_edits_of_bans_are_bounded(t *testing.T) {
	t.Parallel()
	at := map[string]int64{}
	for i := range int64(shield.MaxEdits + 500) {
		at["key"+strconv.FormatInt(i, 10)] = i
	}
	now := time.Unix(shield.MaxEdits+500, 0)
	left, text := shield.TrimEdits(shield.Edits(at), now)
	if left != shield.MaxEdits || strings.Contains(text, `"key499"`) || !strings.Contains(text, `"key500"`) {
		t.Errorf("%d are left", left)
	}
	if _, again := shield.TrimEdits(shield.ReadEdits(text), now); again != text {
		t.Error("what is left changes when it is trimmed again")
	}
	if left, _ := shield.TrimEdits(shield.Edits(map[string]int64{"old": 0, "new": 100}), time.Unix(50, 0).Add(shield.RememberEdits)); left != 1 {
		t.Errorf("%d are left of an old and a new one", left)
	}
}

// board is what servers share, and counts what is written there.
type board struct {
	held   redisstore.Document
	writes int
}

func (b *board) Document(context.Context, string) (redisstore.Document, error) { return b.held, nil }

func (b *board) PutDocument(_ context.Context, _ string, next redisstore.Document) (bool, redisstore.Document, error) {
	b.held = next
	b.writes++
	return true, next, nil
}

func (*board) Key(name string) string { return name }

// nothing keeps no bans.
type nothing struct{ shield.Kept }

func (nothing) Bans(context.Context) ([]mockbase.Ban, error)        { return nil, nil }
func (nothing) PutSetting(context.Context, *mockbase.Setting) error { return nil }

// RL101: an edit that is too old is forgotten by all servers, and not told from one to the other for ever.
func TestRL101_servers_forget_old_edits_together(t *testing.T) {
	t.Parallel()
	now := time.Unix(50, 0).Add(shield.RememberEdits)
	b := &board{}
	one, two := shield.Edits(map[string]int64{"old": 0, "new": 100}), shield.Edits(map[string]int64{"new": 100})
	for range 10 {
		one = shield.SyncEdits(t.Context(), b, nothing{}, now, one)
		two = shield.SyncEdits(t.Context(), b, nothing{}, now, two)
	}
	if b.writes != 1 || strings.Contains(string(b.held.Text), "old") || !strings.Contains(string(b.held.Text), "new") {
		t.Errorf("written %d times, in the end %s", b.writes, b.held.Text)
	}
}
