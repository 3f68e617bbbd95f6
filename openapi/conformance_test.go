package openapi_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/openapi"
)

// Rules W6, W25, W36 and W42: every operation of a document answers a valid request with a valid answer, in each of its
// media types, for each of its statuses, by examples and by drawn values, and takes each type of body. Other documents are held
// against it as arguments: go test ./openapi -run W42_every -args a.yaml b.json.
func TestW42_every_operation_answers_validly(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/documents/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no documents", err)
	}
	files = append(files, flag.Args()...)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			newConformance(t, text).all()
		})
	}
}

// conformance asks a served document about all of its operations.
type conformance struct {
	*testing.T

	document *openapi.Document
	judge    *judge
	base     string
	client   *http.Client
	asked    int
}

func newConformance(t *testing.T, text []byte) *conformance {
	t.Helper()
	d, err := openapi.Compile(&mockbase.Document{Name: "d", Inline: text, BasePath: "accept", Requests: "enforce"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Options{
		MaxBody: 10 << 20, MaxTarget: 64 << 10, BasePath: "/m",
		Describe: func(o *mockbase.Document) (engine.Description, error) { return openapi.Compile(o) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	s := &mockbase.Snapshot{Project: &mockbase.Project{
		ID: "prj_1", Slug: "d", Access: mockbase.AccessPublic, Revision: 1,
		Config: mockbase.Config{Documents: []mockbase.Document{{
			Name: "d", Inline: text, BasePath: "accept", Requests: "enforce", Responses: "warn",
		}}},
	}}
	if err := e.Publish(s); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	client := server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &conformance{T: t, document: d, judge: newJudge(t, text), base: server.URL + "/m/d", client: client}
}

func (c *conformance) all() {
	for op := range c.document.Operations() {
		for body := range max(1, c.document.Bodies(op)) {
			sample, err := c.document.Sample(op, body)
			if err != nil {
				c.Errorf("%s: %v", c.name(op), err)
				continue
			}
			c.operation(op, sample)
		}
	}
	c.Logf("%d operations, %d answers, %d of them examples that break their schema", c.document.Operations(), c.asked, c.judge.excused)
}

func (c *conformance) name(op int) string {
	method, path := c.document.Endpoint(op)
	return method + " " + path
}

// operation asks for the usual answer, and for every other one.
func (c *conformance) operation(op int, s *openapi.Sample) {
	_, path := c.document.Endpoint(op)
	c.ask(path, s, "", "")
	c.ask(path, s, "", "dynamic=true")
	for _, a := range s.Answers {
		code := a.Key
		if code == "default" {
			code = "599"
		}
		code = strings.ReplaceAll(code, "X", "0")
		if code[0] == '1' {
			continue // An interim answer is none that a client waits for.
		}
		types := a.Types
		if len(types) == 0 {
			types = []string{""}
		}
		for _, kind := range types {
			c.ask(path, s, kind, "code="+code)
			for _, seed := range []string{"a", "b", "c"} {
				c.ask(path, s, kind, "code="+code+", dynamic=true, seed="+seed)
			}
		}
	}
}

// ask sends one request and judges the answer.
func (c *conformance) ask(path string, s *openapi.Sample, accept, prefer string) {
	r, err := http.NewRequestWithContext(c.Context(), s.Method, c.base+s.Target, bytes.NewReader(s.Body))
	if err != nil {
		c.Errorf("%s %s: %v", s.Method, s.Target, err)
		return
	}
	r.Header = s.Header.Clone()
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	if prefer != "" {
		r.Header.Set("Prefer", prefer)
	}
	a, err := c.client.Do(r)
	if err != nil {
		c.Errorf("%s %s: %v", s.Method, s.Target, err)
		return
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		c.Errorf("%s %s: %v", s.Method, s.Target, err)
		return
	}
	c.asked++
	if err := c.judge.answer(&judged{path: path, method: s.Method, prefer: prefer, status: a.StatusCode, header: a.Header, body: body}); err != nil {
		c.Errorf("%s %s (Accept %q, Prefer %q) %s: %d %s\n%v\nbody sent: %.300q\nanswer: %.700s", s.Method, s.Target, accept, prefer,
			path, a.StatusCode, a.Header.Get("Content-Type"), err, s.Body, body)
	}
}

// judged is an answer that is judged.
type judged struct {
	path, method, prefer string
	status               int
	header               http.Header
	body                 []byte
}

// answer compares an answer with the document by a reading of its own.
func (j *judge) answer(a *judged) error {
	op := j.operation(a.path, a.method)
	if op == nil {
		return errors.New("the judge finds no operation")
	}
	if code, ok := strings.CutPrefix(a.prefer, "code="); ok {
		code, _, _ = strings.Cut(code, ",")
		if strconv.Itoa(a.status) != code {
			return errors.New("the status is not the one that was asked for")
		}
	}
	pointer, r := j.response(op, a.status)
	if r == nil {
		return errors.New("the status is not declared")
	}
	if err := j.headers(pointer, r, a.header); err != nil {
		return err
	}
	return j.content(pointer, r, a)
}

// response is the declared response of a status, with its pointer; nil if there is none.
func (j *judge) response(op *located, status int) (string, map[string]any) {
	all, _ := op.value["responses"].(map[string]any)
	text := strconv.Itoa(status)
	usual := status
	for _, key := range []string{text, text[:1] + "XX", text[:1] + "xx", "default"} {
		if raw, ok := all[key]; ok {
			at := j.resolve(op.at+"/responses/"+key, raw)
			if at == nil {
				return op.at, map[string]any{}
			}
			return at.at, at.value
		}
	}
	if declared := slices.ContainsFunc(sortedKeys(all), func(k string) bool { return !strings.HasPrefix(k, "x-") }); !declared && usual == http.StatusOK {
		return op.at, map[string]any{}
	}
	return "", nil
}

// headers looks at the declared headers of an answer.
func (j *judge) headers(at string, r map[string]any, sent http.Header) error {
	declared, _ := r["headers"].(map[string]any)
	for _, name := range sortedKeys(declared) {
		own := j.resolve(at+"/headers/"+name, declared[name])
		if own == nil || strings.EqualFold(name, "Content-Type") {
			continue
		}
		values := sent.Values(name)
		if len(values) == 0 {
			if own.value["required"] == true {
				return fmt.Errorf("the header %s is required and missing", name)
			}
			continue
		}
		if err := j.header(own, strings.Join(values, ", ")); err != nil {
			return fmt.Errorf("the header %s is %q: %w", name, values, err)
		}
	}
	return nil
}

// content looks at the type and the body of an answer.
func (j *judge) content(at string, r map[string]any, a *judged) error {
	content, place := j.contentOf(at, r)
	if len(content) == 0 || a.status == http.StatusNoContent || a.status == http.StatusNotModified || a.status == http.StatusResetContent || a.method == http.MethodHead {
		if len(content) == 0 && len(a.body) > 0 {
			return errors.New("there is a body, and none is declared")
		}
		return nil
	}
	sent := essence(a.header.Get("Content-Type"))
	key := ""
	for _, own := range sortedKeys(content) {
		if covers(essence(own), sent) && len(own) >= len(key) {
			key = own
		}
	}
	if key == "" {
		if _, plain := content[""]; !plain {
			return fmt.Errorf("the type %q is not declared: %v", sent, sortedKeys(content))
		}
	}
	media, _ := content[key].(map[string]any)
	j.media = key
	return j.body(place(key), media, sent, a)
}

func covers(declared, sent string) bool {
	kind, _, _ := strings.Cut(declared, "/")
	return declared == sent || declared == "*/*" || declared == "*" || strings.HasSuffix(declared, "/*") && strings.HasPrefix(sent, kind+"/")
}

func essence(text string) string {
	text, _, _ = strings.Cut(text, ";")
	return strings.ToLower(strings.TrimSpace(text))
}

// body judges a body by its schema.
func (j *judge) body(at string, media map[string]any, sent string, a *judged) error {
	_, schema := media["schema"]
	var value any
	switch {
	case sent == "application/json" || strings.HasSuffix(sent, "+json"):
		if len(a.body) == 0 && !schema {
			return nil
		}
		decoder := json.NewDecoder(bytes.NewReader(a.body))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			return fmt.Errorf("the body is no JSON: %w", err)
		}
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return errors.New("something follows the JSON")
		}
	case strings.HasSuffix(sent, "/xml") || strings.HasSuffix(sent, "+xml"):
		return wellFormed(a.body)
	case strings.HasPrefix(sent, "text/"):
		value = string(a.body)
		if !j.textual(media["schema"]) {
			return nil
		}
	default:
		return nil
	}
	if !schema {
		return nil
	}
	err := j.validate(at+"/schema", value)
	if err == nil {
		err = j.peerSays(a, j.media, value)
	}
	if err != nil && j.isExample(at, media, value) {
		j.excused++
		return nil
	}
	return err
}

// wellFormed tells whether a text is one XML document.
func wellFormed(text []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(text))
	roots, depth := 0, 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			if roots != 1 {
				return fmt.Errorf("the XML has %d roots", roots)
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("the body is no XML: %w", err)
		}
		switch token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
		case xml.EndElement:
			depth--
		}
	}
}
