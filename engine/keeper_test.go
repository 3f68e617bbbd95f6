package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// shelf keeps the data of collections in memory, and notes each call that changes it.
type shelf struct {
	mu    sync.Mutex
	kept  map[string]*mockbase.CollectionData
	calls []string
	fails error
}

var _ engine.DataStore = (*shelf)(nil)

func (s *shelf) KeptCollections(_ context.Context, projectID string) ([]mockbase.CollectionData, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []mockbase.CollectionData
	for key, data := range s.kept {
		if strings.HasPrefix(key, projectID+"/") {
			all = append(all, *data)
		}
	}
	return all, s.fails
}

func (s *shelf) KeepCollection(_ context.Context, projectID string, data *mockbase.CollectionData) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, fmt.Sprintf("keep %s %s next %d", data.Name, data.Items, data.NextID))
	if s.fails == nil {
		if s.kept == nil {
			s.kept = map[string]*mockbase.CollectionData{}
		}
		s.kept[projectID+"/"+data.Name] = data
	}
	return s.fails
}

func (s *shelf) ForgetCollection(_ context.Context, projectID, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, "forget "+name)
	delete(s.kept, projectID+"/"+name)
	return s.fails
}

func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

// told returns the calls since the last time.
func (s *shelf) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	slices.Sort(calls)
	return calls
}

// keeping is an engine that keeps data on a shelf.
type keeping struct {
	*engine.Engine

	t        *testing.T
	revision int64
}

func keepOn(t *testing.T, s *shelf, definition string) *keeping {
	t.Helper()
	e, err := engine.New(engine.Options{Data: s})
	if err != nil {
		t.Fatal(err)
	}
	k := &keeping{Engine: e, t: t}
	k.publish(definition)
	return k
}

func (k *keeping) publish(definition string) {
	k.t.Helper()
	d, err := mockbase.DecodeDefinition([]byte(`{"collections":`+definition+`}`), mockbase.FormatJSON)
	if err != nil {
		k.t.Fatal(err)
	}
	if faults := k.CheckConfig(&d.Config); len(faults) > 0 {
		k.t.Fatal(faults)
	}
	k.revision++
	if err := k.Publish(&mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Config: d.Config, Revision: k.revision}}); err != nil {
		k.t.Fatal(err)
	}
}

func (k *keeping) ask(method, path, body string) string {
	k.t.Helper()
	r := httptest.NewRequestWithContext(k.t.Context(), method, "http://mocks.test/m/shop"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer := httptest.NewRecorder()
	k.ServeHTTP(answer, r)
	return answer.Body.String()
}

func (k *keeping) close() {
	k.t.Helper()
	if err := k.Close(); err != nil {
		k.t.Error(err)
	}
}

const persistentPosts = `{"posts":{"path":"/posts","persist":true,"seed":[{"id":1}]},"tags":{"path":"/tags"}}`

func TestV16_persistent_data_outlives_the_engine_and_other_data_does_not(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	k := keepOn(t, s, persistentPosts)
	k.ask(http.MethodPost, "/posts", `{"n":2.50}`)
	k.ask(http.MethodPost, "/posts", `{}`)
	k.ask(http.MethodDelete, "/posts/3", "")
	k.ask(http.MethodPost, "/tags", `{}`)
	k.ask(http.MethodPost, "/~ci/posts", `{"id":99}`)
	k.close()
	if got := s.told(); !slices.Equal(got, []string{`keep posts [{"id":1} {"id":2,"n":2.50}] next 4`}) {
		t.Errorf("the store was told %q", got)
	}
	k = keepOn(t, s, persistentPosts)
	if got := k.ask(http.MethodGet, "/posts", ""); got != `[{"id":1},{"id":2,"n":2.50}]` {
		t.Errorf("restored %s", got)
	}
	if got := k.ask(http.MethodGet, "/tags", "") + k.ask(http.MethodGet, "/~ci/posts", ""); got != `[][{"id":1}]` {
		t.Errorf("other data: %s", got)
	}
	if got := k.ask(http.MethodPost, "/posts", `{}`); got != `{"id":4}` {
		t.Errorf("V3: the next id is that of %s", got)
	}
	k.close()
	k.close()
}

func TestV16_a_reset_and_a_changed_definition_let_go_of_what_is_kept(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*keeping){
		"reset of the data":      func(k *keeping) { _ = k.Reset("prj_1", "default", []mockbase.ResetLevel{mockbase.ResetData}) },
		"reset of everything":    func(k *keeping) { _ = k.Reset("prj_1", "", []mockbase.ResetLevel{mockbase.ResetAll}) },
		"reset of a collection":  func(k *keeping) { _, _ = k.ResetCollection("prj_1", "", "posts") },
		"no longer persistent":   func(k *keeping) { k.publish(`{"posts":{"path":"/posts","seed":[{"id":1}]}}`) },
		"no longer a collection": func(k *keeping) { k.publish(`{"tags":{"path":"/tags"}}`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{}
			k := keepOn(t, s, persistentPosts)
			k.ask(http.MethodPost, "/posts", `{}`)
			if err := k.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			change(k)
			k.close()
			if len(s.kept) > 0 {
				t.Errorf("kept is %v", s.kept)
			}
			k = keepOn(t, s, persistentPosts)
			if got := k.ask(http.MethodGet, "/posts", ""); got != `[{"id":1}]` {
				t.Errorf("restored %s", got)
			}
			k.close()
		})
	}
}

func TestV16_what_cannot_be_restored_begins_with_its_sample_data(t *testing.T) {
	t.Parallel()
	s := &shelf{kept: map[string]*mockbase.CollectionData{
		"prj_1/posts": {Name: "posts", Items: nil},
		"prj_1/gone":  {Name: "gone"},
	}}
	s.kept["prj_1/posts"].Items = append(s.kept["prj_1/posts"].Items, []byte(`{"no":"id"}`))
	k := keepOn(t, s, persistentPosts)
	if got := k.ask(http.MethodGet, "/posts", ""); got != `[{"id":1}]` {
		t.Errorf("answered %s", got)
	}
	k.close()
	if _, left := s.kept["prj_1/gone"]; left {
		t.Error("data of a collection that is gone is kept")
	}
}

func TestV16_a_collection_that_becomes_persistent_is_kept_as_it_is(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	k := keepOn(t, s, `{"posts":{"path":"/posts","seed":[{"id":1}]}}`)
	k.ask(http.MethodPost, "/posts", `{}`)
	k.publish(persistentPosts)
	k.close()
	if got := s.told(); !slices.Equal(got, []string{`keep posts [{"id":1} {"id":2}] next 3`}) {
		t.Errorf("the store was told %q", got)
	}
}

func TestV16_data_is_stored_in_batches_off_the_path_of_requests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		k := keepOn(t, s, persistentPosts)
		for range 20 {
			k.ask(http.MethodPost, "/posts", `{}`)
		}
		if got := s.told(); len(got) > 0 {
			t.Errorf("a request told the store %q", got)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if got := s.told(); len(got) != 1 || !strings.HasSuffix(got[0], "next 22") {
			t.Errorf("the store was told %q", got)
		}
		<-time.After(time.Minute)
		if got := s.told(); len(got) > 0 {
			t.Errorf("nothing changed, and the store was told %q", got)
		}
		k.close()
	})
}

func TestV16_what_the_store_refuses_is_stored_later(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		k := keepOn(t, s, persistentPosts)
		s.fail(errors.New("no room"))
		k.ask(http.MethodPost, "/posts", `{}`)
		<-time.After(3 * time.Second)
		synctest.Wait()
		if tries := len(s.told()); tries < 2 || len(s.kept) > 0 {
			t.Errorf("%d tries", tries)
		}
		s.fail(nil)
		<-time.After(time.Second)
		synctest.Wait()
		if len(s.kept) != 1 {
			t.Error("it was never stored")
		}
		// A project that is gone takes its data along, and what waits is dropped.
		k.ask(http.MethodPost, "/posts", `{}`)
		s.told()
		k.Withdraw("prj_1")
		k.close()
		if got := s.told(); len(got) > 0 {
			t.Errorf("of a project that is gone the store was told %q", got)
		}
	})
}
