package collection_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine/collection"
)

// FuzzServe sends any method, query, media type and body to an item and to a list: every answer is a problem or JSON, and
// what is stored afterwards can be read.
func FuzzServe(f *testing.F) {
	f.Add("POST", "id_gt", "1", "application/json", []byte(`{"id":1}`))
	f.Add("PATCH", "_sort", "-a.b", "application/json-patch+json", []byte(`[{"op":"copy","from":"","path":"/a"}]`))
	f.Add("PATCH", "_embed", "posts", "application/merge-patch+json", []byte(`{"a":{"b":null}}`))
	f.Add("PUT", "t_match", "(", "", []byte(`{"t":"\ud800"}`))
	f.Add("GET", "_page", "9", "text/plain", []byte("\xff"))
	f.Add("DELETE", "_fields", ",", "a/b;c", []byte(nil))
	f.Fuzz(func(t *testing.T, method, name, value, contentType string, body []byte) {
		s := open(t, `{"posts": {"bulk": true, "upsert": true, "seed": [{"id": 1, "a": {"b": [1, "x"]}, "up": 1}],
			"relations": {"up": {"to": "posts", "onDelete": "cascade"}}}}`)
		s.data = collection.NewData(s.set, func(string, int64) string { return "u" }, time.Now)
		for _, res := range []collection.Resource{
			{Collection: "posts"},
			{Kind: collection.One, Collection: "posts", ID: "1"},
			{Kind: collection.Related, Collection: "posts", ID: "1", Child: "posts"},
		} {
			a := s.data.Serve(res, &collection.Request{
				Method: method, Header: http.Header{"Content-Type": {contentType}}, Body: body,
				Query: []collection.Parameter{{Name: name, Value: value}},
			})
			if a.Problem == nil && len(a.Body) > 0 && !json.Valid(a.Body) {
				t.Errorf("%s: the body is no JSON: %q", method, a.Body)
			}
		}
		if a := s.ask("GET /posts", ""); !json.Valid(a.Body) {
			t.Errorf("the list is no JSON: %q", a.Body)
		}
	})
}
