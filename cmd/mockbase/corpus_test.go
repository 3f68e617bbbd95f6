package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mockbase/mockbase/internal/testkit"
)

// The cases in engine/testdata/server show rules that need more than the mock plane. Each has a project of its own on a
// server that all share, or, with options, a server of its own. They are archives of files that are steps, done in their
// order. The name of a file is a verb, which may have an argument behind a blank:
//
//	options        arguments of serve, one a line, for a server of its own; {dir} is a folder with the files of "file"
//	file NAME      a file in {dir}, written when its turn comes
//	definition     the project, as YAML; a second one is applied upon the first
//	request        a raw request; its line ends become CR LF, a missing Host is added and Content-Length: auto is worked out
//	call           the same by an administrator, with a JSON body unless it says otherwise
//	repeat N       the last request again, N times; the last answer counts
//	crowd N        raw requests, divided by lines of "---", each sent N times at the same time
//	counts         lines "N status" of what a crowd was answered, sorted
//	answer         as in engine/testdata/exchange, like contains, lacks, json, and keep and same of the whole body
//	keep NAME      the value at this JSON pointer of the body is what {NAME} is from now on; without a pointer the whole body
//	header NAME    the same with a header of this name
//	later          a JSON text that the answer must hold when the last request is sent again and again
//	wait D         nothing for the duration D
//	restart        the server ends and starts anew
//
// In all of them {slug} is the project's name, {base} the path of its mocks, {api} that of its management, {token} an
// administrator's access token, {addr} the server's address and {mock} that of its first listener.
func TestServerCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../engine/testdata/server/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	shared := &commonServer{t: t}
	for i, file := range files {
		area, name := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(area+"/"+name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := &serverCase{dir: t.TempDir(), vars: map[string]string{}, counts: map[string]int{}}
			c.vars["slug"] = fmt.Sprintf("case-%d", i)
			if !slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "options" }) {
				server, token := shared.get()
				c.join(t, server, token)
			}
			for _, f := range archive.Files {
				c.step(t, f.Name, string(f.Data))
			}
		})
	}
}

// commonServer is started by the first case that needs it.
type commonServer struct {
	t    *testing.T
	once sync.Once

	server *instance
	token  string
}

func (s *commonServer) get() (server *instance, token string) {
	s.once.Do(func() {
		dir := s.t.TempDir()
		s.server = start(s.t, "--data-dir="+dir, "--management-limit=disabled", "--engine-limit=disabled")
		s.token = firstToken(s.t, s.server, dir)
	})
	return s.server, s.token
}

// firstToken sets a server up and signs in.
func firstToken(t *testing.T, server *instance, dir string) string {
	t.Helper()
	c := newClient(t, server.managementURL())
	c.setUp(t, setupCodeIn(t, dir))
	c.logIn(t)
	return c.token
}

// managementURL is where the management plane is: beside the dashboard, which the server tells of.
func (i *instance) managementURL() string {
	for line := range strings.Lines(i.said.String()) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == "page" {
			return strings.TrimSuffix(words[1], "/")
		}
	}
	return i.URL
}

// serverCase is a case under way.
type serverCase struct {
	dir    string
	args   []string
	server *instance
	vars   map[string]string
	counts map[string]int

	last   string
	method string
	answer testkit.Message
}

var serverVerbs = map[string]func(c *serverCase, t *testing.T, argument, data string){
	"options":    (*serverCase).options,
	"file":       (*serverCase).file,
	"definition": (*serverCase).defineProject,
	"request":    (*serverCase).request,
	"call":       (*serverCase).call,
	"repeat":     (*serverCase).repeat,
	"crowd":      (*serverCase).crowd,
	"counts":     (*serverCase).counted,
	"answer":     (*serverCase).answered,
	"json":       (*serverCase).holds,
	"contains":   (*serverCase).contains,
	"lacks":      (*serverCase).lacks,
	"keep":       (*serverCase).keep,
	"header":     (*serverCase).keepHeader,
	"same":       (*serverCase).same,
	"later":      (*serverCase).later,
	"wait":       (*serverCase).wait,
	"restart":    (*serverCase).restart,
}

func (c *serverCase) defineProject(t *testing.T, _, data string) {
	t.Helper()
	c.call(t, "", "PUT {api}/definition HTTP/1.1\nContent-Type: application/yaml\n\n"+data)
	c.answer.Check(t, "200")
}

func (c *serverCase) answered(t *testing.T, _, data string) {
	t.Helper()
	c.answer.Check(t, data)
}

func (c *serverCase) holds(t *testing.T, _, data string) {
	t.Helper()
	testkit.HoldsJSON(t, data, []byte(c.answer.Body))
}

func (c *serverCase) contains(t *testing.T, _, data string) {
	t.Helper()
	for line := range strings.Lines(data) {
		if text := strings.TrimSuffix(line, "\n"); !strings.Contains(c.answer.Body, text) {
			t.Errorf("the body lacks %q:\n%s", text, c.answer.Body)
		}
	}
}

func (c *serverCase) lacks(t *testing.T, _, data string) {
	t.Helper()
	for line := range strings.Lines(data) {
		if text := strings.TrimSuffix(line, "\n"); strings.Contains(c.answer.Body, text) {
			t.Errorf("the body holds %q:\n%s", text, c.answer.Body)
		}
	}
}

func (c *serverCase) step(t *testing.T, name, data string) {
	t.Helper()
	verb, argument, _ := strings.Cut(name, " ")
	do := serverVerbs[verb]
	if do == nil {
		t.Fatalf("unknown file %q", name)
	}
	do(c, t, c.filled(argument), c.filled(data))
}

// filled puts what only the case knows into a text.
func (c *serverCase) filled(text string) string {
	for name, value := range c.vars {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// join makes the case a guest of a server, with a project of its own.
func (c *serverCase) join(t *testing.T, server *instance, token string) {
	t.Helper()
	c.server = server
	_, c.vars["addr"], _ = strings.Cut(server.managementURL(), "://")
	c.vars["mock"] = server.Addr
	c.vars["token"] = token
	c.vars["base"], c.vars["api"] = "/m/"+c.vars["slug"], "/api/v1/projects/"+c.vars["slug"]
	if token != "" {
		c.call(t, "", c.filled(`POST /api/v1/projects HTTP/1.1

{"slug": "{slug}", "name": "A case"}`))
		c.answer.Check(t, "201")
	}
}

func (c *serverCase) options(t *testing.T, _, data string) {
	t.Helper()
	c.args = strings.Fields(strings.ReplaceAll(data, "{dir}", c.dir))
	files := slices.ContainsFunc(c.args, func(a string) bool { return strings.HasPrefix(a, c.dir) })
	if files {
		// The administrator of a server whose mocks are files is of no use to it.
		c.server = start(t, c.args...)
		c.join(t, c.server, "")
		return
	}
	data = t.TempDir()
	c.args = append(c.args, "--data-dir="+data, "--management-limit=disabled")
	c.server = start(t, c.args...)
	c.join(t, c.server, firstToken(t, c.server, data))
}

func (c *serverCase) file(t *testing.T, name, data string) {
	t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// raw turns the text of a request into what goes over the wire.
func (c *serverCase) raw(text string) string {
	text = c.filled(text)
	head, body, _ := strings.Cut(text, "\n\n")
	head, body = strings.TrimSuffix(head, "\n"), strings.TrimSuffix(body, "\n")
	head = strings.Replace(head, "Content-Length: auto", "Content-Length: "+strconv.Itoa(len(body)), 1)
	if !strings.Contains(strings.ToLower(head), "\nhost:") {
		line, rest, _ := strings.Cut(head, "\n")
		head = strings.TrimSuffix(line+"\nHost: {addr}\n"+rest, "\n")
	}
	return c.filled(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body)
}

func (c *serverCase) send(t *testing.T, address, raw string) {
	t.Helper()
	c.method, _, _ = strings.Cut(raw, " ")
	got := testkit.RawHTTP(t, address, raw)
	c.last = raw
	c.answer = testkit.Message{First: got.StatusLine, Body: string(got.Body)}
	for _, l := range got.Lines {
		c.answer.Lines = append(c.answer.Lines, l.Name+": "+l.Value)
	}
}

func (c *serverCase) request(t *testing.T, _, text string) {
	t.Helper()
	raw := c.raw(text)
	c.send(t, c.addressOf(raw), raw)
}

func (c *serverCase) call(t *testing.T, _, text string) {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	head = strings.TrimSuffix(head, "\n") + "\nAuthorization: Bearer {token}"
	if body != "" {
		head += "\nContent-Length: auto"
		if !strings.Contains(head, "Content-Type:") {
			head += "\nContent-Type: application/json"
		}
	}
	c.send(t, c.vars["addr"], c.raw(head+"\n\n"+body))
}

func (c *serverCase) repeat(t *testing.T, argument, _ string) {
	t.Helper()
	n, err := strconv.Atoi(argument)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		c.send(t, c.addressOf(c.last), c.last)
	}
}

// addressOf is where a request belongs: the mock plane has the first listener.
func (c *serverCase) addressOf(raw string) string {
	if strings.Contains(raw, " /api/") {
		return c.vars["addr"]
	}
	return c.server.Addr
}

func (c *serverCase) crowd(t *testing.T, argument, text string) {
	t.Helper()
	n, err := strconv.Atoi(argument)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	clear(c.counts)
	for one := range strings.SplitSeq(text, "\n---\n") {
		raw := c.raw(one)
		for range n {
			all.Go(func() {
				status := strconv.Itoa(exchange(t, c.addressOf(raw), raw))
				mu.Lock()
				defer mu.Unlock()
				c.counts[status]++
			})
		}
	}
	all.Wait()
}

func (c *serverCase) counted(t *testing.T, _, data string) {
	t.Helper()
	got := make([]string, 0, len(c.counts))
	for status, n := range c.counts {
		got = append(got, fmt.Sprintf("%d %s", n, status))
	}
	slices.Sort(got)
	if diff := cmp.Diff(strings.Split(strings.TrimSuffix(data, "\n"), "\n"), got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func (c *serverCase) keep(t *testing.T, name, data string) {
	t.Helper()
	pointer := strings.TrimSpace(data)
	if pointer == "" {
		c.vars[name] = c.answer.Body
		return
	}
	var at any
	if err := json.Unmarshal([]byte(c.answer.Body), &at); err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch inner := at.(type) {
		case map[string]any:
			at = inner[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(inner) {
				t.Fatalf("no %s in %s", pointer, c.answer.Body)
			}
			at = inner[i]
		}
	}
	if at == nil {
		t.Fatalf("no %s in %s", pointer, c.answer.Body)
	}
	c.vars[name] = fmt.Sprint(at)
}

func (c *serverCase) keepHeader(t *testing.T, name, data string) {
	t.Helper()
	for _, line := range c.answer.Lines {
		if has, value, _ := strings.Cut(line, ": "); strings.EqualFold(has, strings.TrimSpace(data)) {
			c.vars[name] = value
			return
		}
	}
	t.Fatalf("no header %s in %q", data, c.answer.Lines)
}

func (c *serverCase) same(t *testing.T, name, _ string) {
	t.Helper()
	if c.answer.Body != c.vars[name] {
		t.Errorf("the body is %q, and was %q", c.answer.Body, c.vars[name])
	}
}

func (c *serverCase) later(t *testing.T, _, data string) {
	t.Helper()
	var last string
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(last)
		}
	})
	await(t, "an answer with "+data, func() bool {
		c.send(t, c.addressOf(c.last), c.last)
		last = c.answer.Body
		at, err := testkit.LackingJSON(data, []byte(c.answer.Body))
		return err == nil && at == ""
	})
}

func (*serverCase) wait(t *testing.T, argument, _ string) {
	t.Helper()
	d, err := time.ParseDuration(argument)
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(d)
}

func (c *serverCase) restart(t *testing.T, _, _ string) {
	t.Helper()
	c.server.stop(t)
	c.server = start(t, c.args...)
	_, c.vars["addr"], _ = strings.Cut(c.server.managementURL(), "://")
	c.vars["mock"] = c.server.Addr
}
