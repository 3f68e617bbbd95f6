package chance_test

import (
	"testing"

	"github.com/mockbase/mockbase/engine/chance"
)

// The numbers are those of the first release; a seed that is kept in somebody's CI must go on giving them.
func TestAA19_a_key_draws_the_same_numbers_for_good(t *testing.T) {
	t.Parallel()
	key := chance.Key{Seed: "42", Session: "default", Mock: "get-users", Response: "r1", Purpose: "delay", Call: 3}
	first, again := key.Rand(), key.Rand()
	for _, want := range []uint64{6628804828824694900, 3683985209761673560, 15884900134916836150} {
		got := first.Uint64()
		if other := again.Uint64(); got != other {
			t.Fatalf("equal keys draw %d and %d", got, other)
		}
		if got != want {
			t.Errorf("drew %d, want %d", got, want)
		}
	}
}

func TestAA19_every_part_of_a_key_counts(t *testing.T) {
	t.Parallel()
	base := chance.Key{Seed: "a", Session: "b", Mock: "c", Response: "d", Purpose: "e", Call: 1}
	keys := map[string]func(*chance.Key){
		"seed":     func(k *chance.Key) { k.Seed = "x" },
		"session":  func(k *chance.Key) { k.Session = "x" },
		"mock":     func(k *chance.Key) { k.Mock = "x" },
		"response": func(k *chance.Key) { k.Response = "x" },
		"purpose":  func(k *chance.Key) { k.Purpose = "x" },
		"call":     func(k *chance.Key) { k.Call = 2 },
		"the border between two parts": func(k *chance.Key) {
			k.Seed, k.Session = "ab", ""
		},
	}
	for name, change := range keys {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := base
			change(&other)
			if base.Rand().Uint64() == other.Rand().Uint64() {
				t.Errorf("%+v and %+v draw alike", base, other)
			}
		})
	}
}

func TestAA19_a_draw_gives_the_same_uuid_for_good(t *testing.T) {
	t.Parallel()
	key := chance.Key{Seed: "42", Session: "default", Mock: "posts", Purpose: "id", Call: 1}
	if got, want := chance.UUID(key.Rand()), "45add2ae-753d-495f-aa53-6c71633731b6"; got != want {
		t.Errorf("drew %s, want %s", got, want)
	}
}
