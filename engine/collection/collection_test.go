package collection_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/collection"
)

// shop is a session's data of collections that are written as in a definition.
type shop struct {
	t    *testing.T
	set  *collection.Set
	data *collection.Data
}

func open(t *testing.T, collections string) *shop {
	t.Helper()
	set := compile(t, collections)
	return &shop{t: t, set: set, data: collection.NewData(set, func(_ string, n int64) string {
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	}, func() time.Time { return time.Unix(1_700_000_000, 0) })}
}

func compile(t *testing.T, collections string) *collection.Set {
	t.Helper()
	d, err := mockbase.DecodeDefinition([]byte(`{"collections": `+collections+`}`), mockbase.FormatJSON)
	if err != nil {
		t.Fatal(err)
	}
	var faults mockbase.Faults
	set := collection.Compile(d.Config.Collections, &faults)
	if faults.Err() != nil {
		t.Fatal(faults.Err())
	}
	return set
}

// ask sends "METHOD /collection[/id[/child]][?query]" with a body and header fields in pairs.
func (s *shop) ask(line, body string, header ...string) *collection.Answer {
	s.t.Helper()
	method, target, _ := strings.Cut(line, " ")
	path, query, _ := strings.Cut(target, "?")
	r := &collection.Request{Method: method, Header: http.Header{}, Body: []byte(body), Base: "/m/shop"}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); name != "" {
			value, err := url.QueryUnescape(value)
			if err != nil {
				s.t.Fatal(err)
			}
			r.Query = append(r.Query, collection.Parameter{Name: name, Value: value})
		}
	}
	return s.data.Serve(s.resource(path), r)
}

func (s *shop) resource(path string) collection.Resource {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	c, ok := s.set.Definition(segments[0])
	if !ok {
		s.t.Fatalf("no collection %q", segments[0])
	}
	res := collection.Resource{Collection: c.Name}
	switch {
	case c.Singular:
		res.Kind = collection.Single
	case len(segments) == 2:
		res.Kind, res.ID = collection.One, segments[1]
	case len(segments) == 3:
		res.Kind, res.ID, res.Child = collection.Related, segments[1], segments[2]
	}
	return res
}

// want asks and compares the answer with "STATUS body"; the status of a problem is its code.
func (s *shop) want(line, body, want string, header ...string) *collection.Answer {
	s.t.Helper()
	a := s.ask(line, body, header...)
	got := strings.TrimSpace(fmt.Sprintf("%d %s", a.Status, a.Body))
	if a.Problem != nil {
		got = string(a.Problem.Code)
	}
	if got != want {
		s.t.Errorf("%s %s: got %s, want %s", line, body, got, want)
	}
	return a
}

func TestV1_a_collection_serves_all_its_methods(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [{"id": 1, "t": "a"}]}}`)
	s.want("GET /posts", "", `200 [{"id":1,"t":"a"}]`)
	a := s.want("POST /posts", `{"t":"b"}`, `201 {"id":2,"t":"b"}`)
	if got := a.Header.Get("Location"); got != "/m/shop/posts/2" {
		t.Errorf("Location %q", got)
	}
	s.want("GET /posts/2", "", `200 {"id":2,"t":"b"}`)
	s.want("PUT /posts/2", `{"t":"c"}`, `200 {"id":2,"t":"c"}`)
	s.want("PATCH /posts/2", `{"u":1}`, `200 {"id":2,"t":"c","u":1}`)
	s.want("DELETE /posts/2", "", "204")
	s.want("GET /posts/2", "", "not-found")
	if diff := cmp.Diff([]string{"GET", "PUT", "PATCH"}, collection.Single.Methods()); diff != "" {
		t.Error(diff)
	}
}

func TestV1_a_singular_collection_is_one_object(t *testing.T) {
	t.Parallel()
	s := open(t, `{"profile": {"singular": true, "seed": {"name": "Ada"}}, "empty": {"singular": true}}`)
	s.want("GET /profile", "", `200 {"name":"Ada"}`)
	s.want("PATCH /profile", `{"age":3}`, `200 {"name":"Ada","age":3}`)
	s.want("PUT /profile", `{"name":"Bo"}`, `200 {"name":"Bo"}`)
	s.want("GET /empty", "", `200 {}`)
}

func TestV2_ids_compare_as_text_and_keep_their_type(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [{"id": 1}]}, "notes": {"seed": [{"id": "1"}]}}`)
	s.want("GET /posts/1", "", `200 {"id":1}`)
	s.want("GET /notes/1", "", `200 {"id":"1"}`)
	s.want("GET /posts/01", "", "not-found")
	s.want("PUT /notes/1", `{"a":1}`, `200 {"id":"1","a":1}`)
	s.want("PUT /notes/1", `{"id":1}`, "validation-failed")
}

func TestV3_new_ids(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ seed, body, want string }{
		"the next integer":                        {`[{"id": 1}, {"id": 3}]`, `{}`, `201 {"id":4}`},
		"the first without items":                 {`[]`, `{"id":null}`, `201 {"id":1}`},
		"a seeded UUID beside texts":              {`[{"id": "a"}]`, `{}`, `201 {"id":"00000000-0000-4000-8000-000000000001"}`},
		"the client's own, number text unchanged": {`[]`, `{"a":1,"id":2.50}`, `201 {"a":1,"id":2.50}`},
		"a taken one":                             {`[{"id": "a"}]`, `{"id":"a"}`, "name-taken"},
		"one taken as text":                       {`[{"id": 1}]`, `{"id":"1"}`, "name-taken"},
		"no object is an id":                      {`[]`, `{"id":{}}`, "validation-failed"},
		"no empty text is an id":                  {`[]`, `{"id":""}`, "validation-failed"},
		"a seed without ids is counted":           {`[{"t": 1}, {"t": 2}]`, `{}`, `201 {"id":3}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, `{"posts": {"seed": `+c.seed+`}}`).want("POST /posts", c.body, c.want)
		})
	}
}

func TestV3_the_counter_never_goes_back(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [{"id": 1}, {"id": 3}]}}`)
	s.want("DELETE /posts/3", "", "204")
	s.want("POST /posts", `{}`, `201 {"id":4}`)
	s.want("DELETE /posts/4", "", "204")
	s.want("POST /posts", `{}`, `201 {"id":5}`)
}

func TestV4_what_may_be_stored(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ contentType, body, want string }{
		"a list":               {"application/json", `[1]`, "validation-failed"},
		"a text":               {"application/json", `"x"`, "validation-failed"},
		"broken JSON":          {"application/json", `{`, "malformed-body"},
		"nothing":              {"application/json", ``, "malformed-body"},
		"another media type":   {"text/plain", `{}`, "unsupported-media-type"},
		"a form":               {"application/x-www-form-urlencoded", `a=1`, "unsupported-media-type"},
		"a kind of JSON":       {"application/vnd.api+json; charset=utf-8", `{"id":7}`, `201 {"id":7}`},
		"order and number":     {"application/json", `{"z":1.50,"id":7,"a":9007199254740993}`, `201 {"z":1.50,"id":7,"a":9007199254740993}`},
		"10,000 levels":        {"application/json", strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000), "malformed-body"},
		"a merge patch is not": {"application/merge-patch+json", `{}`, "unsupported-media-type"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, `{"posts": {}}`).want("POST /posts", c.body, c.want, "Content-Type", c.contentType)
		})
	}
}

func TestV4_a_list_is_stored_whole_or_not_at_all(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"bulk": true}}`)
	s.want("POST /posts", `[{"id":1},{"t":"b"}]`, `201 [{"id":1},{"id":2,"t":"b"}]`)
	s.want("POST /posts", `[{"id":8},{"id":1}]`, "name-taken")
	s.want("GET /posts", "", `200 [{"id":1},{"id":2,"t":"b"}]`)
	s.want("POST /posts", `{}`, `201 {"id":3}`)
	s.want("POST /posts", `[]`, "201 []")
}

func TestV5_put_replaces_and_never_moves(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [{"id": 1, "a": 1, "b": 2}]}, "open": {"upsert": true, "seed": [{"id": "x"}]}}`)
	s.want("PUT /posts/9", `{"a":1}`, "not-found")
	s.want("PUT /posts/1", `{"id":2}`, "validation-failed")
	s.want("PUT /posts/1", `{"b":3}`, `200 {"id":1,"b":3}`)
	s.want("PUT /posts/1", `{"c":4,"id":1}`, `200 {"c":4,"id":1}`)
	a := s.want("PUT /open/9", `{"a":1}`, `201 {"id":"9","a":1}`)
	if a.Header.Get("Location") != "/m/shop/open/9" {
		t.Errorf("Location %q", a.Header.Get("Location"))
	}
	s.want("PUT /open/9", `{"a":2}`, `200 {"id":"9","a":2}`)
}

func TestB8_ids_that_no_address_reaches_are_refused(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": []}}`)
	for _, id := range []string{".", ".."} {
		a := s.want("POST /posts", `{"id":"`+id+`"}`, "validation-failed")
		if !strings.Contains(a.Problem.Message, strconv.Quote(id)) || len(a.Problem.Fields) != 1 || a.Problem.Fields[0].Pointer != "#/id" {
			t.Errorf("%s: %+v", id, a.Problem)
		}
	}
	s.want("POST /posts", `{"id":"..."}`, `201 {"id":"..."}`)
}

func TestV6_patches_by_media_type(t *testing.T) {
	t.Parallel()
	const seed = `{"posts": {"seed": [{"id": 1, "a": {"x": 1}, "b": 2.0}]}}`
	cases := map[string]struct{ contentType, body, want string }{
		"merge patch":                         {"application/merge-patch+json", `{"a":{"y":2},"b":null}`, `200 {"id":1,"a":{"x":1,"y":2}}`},
		"JSON is a shallow merge":             {"application/json", `{"a":{"y":2},"b":null}`, `200 {"id":1,"a":{"y":2},"b":null}`},
		"without a type too":                  {"", `{"c":1}`, `200 {"id":1,"a":{"x":1},"b":2.0,"c":1}`},
		"the id cannot change":                {"application/json", `{"id":3}`, "validation-failed"},
		"nor by a merge patch":                {"application/merge-patch+json", `{"id":3}`, "validation-failed"},
		"nor by a JSON Patch":                 {"application/json-patch+json", `[{"op":"replace","path":"/id","value":5}]`, "validation-failed"},
		"a merge patch cannot take it":        {"application/merge-patch+json", `{"id":null}`, "validation-failed"},
		"a JSON Patch cannot take it":         {"application/json-patch+json", `[{"op":"remove","path":"/id"}]`, "validation-failed"},
		"JSON Patch":                          {"application/json-patch+json", `[{"op":"add","path":"/a/y","value":[1]},{"op":"remove","path":"/b"}]`, `200 {"id":1,"a":{"x":1,"y":[1]}}`},
		"a failed test":                       {"application/json-patch+json", `[{"op":"remove","path":"/b"},{"op":"test","path":"/a/x","value":5}]`, "patch-failed"},
		"a path that is not there":            {"application/json-patch+json", `[{"op":"remove","path":"/nope"}]`, "validation-failed"},
		"no list of operations":               {"application/json-patch+json", `{"op":"add"}`, "validation-failed"},
		"an index with a leading zero (H12)":  {"application/json-patch+json", `[{"op":"add","path":"/l","value":[1]},{"op":"remove","path":"/l/00"}]`, "validation-failed"},
		"the end of a list":                   {"application/json-patch+json", `[{"op":"add","path":"/l","value":[1]},{"op":"add","path":"/l/-","value":2.0},{"op":"add","path":"/l/0","value":0}]`, `200 {"id":1,"a":{"x":1},"b":2.0,"l":[0,1,2.0]}`},
		"nothing behind the end":              {"application/json-patch+json", `[{"op":"add","path":"/l","value":[1]},{"op":"add","path":"/l/2","value":2}]`, "validation-failed"},
		"move, copy and escapes":              {"application/json-patch+json", `[{"op":"move","from":"/b","path":"/a/~1~0"},{"op":"copy","from":"/a","path":"/c"},{"op":"test","path":"/c/~1~0","value":2}]`, `200 {"id":1,"a":{"x":1,"/~":2.0},"c":{"x":1,"/~":2.0}}`},
		"a move into itself":                  {"application/json-patch+json", `[{"op":"move","from":"/a","path":"/a/y"}]`, "validation-failed"},
		"a patch that leaves a text":          {"application/json-patch+json", `[{"op":"replace","path":"","value":"x"}]`, "validation-failed"},
		"another type":                        {"text/plain", `{}`, "unsupported-media-type"},
		"a scalar":                            {"application/json", `1`, "validation-failed"},
		"a list as merge patch":               {"application/merge-patch+json", `[1]`, "validation-failed"},
		"new members keep the patch's order":  {"application/json", `{"z":1,"c":2}`, `200 {"id":1,"a":{"x":1},"b":2.0,"z":1,"c":2}`},
		"members keep their place and digits": {"application/json", `{"a":0}`, `200 {"id":1,"a":0,"b":2.0}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, seed)
			if c.contentType == "" {
				s.want("PATCH /posts/1", c.body, c.want)
				return
			}
			s.want("PATCH /posts/1", c.body, c.want, "Content-Type", c.contentType)
			if !strings.HasPrefix(c.want, "200") {
				s.want("GET /posts/1", "", `200 {"id":1,"a":{"x":1},"b":2.0}`)
			}
		})
	}
}

func TestV7_delete_can_show_what_is_gone(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [{"id": 1}, {"id": 2, "t": "x"}]}}`)
	s.want("DELETE /posts/1", "", "204")
	s.want("DELETE /posts/1", "", "not-found")
	a := s.want("DELETE /posts/2", "", `200 {"id":2,"t":"x"}`, "Prefer", "wait=1, return=representation")
	if a.Header.Get("Preference-Applied") != "return=representation" {
		t.Errorf("Preference-Applied %q", a.Header.Get("Preference-Applied"))
	}
}

func TestV14_what_a_deleted_item_leaves_behind(t *testing.T) {
	t.Parallel()
	for onDelete, want := range map[string]string{
		"keep":     `200 [{"id":1,"authorId":1},{"id":2,"authorId":2}]`,
		"cascade":  `200 [{"id":2,"authorId":2}]`,
		"setNull":  `200 [{"id":1,"authorId":null},{"id":2,"authorId":2}]`,
		"restrict": `200 [{"id":1,"authorId":1},{"id":2,"authorId":2}]`,
	} {
		t.Run(onDelete, func(t *testing.T) {
			t.Parallel()
			s := open(t, `{"authors": {"seed": [{"id": 1}, {"id": 2}]}, "posts": {"seed": [{"id": 1, "authorId": 1}, {"id": 2, "authorId": 2}],
				"relations": {"authorId": {"to": "authors", "onDelete": "`+onDelete+`"}}}}`)
			status := "204"
			if onDelete == "restrict" {
				status = "in-use"
			}
			s.want("DELETE /authors/1", "", status)
			s.want("GET /posts", "", want)
		})
	}
}

func TestV14_a_restriction_further_down_undoes_the_whole_cascade(t *testing.T) {
	t.Parallel()
	s := open(t, `{"a": {"seed": [{"id": 1}, {"id": 2}]},
		"b": {"seed": [{"id": 1, "aId": 1}, {"id": 2, "aId": 1}], "relations": {"aId": {"to": "a", "onDelete": "cascade"}}},
		"c": {"seed": [{"id": 1, "bId": 2}], "relations": {"bId": {"to": "b", "onDelete": "restrict"}}}}`)
	s.want("DELETE /a/1", "", "in-use")
	s.want("GET /a", "", `200 [{"id":1},{"id":2}]`)
	s.want("GET /b", "", `200 [{"id":1,"aId":1},{"id":2,"aId":1}]`)
	s.want("DELETE /c/1", "", "204")
	s.want("DELETE /a/1", "", "204")
	s.want("GET /b", "", `200 []`)
}

func TestV14_a_circle_of_relations_ends(t *testing.T) {
	t.Parallel()
	s := open(t, `{"nodes": {"seed": [{"id": 1, "next": 2}, {"id": 2, "next": 1}], "relations": {"next": {"to": "nodes", "onDelete": "cascade"}}}}`)
	s.want("DELETE /nodes/1", "", "204")
	s.want("GET /nodes", "", `200 []`)
}

func TestV15_entity_tags_guard_writes(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"upsert": true, "seed": [{"id": 1, "a": 1}]}}`)
	tag := s.want("GET /posts/1", "", `200 {"id":1,"a":1}`).Header["ETag"][0] //nolint:staticcheck // in the spelling that is sent
	s.want("GET /posts/1", "", "304", "If-None-Match", tag)
	s.want("PATCH /posts/1", `{"a":2}`, "version-mismatch", "If-Match", `"not-it"`)
	s.want("PUT /posts/1", `{"a":3}`, "version-mismatch", "If-None-Match", "*")
	s.want("DELETE /posts/1", "", "version-mismatch", "If-Match", `"not-it"`)
	s.want("PUT /posts/2", `{}`, "version-mismatch", "If-Match", "*")
	s.want("PUT /posts/2", `{}`, `201 {"id":2}`, "If-None-Match", "*")
	s.want("PATCH /posts/1", `{"a":4}`, `200 {"id":1,"a":4}`, "If-Match", tag)
	s.want("PATCH /posts/1", `{"a":5}`, "version-mismatch", "If-Match", tag)
}

func TestV15_writes_at_the_same_time_lose_nothing(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [{"id": 1}]}}`)
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() { s.ask("PATCH /posts/1", fmt.Sprintf(`{"m%d":%d}`, i, i)) })
		all.Go(func() { s.ask("POST /posts", `{}`) })
		all.Go(func() { s.ask("GET /posts?_sort=id", "") })
	}
	all.Wait()
	var item map[string]int
	if err := json.Unmarshal(s.ask("GET /posts/1", "").Body, &item); err != nil || len(item) != 101 {
		t.Errorf("the item has %d members (%v), want all 100 and the id", len(item), err)
	}
	if got := s.ask("GET /posts", "").Header.Get("X-Total-Count"); got != "101" {
		t.Errorf("there are %s items, want 101", got)
	}
}

func TestV16_a_session_writes_to_data_of_its_own(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [{"id": 1}]}, "notes": {"seed": [{"id": 1}]}}`)
	other := &shop{t: t, set: s.set, data: collection.NewData(s.set, func(string, int64) string { return "u" }, time.Now)}
	s.want("POST /posts", `{}`, `201 {"id":2}`)
	other.want("GET /posts", "", `200 [{"id":1}]`)
	if diff := cmp.Diff([]collection.Summary{{Name: "posts", Items: 2, ChangedAt: time.Unix(1_700_000_000, 0)}, {Name: "notes", Items: 1}}, s.data.Summaries()); diff != "" {
		t.Error(diff)
	}
	kept, _ := s.data.Kept("posts")
	if err := other.data.Restore(kept); err != nil {
		t.Fatal(err)
	}
	other.want("GET /posts", "", `200 [{"id":1},{"id":2}]`)
	if n := s.data.Reset("posts"); n != 1 {
		t.Errorf("after the reset there are %d items", n)
	}
	s.want("GET /posts", "", `200 [{"id":1}]`)
	other.data.Reset()
	other.want("GET /posts", "", `200 [{"id":1}]`)
}

func TestV16_a_changed_definition_keeps_what_was_written(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"seed": [{"id": 1}]}, "notes": {"seed": [{"id": 1}]}}`)
	s.want("POST /posts", `{}`, `201 {"id":2}`)
	s.want("POST /notes", `{}`, `201 {"id":2}`)
	s.set = compile(t, `{"posts": {"seed": [], "envelope": true}, "notes": {"id": "key", "seed": []}}`)
	s.data.Adopt(s.set, 1)
	s.want("GET /posts", "", `200 {"items":[{"id":1},{"id":2}],"total":2,"page":1}`)
	s.want("GET /notes", "", `200 []`)
}

func TestV4_a_schema_guards_writes(t *testing.T) {
	t.Parallel()
	s := open(t, `{"posts": {"schema": {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}}}`)
	a := s.want("POST /posts", `{"title":1}`, "validation-failed")
	if len(a.Problem.Fields) != 1 || a.Problem.Fields[0].Pointer != "#/title" {
		t.Errorf("the refusal points to %+v", a.Problem.Fields)
	}
	s.want("POST /posts", `{"title":"x"}`, `201 {"id":1,"title":"x"}`)
	s.want("PATCH /posts/1", `{"title":null}`, "validation-failed")
	s.want("PUT /posts/1", `{}`, "validation-failed")
}

func TestRefusedDefinitions(t *testing.T) {
	t.Parallel()
	d, err := mockbase.DecodeDefinition([]byte(`{"collections": {"posts": {"schema": {"type": "nonsense"}}}}`), mockbase.FormatJSON)
	if err != nil {
		t.Fatal(err)
	}
	var faults mockbase.Faults
	collection.Compile(d.Config.Collections, &faults)
	if f := faults.Fields(); len(f) != 1 || f[0].Code != mockbase.FieldSyntax || !strings.HasPrefix(f[0].Pointer, "#/collections/posts/schema") {
		t.Errorf("got %+v, want a syntax fault in the schema", f)
	}
}
