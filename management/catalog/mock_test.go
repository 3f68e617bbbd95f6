package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

func TestM141_a_new_mock_gets_its_identity(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	s := h.createProject(t, "shop")
	m := h.createMock(t, "name: a\nrequest: GET /a\nresponse: { json: 2.50 }")
	if m.ID == "" || m.ProjectID != s.Project.ID || m.Version != 1 || m.UpdatedBy != "usr_ada" || !m.CreatedAt.Equal(h.now) || !m.UpdatedAt.Equal(h.now) {
		t.Errorf("mock %+v", m)
	}
	if want := `{"name":"a","request":"GET /a","response":{"json":2.50}}`; string(m.Document) != want {
		t.Errorf("Y4: document %s, want %s", m.Document, want)
	}
	if after, _ := h.Project("shop"); after.Project.Revision != 2 || after.Project.Version != 1 || after.Mocks[0] != m || len(s.Mocks) != 0 {
		t.Errorf("project %+v", after.Project)
	}
	for _, key := range []string{"a", m.ID} {
		if h.mock(t, key) != m {
			t.Errorf("M-3: %s does not find the mock", key)
		}
	}
}

func TestA7_a_mock_without_a_name_may_be_posted_again_and_comes_last(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	for range 3 {
		h.createMock(t, "request: GET /a\nresponse: {}")
	}
	if diff := cmp.Diff([]string{"get-a", "get-a-2", "get-a-3"}, h.names(t)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if want := `{"name":"get-a-3","request":"GET /a","response":{}}`; string(h.mock(t, "get-a-3").Document) != want {
		t.Errorf("document %s, want %s", h.mock(t, "get-a-3").Document, want)
	}
	if err := h.DeleteMock(t.Context(), "shop", "get-a-2", catalog.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.createMock(t, "request: GET /a\nresponse: {}")
	if diff := cmp.Diff([]string{"get-a", "get-a-3", "get-a-2"}, h.names(t)); diff != "" {
		t.Errorf("names after deleting and posting again (-want +got):\n%s", diff)
	}
}

func TestY2_a_mock_that_cannot_be_created_is_refused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{MaxMocksPerProject: 2})
	h.createProject(t, "shop")
	h.createMock(t, "name: a\nrequest: GET /a\nresponse: {}")
	create := func(text string) error {
		_, err := h.CreateMock(t.Context(), "shop", decodeMock(t, text), "")
		return err
	}
	wantCode(t, create("name: a\nrequest: GET /b\nresponse: {}"), mockbase.CodeNameTaken)
	fields := wantCode(t, create("name: a\nrequest: GET /b\nresponse: { fault: reset }"), mockbase.CodeValidationFailed).Fields
	if len(fields) != 1 || fields[0].Pointer != "#/response/fault" || fields[0].Code != mockbase.FieldNotServed {
		t.Errorf("faults %+v", fields)
	}
	h.createMock(t, "name: b\nrequest: GET /b\nresponse: {}")
	quota := wantCode(t, create("name: c\nrequest: GET /c\nresponse: {}"), mockbase.CodeQuotaReached).Quota
	if diff := cmp.Diff(&mockbase.QuotaUse{Name: "maxMocksPerProject", Limit: 2, Used: 2}, quota); diff != "" {
		t.Errorf("M-9: quota (-want +got):\n%s", diff)
	}
	_, err := h.CreateMock(t.Context(), "none", decodeMock(t, "request: GET /a\nresponse: {}"), "")
	wantCode(t, err, mockbase.CodeNotFound)
}

func TestA8_an_edited_mock_keeps_its_id_place_and_birthday(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	before := h.createMock(t, "name: a\nrequest: GET /a\nresponse: {}")
	h.createMock(t, "name: b\nrequest: GET /a\nresponse: {}")
	h.now = h.now.Add(time.Hour)
	after, err := h.ReplaceMock(t.Context(), "shop", "a", decodeMock(t, "name: a\nrequest: GET /a\nresponse: { status: 201 }"),
		catalog.WriteOptions{By: "usr_bob", Match: catalog.Match{Version: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if after.ID != before.ID || after.Order != before.Order || !after.CreatedAt.Equal(before.CreatedAt) {
		t.Errorf("mock %+v, was %+v", after, before)
	}
	if after.Version != 2 || !after.UpdatedAt.Equal(h.now) || after.UpdatedBy != "usr_bob" || before.Version != 1 {
		t.Errorf("mock %+v", after)
	}
	if diff := cmp.Diff([]string{"a", "b"}, h.names(t)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// M-143.
func TestY2_replacing_a_mock(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	made := h.createMock(t, "name: a\nrequest: GET /a\nresponse: {}")
	replace := func(name, text string, o catalog.WriteOptions) (*mockbase.Mock, error) {
		return h.ReplaceMock(t.Context(), "shop", name, decodeMock(t, text), o)
	}
	_, err := replace("a", "name: other\nrequest: GET /a\nresponse: { fault: reset }", catalog.WriteOptions{})
	fields := wantCode(t, err, mockbase.CodeValidationFailed).Fields
	if len(fields) != 2 || fields[0].Pointer != "#/name" || fields[1].Pointer != "#/response/fault" {
		t.Errorf("another name and a fault: %+v", fields)
	}
	other := decodeMock(t, "name: a\nrequest: GET /a\nresponse: {}")
	other.ID = "mck_other"
	_, err = h.ReplaceMock(t.Context(), "shop", "a", other, catalog.WriteOptions{})
	if fields := wantCode(t, err, mockbase.CodeValidationFailed).Fields; len(fields) != 1 || fields[0].Pointer != "#/id" {
		t.Errorf("another id: %+v", fields)
	}
	_, err = replace("none", "request: GET /a\nresponse: {}", catalog.WriteOptions{})
	wantCode(t, err, mockbase.CodeNotFound)
	_, err = replace("a", "name: other\nrequest: GET /a\nresponse: {}", catalog.WriteOptions{Match: catalog.Match{Version: 9}})
	if e := wantCode(t, err, mockbase.CodeVersionMismatch); e.Version != 1 {
		t.Errorf("M-7: the version comes before the document; error %+v", e)
	}
	same, err := replace("a", "name: a\nrequest: GET /a\nresponse: {}", catalog.WriteOptions{})
	if err != nil || same != made {
		t.Errorf("the same document again made %+v, %v", same, err)
	}
	moved, err := replace(made.ID, "request: GET /moved\nresponse: {}", catalog.WriteOptions{})
	if err != nil || moved.Name != "a" || string(moved.Document) != `{"name":"a","request":"GET /moved","response":{}}` {
		t.Errorf("a document without a name made %+v, %v", moved, err)
	}
}

func TestM144_patching_a_mock(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	made := h.createMock(t, "name: a\nrequest: GET /a\nresponse: {}")
	h.createMock(t, "name: b\nrequest: GET /b\nresponse: {}")
	patch := func(text string) (*mockbase.Mock, error) {
		return h.PatchMock(t.Context(), "shop", made.ID, catalog.WriteOptions{}, func(current *mockbase.Mock) (*mockbase.Mock, error) {
			if current.ID != made.ID {
				t.Errorf("asked to patch %s", current.ID)
			}
			return decodeMock(t, text), nil
		})
	}
	renamed, err := patch("name: c\nrequest: GET /a\nresponse: {}")
	if err != nil || renamed.Name != "c" || renamed.ID != made.ID || renamed.Version != 2 {
		t.Errorf("renaming made %+v, %v", renamed, err)
	}
	_, err = patch("name: b\nrequest: GET /a\nresponse: {}")
	wantCode(t, err, mockbase.CodeNameTaken)
	_, err = patch("name: c\nrequest: GET /a\nresponse: { fault: reset }")
	wantCode(t, err, mockbase.CodeValidationFailed)
	unnamed, err := patch("request: GET /other\nresponse: {}")
	if err != nil || unnamed.Name != "c" {
		t.Errorf("taking the name away made %+v, %v", unnamed, err)
	}
	own := errors.New("own")
	_, err = h.PatchMock(t.Context(), "shop", "c", catalog.WriteOptions{}, func(*mockbase.Mock) (*mockbase.Mock, error) { return nil, own })
	if !errors.Is(err, own) {
		t.Errorf("the caller's own error became %v", err)
	}
}

func TestM145_deleting_a_mock(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	h.createMock(t, "name: a\nrequest: GET /a\nresponse: {}")
	before, _ := h.Project("shop")
	wantCode(t, h.DeleteMock(t.Context(), "shop", "a", catalog.WriteOptions{Match: catalog.Match{Version: 2}}), mockbase.CodeVersionMismatch)
	if err := h.DeleteMock(t.Context(), "shop", "a", catalog.WriteOptions{Match: catalog.Match{Version: 1}}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, h.DeleteMock(t.Context(), "shop", "a", catalog.WriteOptions{}), mockbase.CodeNotFound)
	if len(before.Mocks) != 1 {
		t.Error("a snapshot that was handed out changed")
	}
}

func TestM77_a_mock_of_a_source_is_changed_only_by_taking_it_over(t *testing.T) {
	t.Parallel()
	definition := "mocks:\n- { name: a, request: GET /a, response: {} }\n- { name: b, request: GET /b, response: {} }"
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	if _, err := h.Apply(t.Context(), "shop", decodeDefinition(t, definition), catalog.ApplyOptions{Source: "ci"}); err != nil {
		t.Fatal(err)
	}
	edited := decodeMock(t, "name: a\nrequest: GET /a\nresponse: { status: 201 }")
	_, err := h.ReplaceMock(t.Context(), "shop", "a", edited, catalog.WriteOptions{})
	wantCode(t, err, mockbase.CodeManagedBySource)
	_, err = h.PatchMock(t.Context(), "shop", "a", catalog.WriteOptions{}, func(*mockbase.Mock) (*mockbase.Mock, error) { return edited, nil })
	wantCode(t, err, mockbase.CodeManagedBySource)
	wantCode(t, h.DeleteMock(t.Context(), "shop", "a", catalog.WriteOptions{}), mockbase.CodeManagedBySource)

	taken, err := h.ReplaceMock(t.Context(), "shop", "a", edited, catalog.WriteOptions{TakeOver: true})
	if err != nil || taken.Owner != "" || !taken.Edited || taken.Version != 2 {
		t.Errorf("taking over made %+v, %v", taken, err)
	}
	if again, err := h.ReplaceMock(t.Context(), "shop", "a", edited, catalog.WriteOptions{TakeOver: true}); err != nil || again != taken {
		t.Errorf("taking over again made %+v, %v", again, err)
	}
	if err := h.DeleteMock(t.Context(), "shop", "b", catalog.WriteOptions{TakeOver: true}); err != nil {
		t.Error(err)
	}
}

func TestM15_twenty_parallel_creates_make_twenty_mocks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	var group sync.WaitGroup
	for i := range 20 {
		m := decodeMock(t, fmt.Sprintf("request: GET /%d\nresponse: {}", i%5))
		group.Go(func() {
			made, err := h.CreateMock(t.Context(), "shop", m, "")
			if err != nil {
				t.Error(err)
				return
			}
			// Y6: what was answered is served.
			h.plane.mu.Lock()
			defer h.plane.mu.Unlock()
			if !slices.Contains(h.plane.published[made.ProjectID].Mocks, made) {
				t.Errorf("%s was answered before it was published", made.Name)
			}
		})
	}
	group.Wait()
	s, _ := h.Project("shop")
	if len(s.Mocks) != 20 || s.Project.Revision != 21 {
		t.Errorf("%d mocks at revision %d", len(s.Mocks), s.Project.Revision)
	}
	if !slices.IsSortedFunc(s.Mocks, func(a, b *mockbase.Mock) int { return int(a.Order - b.Order) }) {
		t.Error("the mocks are not in their order")
	}
}

func TestM10_of_several_changes_of_one_version_one_wins(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	h.createMock(t, "name: a\nrequest: GET /a\nresponse: {}")
	match := catalog.WriteOptions{Match: catalog.Match{Version: 1}}
	var won, lost atomic.Int32
	var group sync.WaitGroup
	for i := range 12 {
		m := decodeMock(t, fmt.Sprintf("name: a\nrequest: GET /a\nresponse: { status: %d }", 200+i))
		group.Go(func() {
			var err error
			switch i % 3 {
			case 0:
				_, err = h.ReplaceMock(t.Context(), "shop", "a", m, match)
			case 1:
				_, err = h.PatchMock(t.Context(), "shop", "a", match, func(*mockbase.Mock) (*mockbase.Mock, error) { return m, nil })
			default:
				_, err = h.UpdateProject(t.Context(), "shop", catalog.Match{Version: 1}, func(p *mockbase.Project) error {
					p.Name = fmt.Sprint("n", i)
					return nil
				})
			}
			switch {
			case err == nil:
				won.Add(1)
			case mockbase.ErrorCode(err) == mockbase.CodeVersionMismatch:
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won.Load() != 2 || lost.Load() != 10 {
		t.Errorf("%d won and %d lost, want one winner for the mock and one for the project", won.Load(), lost.Load())
	}
}

// failingStore refuses what it is told to.
type failingStore struct {
	catalog.Store

	fail func() error
}

func (s failingStore) Apply(ctx context.Context, set mockbase.ChangeSet) error {
	if err := s.fail(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.Store.Apply(ctx, set)
}

func TestM15_what_the_store_refuses_is_never_published(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	full := &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the disk is full"}
	var fail error
	h.Catalog = catalog.New(catalog.Options{Store: failingStore{h.store, func() error { return fail }}, Plane: h.plane})
	h.createProject(t, "shop")
	h.createMock(t, "name: a\nrequest: GET /a\nresponse: {}")
	before, _ := h.Project("shop")
	fail = full
	m := decodeMock(t, "name: b\nrequest: GET /b\nresponse: {}")
	_, err := h.CreateProject(t.Context(), &mockbase.Project{Slug: "zoo"}, "")
	errs := []error{err}
	_, err = h.CreateMock(t.Context(), "shop", m, "")
	errs = append(errs, err, h.DeleteMock(t.Context(), "shop", "a", catalog.WriteOptions{}), h.DeleteProject(t.Context(), "shop", catalog.Match{}))
	_, err = h.Apply(t.Context(), "shop", &mockbase.Definition{Mocks: []*mockbase.Mock{m}}, catalog.ApplyOptions{})
	errs = append(errs, err)
	_, err = h.LoadFiles(t.Context(), "files", &mockbase.Definition{Mocks: []*mockbase.Mock{m}}, "dir")
	errs = append(errs, err)
	for i, err := range errs {
		if !errors.Is(err, full) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if after, _ := h.Project("shop"); after != before || len(h.Projects()) != 1 {
		t.Error("something changed")
	}
}

func TestACallerThatLeavesPartsNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	ctx, cancel := context.WithCancel(t.Context())
	leave := false
	store := failingStore{h.store, func() error {
		if leave {
			cancel()
		}
		return nil
	}}
	h.Catalog = catalog.New(catalog.Options{Store: store, Plane: h.plane})
	h.createProject(t, "shop")
	leave = true
	if _, err := h.CreateMock(ctx, "shop", decodeMock(t, "name: a\nrequest: GET /a\nresponse: {}"), ""); err != nil {
		t.Errorf("leaving during the change: %v", err)
	}
	_, err := h.CreateMock(ctx, "shop", decodeMock(t, "name: b\nrequest: GET /b\nresponse: {}"), "")
	wantCode(t, err, mockbase.CodeUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("leaving before the change: %v", err)
	}
	if diff := cmp.Diff([]string{"a"}, h.names(t)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestAPlaneThatRefusesWhatItCheckedIsADefect(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	broken := errors.New("broken")
	h.plane.onPublish = func(*mockbase.Snapshot) error { return broken }
	_, err := h.CreateMock(t.Context(), "shop", decodeMock(t, "name: a\nrequest: GET /a\nresponse: {}"), "")
	wantCode(t, err, mockbase.CodeInternal)
	if !errors.Is(err, broken) {
		t.Errorf("error %v hides its cause", err)
	}
	// What is stored is what the catalog goes on from.
	h.plane.onPublish = nil
	h.plane.published = map[string]*mockbase.Snapshot{}
	h.createMock(t, "name: b\nrequest: GET /b\nresponse: {}")
	if diff := cmp.Diff([]string{"a", "b"}, h.names(t)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
