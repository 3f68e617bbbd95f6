package collection_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/collection"
)

// ids asks for a list and returns the ids of its items.
func (s *shop) ids(line string) string {
	s.t.Helper()
	a := s.ask(line, "")
	if a.Problem != nil {
		return string(a.Problem.Code)
	}
	var ids []string
	for part := range strings.SplitSeq(string(a.Body), `{"id":`) {
		if id, _, ok := strings.Cut(strings.ReplaceAll(part, "}", ","), ","); ok && id != "[" {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, " ")
}

func TestQueries(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [
		{"id": 1, "views": 9, "a": {"b": "x"}, "tags": ["go", "rust"]},
		{"id": 2, "views": 10.0, "a": {"b": "y"}, "title": "A FOO"},
		{"id": 3, "views": 100, "title": "bar", "done": true, "nil": null}]}}`)
	for query, want := range map[string]string{
		"V8 an ordering compares numbers: views_gt=9":                       "2 3",
		"V8 two bounds: views_gte=9&views_lt=100":                           "1 2",
		"V8 numbers are equal by value: views=10":                           "2",
		"V8 not equal: views_ne=10":                                         "1 3",
		"V8 not equal holds for the missing: title_ne=bar":                  "1 2",
		"V8 repeats mean or: views=9&views=100":                             "1 3",
		"V8 repeats of not equal mean and: id_ne=1&id_ne=2":                 "3",
		"V8 a list: id_in=1,3":                                              "1 3",
		"V8 dotted names: a.b=y":                                            "2",
		"V8 an index into a list: tags.1=rust":                              "1",
		"V8 an unknown field filters everything out: nope=1":                "",
		"V8 kinds do not order: views_gt=abc":                               "",
		"V8 a truth: done=true":                                             "3",
		"V8 null: nil=null":                                                 "3",
		"V8 a list equals nothing: tags=go":                                 "",
		"V8 at most: views_lte=9":                                           "1",
		"V9 search ignores case: _q=foo":                                    "2",
		"V9 search goes into depth: _q=RUST":                                "1",
		"V9 like is a literal part: title_like=OO":                          "2",
		"V9 like minds the case: title_like=oo":                             "",
		"V9 match is an expression: title_match=^b.r$":                      "3",
		"V9 a broken expression: title_match=(":                             "invalid-parameter",
		"V9 a large expression over little: title_match=((a{1,30}){1,30})r": "3",
		"V12 a page that is no number: _page=x":                             "invalid-parameter",
		"V12 a page below 1: _page=0":                                       "invalid-parameter",
		"V12 a page out of range: _page=99":                                 "",
		"V12 a page far out of range: _page=99999999999999":                 "",
		"V12 a page of nothing: _limit=0":                                   "invalid-parameter",
		"V12 a negative start: _start=-1":                                   "invalid-parameter",
		"V12 pages and starts do not mix: _page=1&_start=2":                 "invalid-parameter",
		"V11 the end before the start: _start=2&_end=1":                     "",
		"V10 sort down: _sort=-views":                                       "3 2 1",
	} {
		name, query, _ := strings.Cut(query, ": ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := s.ids("GET /posts?" + query); got != want {
				t.Errorf("%s: got %q, want %q", query, got, want)
			}
		})
	}
}

func TestV10_sorting_is_stable_and_puts_the_missing_last(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [{"id": 1, "v": 1, "k": "b"}, {"id": 2, "k": "a"}, {"id": 3, "v": 2, "k": "a"}, {"id": 4, "v": "10", "k": "b"}]}}`)
	for sort, want := range map[string]string{"k": "2 3 1 4", "v": "1 3 4 2", "-v": "4 3 1 2", "k,v": "3 2 1 4", "-k,-v": "4 1 3 2"} {
		if got := s.ids("GET /posts?_sort=" + sort); got != want {
			t.Errorf("_sort=%s: got %s, want %s", sort, got, want)
		}
	}
}

func numbered(n int, more string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"id": %d}`, i+1)
	}
	return `{"posts": {"seed": [` + strings.Join(items, ",") + `]` + more + `}}`
}

func TestV11_pages(t *testing.T) {
	t.Parallel()
	s := open(t, numbered(25, ""))
	if got := s.ids("GET /posts"); got != "1 2 3 4 5 6 7 8 9 10" {
		t.Errorf("without parameters: %s", got)
	}
	a := s.want("GET /posts?_page=3&_limit=10&id_gt=0", "", `200 [{"id":21},{"id":22},{"id":23},{"id":24},{"id":25}]`)
	if a.Header.Get("X-Total-Count") != "25" {
		t.Errorf("X-Total-Count %q", a.Header.Get("X-Total-Count"))
	}
	want := `</m/shop/posts?id_gt=0&_page=1&_limit=10>; rel="first", </m/shop/posts?id_gt=0&_page=2&_limit=10>; rel="prev", ` +
		`</m/shop/posts?id_gt=0&_page=3&_limit=10>; rel="last"`
	if got := a.Header.Get("Link"); got != want {
		t.Errorf("Link %s\nwant %s", got, want)
	}
	if got := s.ask("GET /posts?_page=1&_limit=10", "").Header.Get("Link"); !strings.Contains(got, `_page=2&_limit=10>; rel="next"`) {
		t.Errorf("Link %s", got)
	}
	for query, want := range map[string]string{
		"_start=13&_limit=10": `_start=0&_limit=10 first, _start=3&_limit=10 prev, _start=23&_limit=10 next, _start=23&_limit=10 last`,
		"_start=3&_limit=10":  `_start=0&_limit=10 first, _start=0&_limit=3 prev, _start=13&_limit=10 next, _start=23&_limit=10 last`,
		"_start=23&_limit=10": `_start=0&_limit=10 first, _start=13&_limit=10 prev, _start=23&_limit=10 last`,
		"_start=99&_limit=10": `_start=0&_limit=10 first, _start=19&_limit=10 prev, _start=19&_limit=10 last`,
		"_start=29&_limit=30": `_start=0&_limit=30 first, _start=0&_limit=29 prev, _start=0&_limit=29 last`,
		"_page=9&_limit=10":   `_page=1&_limit=10 first, _page=3&_limit=10 prev, _page=3&_limit=10 last`,
	} {
		got := strings.NewReplacer("</m/shop/posts?", "", ">; rel=", " ", `"`, "").Replace(s.ask("GET /posts?"+query, "").Header.Get("Link"))
		if got != want {
			t.Errorf("%s: Link %s\nwant %s", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"_start=20&_end=22":       "21 22",
		"_start=3&_limit=2":       "4 5",
		"_end=2":                  "1 2",
		"_start=24":               "25",
		"_start=99":               "",
		"id_gt=20&_limit=2":       "21 22",
		"_sort=-id&_limit=1":      "25",
		"_limit=9999999999&id=25": "25",
	} {
		if got := s.ids("GET /posts?" + query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}

func TestV11_page_sizes_are_bounded(t *testing.T) {
	t.Parallel()
	s := open(t, numbered(9, `, "pageSize": 2, "maxPageSize": 3`))
	if got := s.ids("GET /posts"); got != "1 2" {
		t.Errorf("by default: %s", got)
	}
	if got := s.ids("GET /posts?_limit=100"); got != "1 2 3" {
		t.Errorf("with a large limit: %s", got)
	}
	if got := s.ids("GET /posts?_start=1&_end=9"); got != "2 3 4" {
		t.Errorf("with a far end: %s", got)
	}
}

func TestV11_an_envelope_holds_total_and_page(t *testing.T) {
	t.Parallel()
	open(t, numbered(3, `, "envelope": true`)).want("GET /posts?_page=2&_limit=2", "", `200 {"items":[{"id":3}],"total":3,"page":2}`)
}

func TestV13_relations_embed_expand_and_nest(t *testing.T) {
	t.Parallel()
	s := open(t, `{"authors": {"path": "/people", "seed": [{"id": 1, "name": "Ada"}, {"id": "b"}]},
		"posts": {"seed": [{"id": 1, "authorId": 1}, {"id": 2, "authorId": 9}], "relations": {"authorId": {"to": "authors"}}},
		"comments": {"seed": [{"id": 1, "postId": 1}], "relations": {"postId": {"to": "posts"}}}}`)
	s.want("GET /posts?_expand=author", "", `200 [{"id":1,"authorId":1,"author":{"id":1,"name":"Ada"}},{"id":2,"authorId":9}]`)
	s.want("GET /posts?_embed=comments", "", `200 [{"id":1,"authorId":1,"comments":[{"id":1,"postId":1}]},{"id":2,"authorId":9,"comments":[]}]`)
	s.want("GET /posts/1?_embed=comments&_expand=author", "",
		`200 {"id":1,"authorId":1,"author":{"id":1,"name":"Ada"},"comments":[{"id":1,"postId":1}]}`)
	s.want("GET /posts?_embed=nope", "", "invalid-parameter")
	s.want("GET /posts/1?_expand=nope", "", "invalid-parameter")
	s.want("GET /posts/1/comments", "", `200 [{"id":1,"postId":1}]`)
	s.want("GET /posts/2/comments", "", `200 []`)
	s.want("GET /posts/9/comments", "", "not-found")
	a := s.want("POST /posts/2/comments", `{"t":"x"}`, `201 {"id":2,"postId":2,"t":"x"}`)
	if a.Header.Get("Location") != "/m/shop/comments/2" {
		t.Errorf("Location %q", a.Header.Get("Location"))
	}
	s.want("POST /posts/9/comments", `{}`, "not-found")
	s.want("POST /posts/2/comments", `{"postId":1}`, "validation-failed")
	s.want("POST /authors/b/posts", `{}`, `201 {"id":3,"authorId":"b"}`)
}

func TestV17_fields_are_cut_out(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [{"id": 1, "a": 1, "b": 2}]}}`)
	s.want("GET /posts?_fields=b,a,nope", "", `200 [{"a":1,"b":2}]`)
	s.want("GET /posts/1?_fields=id", "", `200 {"id":1}`)
}

func TestV9_an_expression_that_costs_too_much_is_refused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 300_000)
	s := open(t, fmt.Sprintf(`{"posts": {"seed": [{"id": 1, "t": %q}]}}`, long))
	for _, query := range []string{"t_match=((a{1,30}){1,30})b", "t_match=x&t_match=((a{1,30}){1,30})b", "t_match=((((a{30}){30}){30}){30})"} {
		if got := s.ids("GET /posts?" + query); got != "invalid-parameter" {
			t.Errorf("%s: got %s", query, got)
		}
	}
	if got := s.ids("GET /posts?t_match=a$&_fields=id"); got != "1" {
		t.Errorf("a small expression over a long text: got %q", got)
	}
}

func TestV9_all_expressions_of_a_list_share_a_bound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 18_000)
	var seed []string
	for i := range 20 {
		seed = append(seed, fmt.Sprintf(`{"id": %d, "t": %q}`, i, long))
	}
	s := open(t, `{"posts": {"seed": [`+strings.Join(seed, ",")+`]}}`)
	if got := s.ids("GET /posts?t_match=((a{1,30}){1,30})b"); got != "invalid-parameter" {
		t.Errorf("got %s", got)
	}
}

func TestV9_a_list_is_given_up_when_its_client_has_left(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [{"id": 1}]}}`)
	left, leave := context.WithCancel(t.Context())
	leave()
	a := s.data.Serve(collection.Resource{Collection: "posts"}, &collection.Request{Method: "GET", Header: http.Header{}, Context: left})
	if a.Problem == nil || a.Problem.Code != mockbase.CodeUnavailable {
		t.Errorf("got %+v", a)
	}
}

func TestV13_an_empty_list_of_fields_shows_all(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [{"id": 1, "a": 2}]}}`)
	for _, query := range []string{"_fields=", "_fields=,"} {
		if a := s.ask("GET /posts?"+query, ""); string(a.Body) != `[{"id":1,"a":2}]` {
			t.Errorf("%s: got %s", query, a.Body)
		}
	}
}
