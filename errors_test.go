package mockbase_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
)

func TestErrorsKeepTheirCauseToThemselves(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk full")
	err := mockbase.Errorf(mockbase.CodeUnavailable, "the store cannot be reached: %w", cause)
	if !errors.Is(err, cause) || err.Error() != "unavailable: the store cannot be reached: disk full" {
		t.Errorf("error is %v", err)
	}
	if plain := mockbase.Errorf(mockbase.CodeNotFound, "there is no mock %q", "x"); plain.Err != nil || plain.Message != `there is no mock "x"` {
		t.Errorf("error is %#v", plain)
	}
}

func TestErrorCodeLooksThroughWrapping(t *testing.T) {
	t.Parallel()
	inner := mockbase.Errorf(mockbase.CodeNameTaken, "taken")
	cases := []struct {
		name string
		err  error
		want mockbase.Code
	}{
		{"no error", nil, ""},
		{"one of ours", inner, mockbase.CodeNameTaken},
		{"wrapped", fmt.Errorf("create mock: %w", inner), mockbase.CodeNameTaken},
		{"joined", errors.Join(errors.New("x"), inner), mockbase.CodeNameTaken},
		{"somebody else's", errors.New("x"), mockbase.CodeInternal},
	}
	for _, c := range cases {
		if got := mockbase.ErrorCode(c.err); got != c.want {
			t.Errorf("%s: code is %q, want %q", c.name, got, c.want)
		}
	}
}

func TestInvalidCountsItsFaults(t *testing.T) {
	t.Parallel()
	if err := mockbase.Invalid(nil); err != nil {
		t.Errorf("no faults: %v", err)
	}
	one := mockbase.FieldError{Pointer: "#/a", Code: mockbase.FieldType, Detail: "must be a text"}
	whole := mockbase.FieldError{Pointer: "#", Code: mockbase.FieldType, Detail: "must be an object"}
	cases := map[string][]mockbase.FieldError{
		"validation-failed: /a: must be a text":                      {one},
		"validation-failed: must be an object":                       {whole},
		"validation-failed: 2 faults, the first: /a: must be a text": {one, whole},
	}
	for want, fields := range cases {
		if got := mockbase.Invalid(fields).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestM3_ids_are_prefixed_and_sort_by_time(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	seen := map[string]bool{}
	last := ""
	for i := range 100 {
		id := mockbase.NewID(mockbase.PrefixMock, start.Add(time.Duration(i)*time.Millisecond))
		if !strings.HasPrefix(id, "mck_") || len(id) != len("mck_")+26 || mockbase.ValidSlug(id) {
			t.Fatalf("id is %q", id)
		}
		if id <= last || seen[id] {
			t.Fatalf("%q does not follow %q", id, last)
		}
		seen[id], last = true, id
	}
	if a, b := mockbase.NewID("x_", start), mockbase.NewID("x_", start); a == b || a[:12] != b[:12] {
		t.Errorf("two ids of one instant are %s and %s", a, b)
	}
}
