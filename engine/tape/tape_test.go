package tape_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/tape"
)

var golden = flag.Bool("golden", false, "write the golden files anew")

func rules() tape.Rules {
	return tape.Rules{Headers: []string{"Accept", "content-type", "Authorization"}, Secret: func(name string) bool {
		return strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "Set-Cookie") || name == "password" || name == "api_key"
	}}
}

func zipped(text string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return out.Bytes()
}

func get(path, query string) *tape.Exchange {
	return &tape.Exchange{
		Method: http.MethodGet, Path: path, Query: query, Status: http.StatusOK,
		AnswerHeader: http.Header{"Content-Type": {"application/json"}}, AnswerBody: []byte(`{"b": 1.50,  "a":"<é>"}`),
	}
}

func post(mediaType, body string) *tape.Exchange {
	x := get("/orders", "")
	x.Method, x.Header, x.Body = http.MethodPost, http.Header{"Content-Type": {mediaType}}, []byte(body)
	return x
}

// exchanges are those of the golden files.
func exchanges() map[string]*tape.Exchange {
	with := func(x *tape.Exchange, change func(x *tape.Exchange)) *tape.Exchange {
		change(x)
		return x
	}
	return map[string]*tape.Exchange{
		"T15-method-and-path":     get("/users", ""),
		"T15-query-by-equality":   get("/users", "a=1&b=x+y&a=2&flag&&=x&bad=%zz"),
		"T15-literal-path":        get("/a/{x}/*/%7Bid%7D", ""),
		"T15-dot-segments":        get("/a/./x/%2e%2E/users/..", ""),
		"T15-headers":             with(get("/users", ""), func(x *tape.Exchange) { x.Header = http.Header{"Accept": {"text/html", "a/b"}, "X-Other": {"1"}} }),
		"T15-body-json":           post("application/json; charset=utf-8", `{"n":1.0,"list":[1,2]}`),
		"T15-body-xml":            post("application/soap+xml", `<a><b>1</b></a>`),
		"T15-body-form":           post("application/x-www-form-urlencoded", `a=1&b=2&b=3`),
		"T15-body-of-bytes":       post("image/png", "\x89PNG\x00"),
		"T15-body-like-operators": post("application/json", `{"a":{"$match":{"gt":1}}}`),
		"T16-coded-answer": with(get("/zip", ""), func(x *tape.Exchange) {
			x.AnswerHeader = http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}, "Vary": {"Accept-Encoding"}}
			x.AnswerBody = zipped(`{"a": 1}`)
		}),
		"T16-unknown-coding": with(get("/odd", ""), func(x *tape.Exchange) {
			x.AnswerHeader, x.AnswerBody = http.Header{"Content-Encoding": {"odd"}}, []byte("\xff\xfe")
		}),
		"T16-header": with(get("/head", ""), func(x *tape.Exchange) {
			x.Status = http.StatusCreated
			x.AnswerHeader = http.Header{
				"Date": {"now"}, "Content-Length": {"7"}, "Connection": {"close"}, "X-A": {"1", "2"}, "Location": {"/x"}, "Trailer": {"X-T"},
			}
			x.AnswerBody = []byte("{{ now }}")
		}),
		"T16-no-body": with(get("/none", ""), func(x *tape.Exchange) { x.Status, x.AnswerHeader, x.AnswerBody = 204, http.Header{}, nil }),
		"T19-secrets": with(post("application/json", `{"user":"ada","deep":[{"password":"p","id":1}]}`), func(x *tape.Exchange) {
			x.Query = "api_key=k&a=1"
			x.Header["Authorization"] = []string{"Bearer t"}
			x.AnswerHeader["Set-Cookie"] = []string{"sid=s"}
		}),
		"T19-secrets-in-a-form": post("application/x-www-form-urlencoded", "user=ada&password=p"),
	}
}

func TestT15_T16_T19_golden_mocks(t *testing.T) {
	t.Parallel()
	for name, x := range exchanges() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := tape.Add(x, rules(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, m.Document, "", "  "); err != nil {
				t.Fatal(err)
			}
			got.WriteByte('\n')
			file := filepath.Join("testdata", name+".json")
			if *golden {
				if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("mock (-want +got):\n%s", diff)
			}
			if again, err := tape.Name(x, rules()); err != nil || again != m.Name {
				t.Errorf("T20: the name is %q, and %q, %v", m.Name, again, err)
			}
		})
	}
}

func answering(text string) *tape.Exchange {
	x := get("/x", "")
	x.AnswerHeader, x.AnswerBody = http.Header{"Content-Type": {"text/plain"}}, []byte(text)
	return x
}

// sequence is the answers of a mock, each with how often it is given.
func sequence(m *mockbase.Mock) string {
	var list []string
	for i := range m.Responses {
		list = append(list, fmt.Sprintf("%s*%d", m.Responses[i].Body.Bytes, max(1, m.Responses[i].Times)))
	}
	return string(m.Select) + " " + strings.Join(list, " ")
}

func TestT17_repeats_become_one_sequence(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ answers, want string }{
		{"x", " x*1"},
		{"x,x", "sequence x*2"},
		{"x,x,y", "sequence x*2 y*1"},
		{"x,y,x,x", "sequence x*1 y*1 x*2"},
	} {
		var m *mockbase.Mock
		for answer := range strings.SplitSeq(test.answers, ",") {
			var err error
			if m, err = tape.Add(answering(answer), rules(), m); err != nil {
				t.Fatal(err)
			}
		}
		if got := sequence(m); got != test.want && "rules"+test.want != got {
			t.Errorf("%s: recorded %q, want %q", test.answers, got, test.want)
		}
	}
}

func TestT17_a_sequence_has_an_end(t *testing.T) {
	t.Parallel()
	var m *mockbase.Mock
	var err error
	for i := range 50 {
		if m, err = tape.Add(answering(fmt.Sprint(i)), rules(), m); err != nil { //nolint:perfsprint // a number is text enough
			t.Fatal(err)
		}
	}
	if _, err = tape.Add(answering("one more"), rules(), m); !errors.Is(err, tape.ErrFull) {
		t.Errorf("the 51st answer is %v", err)
	}
	if _, err = tape.Add(answering("49"), rules(), m); err != nil {
		t.Errorf("the last answer once more is %v", err)
	}
}

func TestT20_names_tell_requests_apart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, x := range []*tape.Exchange{
		get("/a", ""), get("/A", ""), get("/a/", ""), get("/a/b", ""), get("/a-b", ""), get("/a%2Fb", ""), get("/a", "x=1"), get("/a", "x=2"),
		get("/", ""), get("//", ""), get("/"+strings.Repeat("long", 40), ""), get("/"+strings.Repeat("long", 40)+"er", ""), get("/*", ""), get("/{a}", ""),
	} {
		name, err := tape.Name(x, rules())
		if err != nil {
			t.Fatal(err)
		}
		if at := x.Path + "?" + x.Query; seen[name] != "" || !mockbase.ValidSlug(name) {
			t.Errorf("%s and %s are both %q", at, seen[name], name)
		} else {
			seen[name] = at
		}
	}
}

// shelf keeps mocks in memory.
type shelf struct {
	mu    sync.Mutex
	mocks map[string]*mockbase.Mock
	hold  chan struct{}
	err   error
}

func (s *shelf) Keep(_ context.Context, projectID, name string, compose func(*mockbase.Mock) (*mockbase.Mock, error)) error {
	if s.hold != nil {
		<-s.hold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	m, err := compose(s.mocks[projectID+"/"+name])
	if err == nil {
		s.mocks[projectID+"/"+name] = m
	}
	return err
}

func TestT18_identical_requests_at_the_same_time_are_recorded_once_each(t *testing.T) {
	t.Parallel()
	kept := &shelf{mocks: map[string]*mockbase.Mock{}}
	r := tape.NewRecorder(kept, slog.New(slog.DiscardHandler))
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if err := r.Record(&tape.Take{ProjectID: "p", Exchange: answering("x"), Rules: rules()}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	r.Close(t.Context())
	if got := sequence(kept.mocks["p/rec-get-x"]); got != "sequence x*5" {
		t.Errorf("recorded %s", got)
	}
	if err := r.Record(&tape.Take{Exchange: answering("x")}); !errors.Is(err, tape.ErrClosed) {
		t.Errorf("a closed recorder says %v", err)
	}
}

func TestT15_new_leaves_out_what_was_recorded_before(t *testing.T) {
	t.Parallel()
	kept := &shelf{mocks: map[string]*mockbase.Mock{}}
	r := tape.NewRecorder(kept, slog.New(slog.DiscardHandler))
	known := &mockbase.Snapshot{Mocks: []*mockbase.Mock{{Name: "rec-get-x"}}}
	for _, take := range []tape.Take{{OnlyNew: true, Known: known}, {Known: known, ProjectID: "all"}} {
		take.Exchange, take.Rules = answering("x"), rules()
		if err := r.Record(&take); err != nil {
			t.Fatal(err)
		}
	}
	r.Close(t.Context())
	if len(kept.mocks) != 1 || kept.mocks["all/rec-get-x"] == nil {
		t.Errorf("recorded %v", kept.mocks)
	}
}

func TestA_full_queue_refuses_and_a_failure_is_told(t *testing.T) {
	t.Parallel()
	kept := &shelf{mocks: map[string]*mockbase.Mock{}, hold: make(chan struct{}), err: errors.New("read-only")}
	r := tape.NewRecorder(kept, slog.New(slog.DiscardHandler))
	var mu sync.Mutex
	told, refused := 0, 0
	for range 1100 {
		err := r.Record(&tape.Take{Exchange: answering("x"), Rules: rules(), Failed: func(error) {
			mu.Lock()
			defer mu.Unlock()
			told++
		}})
		if errors.Is(err, tape.ErrBusy) {
			refused++
		}
	}
	close(kept.hold)
	r.Close(t.Context())
	if refused < 99 || refused > 100 || told != 1100-refused {
		t.Errorf("%d were refused, and %d failures told", refused, told)
	}
}

func FuzzAdd(f *testing.F) {
	for _, x := range exchanges() {
		f.Add(x.Method, x.Path, x.Query, x.Header.Get("Content-Type"), x.Body, x.AnswerHeader.Get("Content-Type"), x.AnswerBody)
	}
	f.Fuzz(func(t *testing.T, method, path, query, kind string, body []byte, answerKind string, answer []byte) {
		x := &tape.Exchange{
			Method: method, Path: path, Query: query, Header: http.Header{"Content-Type": {kind}}, Body: body,
			Status: http.StatusOK, AnswerHeader: http.Header{"Content-Type": {answerKind}}, AnswerBody: answer,
		}
		m, err := tape.Add(x, rules(), nil)
		if err != nil {
			return
		}
		again, err := tape.Add(x, rules(), m)
		if err != nil || again.Name != m.Name || len(again.Responses) != 1 || again.Responses[0].Times != 2 {
			t.Errorf("once more gives %v, %v", again, err)
		}
	})
}
