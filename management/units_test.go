package management_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/management"
)

func TestM17_host_fields_are_read_to_the_name(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host, name string
		loopback   bool
	}{
		{"localhost", "localhost", true},
		{"LocalHost:8080", "localhost", true},
		{"localhost.", "localhost", true},
		{"localhost.:80", "localhost", true},
		{"a.localhost:1", "a.localhost", true},
		{"127.0.0.1", "127.0.0.1", true},
		{"127.8.9.1:80", "127.8.9.1", true},
		{"[::1]:80", "::1", true},
		{"[::1]", "::1", true},
		{"::1", "::1", true},
		{"[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", true},
		{"0.0.0.0", "0.0.0.0", false},
		{"10.0.0.1:80", "10.0.0.1", false},
		{"127.0.0.1.evil.test", "127.0.0.1.evil.test", false},
		{"2130706433", "2130706433", false},
		{"0x7f.1", "0x7f.1", false},
		{"localhost.evil.test", "localhost.evil.test", false},
		{"xlocalhost", "xlocalhost", false},
		{"", "", false},
		{":80", "", false},
		{"a:b:c", "a:b:c", false},
	} {
		if name := management.HostName(c.host); name != c.name || management.LoopbackName(name) != c.loopback {
			t.Errorf("%q is read as %q, loopback %v", c.host, name, management.LoopbackName(name))
		}
	}
}

func TestM10_ETags_are_read_strictly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		`"v1"`: 1, `"v42"`: 42, `"7"`: 7, `v7`: 7, `7`: 7, `"v9223372036854775807"`: 9223372036854775807,
	} {
		if got, ok := management.ReadETag(text); got != want || !ok {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{``, `""`, `"v"`, `"v0"`, `"v-1"`, `"v1`, `v1"`, `W/"v1"`, `"x1"`, `"v1 "`, `"v9223372036854775808"`, `"vv1"`, `*`} {
		if got, ok := management.ReadETag(text); ok {
			t.Errorf("%s is read as %d", text, got)
		}
	}
}

func TestM62_members_are_put_behind_a_document_as_it_is(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ object, more, want string }{
		{`{"a":1.50}`, `{"b":2}`, `{"a":1.50,"b":2}`},
		{`{}`, `{"b":2}`, `{"b":2}`},
		{``, `{"b":2}`, `{"b":2}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
		{" {\"a\":1}\n", "{\"b\":\"<&>\"}\n", `{"a":1,"b":"<&>"}`},
	} {
		if got := management.AppendMembers(c.object, c.more); got != c.want {
			t.Errorf("%q and %q: %s", c.object, c.more, got)
		}
	}
}

// TestM13_pages_name_every_item_once walks a list page by page while others insert and delete items behind and before the
// cursor. What was there all the time comes exactly once, in order; nothing comes twice.
func TestM13_pages_name_every_item_once(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		order := []string{"name", "-name"}[seed%2]
		var list, staying []string
		for i := range 40 {
			name := fmt.Sprintf("n%03d", i*10)
			list = append(list, name)
			if i%3 > 0 {
				staying = append(staying, name)
			}
		}
		var seen []string
		after := ""
		for {
			onPage, next, err := management.Page(list, 1+random.IntN(7), order, after)
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, onPage...)
			if next == "" {
				break
			}
			after = next
			list = slices.DeleteFunc(list, func(name string) bool { return !slices.Contains(staying, name) && random.IntN(4) == 0 })
			list = append(list, fmt.Sprintf("n%03d", random.IntN(400)|1))
			slices.Sort(list)
			list = slices.Compact(list)
		}
		sorted := slices.Clone(seen)
		slices.Sort(sorted)
		if len(slices.Compact(slices.Clone(sorted))) != len(seen) {
			t.Fatalf("seed %d: an item came twice: %v", seed, seen)
		}
		if order == "-name" {
			slices.Reverse(sorted)
		}
		if diff := cmp.Diff(sorted, seen); diff != "" {
			t.Fatalf("seed %d: out of order:\n%s", seed, diff)
		}
		for _, name := range staying {
			if !slices.Contains(seen, name) {
				t.Fatalf("seed %d: %s was skipped: %v", seed, name, seen)
			}
		}
	}
}

func FuzzReadETag(f *testing.F) {
	f.Add(`"v7"`)
	f.Add(`W/"v7"`)
	f.Add(`7`)
	f.Fuzz(func(t *testing.T, text string) {
		if version, ok := management.ReadETag(text); ok && version < 1 {
			t.Errorf("%q is version %d", text, version)
		}
	})
}

func FuzzHostName(f *testing.F) {
	f.Add("localhost:80")
	f.Add("[::1]:80")
	f.Add("a.b..:x")
	f.Fuzz(func(t *testing.T, host string) {
		name := management.HostName(host)
		if management.LoopbackName(name) && strings.Contains(name, "evil") && !strings.HasSuffix(name, ".localhost") && !strings.Contains(name, "%") {
			t.Errorf("%q is taken for loopback", host)
		}
	})
}
