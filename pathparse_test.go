package mockbase_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

func literal(text string) mockbase.PathSegment {
	return mockbase.PathSegment{Kind: mockbase.SegmentLiteral, Parts: []mockbase.PathPart{{Literal: text}}}
}

func segment(kind mockbase.SegmentKind, parts ...mockbase.PathPart) mockbase.PathSegment {
	return mockbase.PathSegment{Kind: kind, Parts: parts}
}

func TestParsePath(t *testing.T) {
	t.Parallel()
	type part = mockbase.PathPart
	cases := []struct {
		name, path string
		want       []mockbase.PathSegment
	}{
		{"the root is one empty segment", "/", []mockbase.PathSegment{literal("")}},
		{"literal text", "/users/all", []mockbase.PathSegment{literal("users"), literal("all")}},
		{"B9 empty segments are kept", "/a//b/", []mockbase.PathSegment{literal("a"), literal(""), literal("b"), literal("")}},
		{"B2 an escape is decoded once", "/a%2Fb/%2541", []mockbase.PathSegment{literal("a/b"), literal("%41")}},
		{"B3 Unicode and blanks stand as they are", "/café menu", []mockbase.PathSegment{literal("café menu")}},
		{"B4 a plus is a plus", "/a+b", []mockbase.PathSegment{literal("a+b")}},
		{"B16 matrix parameters are text", "/cars;color={c}", []mockbase.PathSegment{
			segment(mockbase.SegmentMixed, part{Literal: "cars;color="}, part{Name: "c"}),
		}},
		{"a parameter", "/users/{id}", []mockbase.PathSegment{literal("users"), segment(mockbase.SegmentParameter, part{Name: "id"})}},
		{"B13 a mixed segment", "/{n}.{ext}", []mockbase.PathSegment{
			segment(mockbase.SegmentMixed, part{Name: "n"}, part{Literal: "."}, part{Name: "ext"}),
		}},
		{"B13 a verb behind a parameter", "/{id}:activate", []mockbase.PathSegment{
			segment(mockbase.SegmentMixed, part{Name: "id"}, part{Literal: ":activate"}),
		}},
		{"B14 a constraint", `/{id:\d{1,3}}`, []mockbase.PathSegment{
			segment(mockbase.SegmentConstrained, part{Name: "id", Pattern: `\d{1,3}`}),
		}},
		{"a constraint may hold a slash, a colon, ? and #", "/{p:a/b?:#}/c", []mockbase.PathSegment{
			segment(mockbase.SegmentConstrained, part{Name: "p", Pattern: "a/b?:#"}), literal("c"),
		}},
		{"a constraint in a mixed segment", "/v{n:[0-9]+}", []mockbase.PathSegment{
			segment(mockbase.SegmentMixed, part{Literal: "v"}, part{Name: "n", Pattern: "[0-9]+"}),
		}},
		{"B12 a star", "/a/*/b", []mockbase.PathSegment{literal("a"), segment(mockbase.SegmentAny, part{}), literal("b")}},
		{"B12 two stars", "/a/**", []mockbase.PathSegment{literal("a"), segment(mockbase.SegmentRest, part{})}},
		{"B12 a named rest in the middle", "/{rest...}/x", []mockbase.PathSegment{
			segment(mockbase.SegmentRest, part{Name: "rest"}), literal("x"),
		}},
		{"doubled braces are braces", "/{{a}}/{{{x}}}", []mockbase.PathSegment{
			literal("{a}"), segment(mockbase.SegmentMixed, part{Literal: "{"}, part{Name: "x"}, part{Literal: "}"}),
		}},
		{"names hold dots, hyphens and digits", "/{a-b}/{c.d}/{0}", []mockbase.PathSegment{
			segment(mockbase.SegmentParameter, part{Name: "a-b"}), segment(mockbase.SegmentParameter, part{Name: "c.d"}),
			segment(mockbase.SegmentParameter, part{Name: "0"}),
		}},
		{"an escaped star is a star", "/%2A", []mockbase.PathSegment{literal("*")}},
		{"escaped bytes need not be UTF-8", "/%FF", []mockbase.PathSegment{literal("\xff")}},
		{"three dots are a name of their own", "/...", []mockbase.PathSegment{literal("...")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := mockbase.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Segments); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestB15_a_wrong_path_is_refused_with_its_column(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, path string
		column     int
		reason     string
	}{
		{"nothing", "", 1, "a path starts with a slash"},
		{"no slash", "users", 1, "a path starts with a slash"},
		{"a query", "/a?b=1", 3, "a path holds no query"},
		{"a fragment", "/é#b", 4, "a path holds no fragment, as clients never send one"},
		{"a name twice", "/a/{x}/{x}", 8, "the parameter {x} is there twice"},
		{"a name twice, once as the rest", "/{x}/{x...}", 6, "the parameter {x} is there twice"},
		{"an open brace", "/a/{x", 4, "{ is never closed"},
		{"an open brace behind another", "/{{{", 4, "{ is never closed"},
		{"a closing brace", "/a}", 3, "} closes nothing"},
		{"no name", "/{}", 3, `"" is no parameter name`},
		{"a dot in front", "/{...}", 3, `"" is no parameter name`},
		{"an endless name", "/{" + strings.Repeat("a", 65) + "}", 3, `"` + strings.Repeat("a", 59) + `…" is no parameter name`},
		{"neighbours", "/{a}{b}", 5, "the parameters {a} and {b} have nothing between them"},
		{"a rest that shares its segment", "/x{rest...}", 2, "{rest...} shares its segment with other text"},
		{"two rests", "/**/{rest...}", 5, "a path has at most one ** or {name...}"},
		{"a rest with a pattern", "/{rest...:a}", 2, "{rest...} takes no pattern"},
		{"an empty pattern", "/{a:}", 5, "the pattern is empty"},
		{"a wrong pattern", "/{a:b(c}", 5, `missing closing ): "b(c"`},
		{"look-around", "/{a:b(?=c)}", 6, "look-around is not supported"},
		{"a back-reference", `/{a:(b)\1}`, 8, "back-references are not supported"},
		{"a pattern of 257 characters", "/{a:" + strings.Repeat("é", 257) + "}", 5, "the pattern is longer than 256 characters"},
		{"nested braces", "/{a:{{b}}}", 6, "braces in a pattern do not nest"},
		{"a star inside a segment", "/a*", 3, "* stands for a whole segment only"},
		{"three stars", "/***", 2, "*** means nothing"},
		{"half an escape", "/a%2", 3, "% is not followed by two hexadecimal digits"},
		{"no escape", "/a%zz", 3, "% is not followed by two hexadecimal digits"},
		{"a segment that is resolved", "/a/../b", 4, `the segment ".." never matches, because requests are matched with such segments resolved`},
		{"the same, escaped", "/%2e", 2, `the segment "." never matches, because requests are matched with such segments resolved`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := mockbase.ParsePath(c.path)
			got, ok := errors.AsType[*mockbase.PathError](err)
			if !ok {
				t.Fatalf("error is %v", err)
			}
			if got.Column != c.column || got.Reason != c.reason {
				t.Errorf("got  column %d: %s\nwant column %d: %s", got.Column, got.Reason, c.column, c.reason)
			}
		})
	}
}

func TestB15_the_fix_for_a_query_is_to_move_it(t *testing.T) {
	t.Parallel()
	_, err := mockbase.ParsePath("/a?b=1")
	e, ok := errors.AsType[*mockbase.PathError](err)
	if !ok || e.Fix != "move the part behind ? to query" || e.Error() != "column 3: a path holds no query" {
		t.Errorf("error is %#v", err)
	}
}

func TestParsePathOfManyBracesIsFast(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/" + strings.Repeat("{", 1<<20), "/" + strings.Repeat("{a", 1<<19), strings.Repeat("/*", 1<<19)} {
		_, _ = mockbase.ParsePath(path) // It returns.
	}
}

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{
		"/", "/a//b/", "/users/{id}", `/{id:\d{3}}.json`, "/**/x", "/{rest...}", "/{{a}}", "/a%2Fb", "/a?b", "/{a}{b}", "/{a:(}", "/café", "/%zz",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		pattern, err := mockbase.ParsePath(path)
		if e, ok := errors.AsType[*mockbase.PathError](err); ok {
			if e.Column < 1 || e.Column > len(path)+1 || e.Reason == "" {
				t.Fatalf("%q: column %d: %s", path, e.Column, e.Reason)
			}
			return
		}
		rests := 0
		for _, s := range pattern.Segments {
			if len(s.Parts) == 0 {
				t.Fatalf("%q has a segment without parts", path)
			}
			if s.Kind == mockbase.SegmentRest {
				rests++
			}
			for i := 1; i < len(s.Parts); i++ {
				if s.Parts[i].Name != "" && s.Parts[i-1].Name != "" {
					t.Fatalf("%q has parameters side by side", path)
				}
			}
		}
		if rests > 1 || len(pattern.Segments) == 0 {
			t.Fatalf("%q is accepted as %v", path, pattern)
		}
	})
}
