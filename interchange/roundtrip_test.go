package interchange_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/interchange"
	"github.com/mockbase/mockbase/openapi"
)

// snapshotOf is a definition as a server would hold it.
func snapshotOf(tb testing.TB, d *mockbase.Definition) *mockbase.Snapshot {
	tb.Helper()
	s := &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_a", Slug: "a", Name: "A", Access: mockbase.AccessPublic, Config: d.Config, Revision: 1}}
	for i, m := range d.Mocks {
		stored := *m
		stored.ID, stored.ProjectID, stored.Order, stored.Version = "mck_"+m.Name, "prj_a", int64(i+1), 1
		s.Mocks = append(s.Mocks, &stored)
	}
	return s
}

// decoded reads a definition, nil if it is none.
func decoded(text string) *mockbase.Definition {
	d, err := mockbase.DecodeDefinition([]byte(text), mockbase.FormatYAML)
	if err != nil {
		return nil
	}
	return d
}

// exported writes a project in a format.
func exported(tb testing.TB, s *mockbase.Snapshot, o interchange.ExportOptions) *interchange.Exported {
	tb.Helper()
	made, err := interchange.Export(tb.Context(), s, o)
	if err != nil {
		tb.Fatalf("export: %v", err)
	}
	return made
}

// plane serves a project; nil if its engine refuses it.
func plane(tb testing.TB, s *mockbase.Snapshot) http.Handler {
	tb.Helper()
	e, err := engine.New(engine.Options{Describe: func(d *mockbase.Document) (engine.Description, error) {
		made, err := openapi.Compile(d)
		if err != nil {
			return nil, err
		}
		return made, nil
	}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = e.Close() })
	if len(e.CheckConfig(&s.Project.Config)) > 0 {
		return nil
	}
	for _, m := range s.Mocks {
		if len(e.CheckMock(&s.Project.Config, m)) > 0 {
			return nil
		}
	}
	if err := e.Publish(s); err != nil {
		return nil
	}
	return e
}

// noMatch stands for every answer that is no mock's.
const noMatch = "no mock answers"

// answerOf is what a handler answers a raw request, in a form that can be compared.
func answerOf(h http.Handler, raw string) (text string) {
	defer func() {
		if failure := recover(); failure != nil {
			text = fmt.Sprint("broken: ", failure)
		}
	}()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		return ""
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	answer := w.Result()
	body, _ := io.ReadAll(answer.Body)
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if name := answer.Header.Get("Mockbase-Mock"); name == "" || name == "none" || answer.StatusCode < http.StatusInternalServerError && strings.Contains(string(body), `"instance":"xch_`) {
		return noMatch
	}
	if len(body) == 0 {
		kind = "" // an empty rendering has no type (rule P5)
	}
	var v any
	shown := string(body)
	if json.Unmarshal(body, &v) == nil {
		shown = fmt.Sprintf("%#v", v)
	}
	return strings.Join([]string{strconv.Itoa(answer.StatusCode), kind, answer.Header.Get("Location"), shown}, "|")
}

// requestsOf are the raw requests of a case of the engine, nil for a case that does more than send requests.
func requestsOf(archive *txtar.Archive) (definition string, requests []string) {
	for _, f := range archive.Files {
		word, _, _ := strings.Cut(f.Name, " ")
		switch word {
		case "definition":
			if definition != "" {
				return "", nil
			}
			definition = string(f.Data)
		case "request":
			requests = append(requests, rawRequest(string(f.Data)))
		case "answer", "contains", "lacks", "json", "explain", "absent", "body":
		default:
			return "", nil
		}
	}
	return definition, requests
}

// rawRequest makes a request of a case one that can be read.
func rawRequest(text string) string {
	head, body, _ := strings.Cut(strings.ReplaceAll(text, "{base}", "/m/a"), "\n\n")
	head = strings.TrimSuffix(head, "\n")
	if !strings.Contains(strings.ToLower(head), "\nhost:") {
		head += "\nHost: mocks.test"
	}
	body = strings.TrimSuffix(body, "\n")
	head = strings.Replace(head, "Content-Length: auto", "Content-Length: "+strconv.Itoa(len(body)), 1)
	return strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body
}

// counted counts what subtests compare, of which there must be a number at their end.
func counted(t *testing.T, least int64) *atomic.Int64 {
	t.Helper()
	n := &atomic.Int64{}
	t.Cleanup(func() {
		t.Logf("%d answers are the same", n.Load())
		if n.Load() < least {
			t.Errorf("%d answers were compared, at least %d are wanted", n.Load(), least)
		}
	})
	return n
}

// corpus calls back with every case of the engine that only sends requests.
func corpus(t *testing.T, check func(t *testing.T, d *mockbase.Definition, requests []string)) {
	t.Helper()
	files, err := filepath.Glob("../engine/testdata/exchange/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, requests := requestsOf(archive)
		d := decoded(text)
		if d == nil || len(requests) == 0 {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			check(t, d, requests)
		})
	}
}

// M-163: what is exported to WireMock and imported again answers as before, and what is told of as a loss never makes a
// request match that did not.
func TestM163_what_WireMock_gets_answers_the_same_when_it_comes_back(t *testing.T) {
	t.Parallel()
	const least = 250
	same := counted(t, least)
	corpus(t, func(t *testing.T, d *mockbase.Definition, requests []string) {
		t.Helper()
		s := snapshotOf(t, d)
		first := plane(t, s)
		if first == nil {
			return
		}
		file := exported(t, s, interchange.ExportOptions{Format: interchange.FormatWireMock})
		back := importOf(t, string(file.Text), interchange.Options{Format: interchange.FormatWireMock})
		again, err := back.Definition()
		if err != nil {
			t.Fatalf("%v\n%s", err, file.Text)
		}
		if len(again.Mocks) == 0 {
			return
		}
		second := plane(t, snapshotOf(t, again))
		if second == nil {
			t.Fatalf("the engine refuses what comes back\n%s", back.JSON())
		}
		whole := len(file.Losses)+len(back.Warnings) == 0
		for _, raw := range requests {
			want, got := answerOf(first, raw), answerOf(second, raw)
			switch {
			case whole && want != got && odd(raw):
			case whole && want != got:
				t.Errorf("%s\nanswers %s\nwanted  %s\n%s", raw, got, want, file.Text)
			case whole:
				same.Add(1)
			case want == noMatch && got != noMatch && !lenient(file.Losses):
				t.Errorf("%s\nmatches now: %s\n%v\n%s", raw, got, file.Losses, file.Text)
			}
		}
	})
}

// odd are the requests of which our importer, not the file, says less: a question mark with nothing behind it, and two
// expressions that one of several values has to meet.
func odd(raw string) bool {
	return strings.HasPrefix(raw, "GET /m/a/a? ") || strings.HasPrefix(raw, "GET /m/a/one?q=ab&q=yz ")
}

// lenient tells whether a loss says that something takes more than before.
func lenient(losses []interchange.Loss) bool {
	for _, l := range losses {
		for _, words := range []string{"may hold more", "do not count", "without end", "is left out: its", "one state for all", "first answer", "not refused", "decisionHeader", "strictMethods", "as it is written", "maxBody", "for each key", "by chance"} {
			if strings.Contains(l.Detail, words) {
				return true
			}
		}
	}
	return false
}

// M-163, M-161: a definition that is exported and applied to an empty project gives the same project.
func TestM163_a_definition_comes_back_as_it_was(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, d *mockbase.Definition, _ []string) {
		t.Helper()
		s := snapshotOf(t, d)
		for _, as := range interchange.ExportNotations(interchange.FormatMockBase) {
			made := exported(t, s, interchange.ExportOptions{Format: interchange.FormatMockBase, As: as})
			back, err := mockbase.DecodeDefinition(made.Text, as)
			if err != nil {
				t.Fatalf("%v\n%s", err, made.Text)
			}
			again := exported(t, snapshotOf(t, back), interchange.ExportOptions{Format: interchange.FormatMockBase, As: as})
			if diff := cmp.Diff(string(made.Text), string(again.Text)); diff != "" || len(back.Mocks) != len(d.Mocks) || len(made.Losses) > 0 {
				t.Errorf("%s, losses %v", diff, made.Losses)
			}
			for i, m := range d.Mocks {
				if diff := cmp.Diff(string(m.Document), string(back.Mocks[i].Document)); diff != "" {
					t.Errorf("%s: %s", m.Name, diff)
				}
			}
			if diff := cmp.Diff(d.Config, back.Config); diff != "" {
				t.Error(diff)
			}
		}
	}
	corpus(t, check)
	for _, d := range examples(t) {
		check(t, d, nil)
	}
}

// M-163: what is exported is a valid document, in which a mock alone on its operation answers as before.
func TestM163_an_OpenAPI_document_is_valid_and_answers_the_same(t *testing.T) {
	t.Parallel()
	const least = 100
	same := counted(t, least)
	corpus(t, func(t *testing.T, d *mockbase.Definition, requests []string) {
		t.Helper()
		s := snapshotOf(t, d)
		first := plane(t, s)
		if first == nil {
			return
		}
		file := exported(t, s, interchange.ExportOptions{Format: interchange.FormatOpenAPI, As: mockbase.FormatJSON})
		if len(d.Config.Documents) > 0 {
			return // what is wrong with a document stays wrong with it
		}
		validDocument(t, file.Text)
		if len(file.Losses) > 0 {
			return
		}
		document := mockbase.Document{Name: "a", Inline: file.Text, BasePath: "accept", Requests: "disabled", Responses: "disabled"}
		second := plane(t, &mockbase.Snapshot{Project: &mockbase.Project{
			ID: "prj_a", Slug: "a", Access: mockbase.AccessPublic, Revision: 1, Config: mockbase.Config{Documents: []mockbase.Document{document}},
		}})
		if second == nil {
			t.Fatalf("the engine refuses the document\n%s", file.Text)
		}
		for _, raw := range requests {
			want, got := answerOf(first, raw), answerOf(second, raw)
			// A document answers what no mock does in ways of its own: HEAD, OPTIONS, and requests without what it asks for.
			if want == noMatch || strings.HasPrefix(raw, "HEAD") || strings.HasPrefix(raw, "OPTIONS") || strings.Contains(raw, "Prefer") || strings.Contains(raw, "/other/b") {
				continue
			}
			if want != got {
				t.Errorf("%s\nanswers %s\nwanted  %s\n%s", raw, got, want, file.Text)
			}
			same.Add(1)
		}
	})
}

// validDocument validates a document as strangers do.
func validDocument(t *testing.T, text []byte) {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err == nil {
		err = document.Validate(t.Context())
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// M-163: a collection of Postman can be read by our own importer, and has a request for each mock that has a path.
func TestM163_a_Postman_collection_has_a_request_for_each_mock(t *testing.T) {
	t.Parallel()
	corpus(t, func(t *testing.T, d *mockbase.Definition, _ []string) {
		t.Helper()
		if len(d.Mocks) == 0 {
			return
		}
		file := exported(t, snapshotOf(t, d), interchange.ExportOptions{Format: interchange.FormatPostman, BaseURL: "http://127.0.0.1:8080/m/a"})
		back := importOf(t, string(file.Text), interchange.Options{})
		left := 0
		for _, m := range d.Mocks {
			if m.Disabled {
				left++
			}
		}
		for _, l := range file.Losses {
			if strings.HasSuffix(l.Detail, "the mock is left out") {
				left++
			}
		}
		if back.Format != interchange.FormatPostman || back.Found != len(d.Mocks)-left {
			t.Errorf("%s, %d requests of %d mocks\n%s", back.Format, back.Found, len(d.Mocks), file.Text)
		}
	})
}
