package engine_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/simlimit"
	"github.com/mockbase/mockbase/openapi"
)

// The cases in testdata/exchange are archives of these files:
//
//	options        one word or "name value" a line: shared-origin, sandbox-project, shield N (admit N requests),
//	               max-target N, max-body N, max-sessions N, loopback (may be called)
//	definition     the project, as YAML
//	refused        instead of the rest: lines "code pointer" of the faults that the definition must have
//	request        a raw request; its line ends become CR LF, {base} is the project's base path, a missing Host is added and
//	               Content-Length: auto is worked out
//	answer         the status line, or the status alone; then header lines that must be there as they stand, "! Name" for a
//	               header that must not, "~ regexp" for what some header line must match; then an empty line and the body
//	hints          header lines of the 103 before the last answer; trailers: the lines after its body, as they stand
//	file NAME      a file below the files root, before the definition
//	break          a raw request whose connection must end with the answer; everything is read
//	broken         eof or reset, as the connection ended; then the bytes that came, "~ regexp" for what they must match
//	clock          "advance 60s" or "reset" for the clock of the default session; reset: levels that it takes back
//	took           two durations that the last answer took at least and at most
//	contains       lines that the body of the last answer must hold, lacks: must not
//	json           a JSON text that the body must hold at least, exchange: the recorded exchange must, later: it must in the
//	               end
//
// Requests of a case go over one connection, which is opened again when the server closed it.
func TestExchanges(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/exchange/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.ToSlash(strings.TrimPrefix(file, "testdata/exchange/")), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			x := &exchangeCase{}
			x.unpublished = slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "refused" })
			x.breaks = slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "break" })
			for _, f := range archive.Files {
				x.step(t, f.Name, string(f.Data))
			}
		})
	}
}

// exchangeCase is a case under way.
type exchangeCase struct {
	options  engine.Options
	engine   *engine.Engine
	recorded recorder
	address  string
	conn     net.Conn
	reader   *bufio.Reader
	sent     int
	// unpublished tells that the definition is only checked, breaks that requests are sent whose exchanges are not counted.
	unpublished, breaks bool
	definition          string
	hints               []string
	trailers            []string
	took                time.Duration

	// The last answer.
	method string
	status string
	header []string
	body   string
}

func (x *exchangeCase) step(t *testing.T, name, data string) {
	t.Helper()
	switch name {
	case "options":
		for line := range strings.Lines(data) {
			x.option(t, strings.TrimSpace(line))
		}
	case "definition":
		x.start(t, data)
	case "refused":
		x.refused(t, data)
	case "request":
		x.send(t, data)
	case "answer":
		x.expect(t, data)
	case "hints":
		matchLines(t, data, x.hints)
	case "trailers":
		matchLines(t, data, x.trailers)
	case "break":
		x.breakOff(t, data)
	case "broken":
		x.broken(t, data)
	case "took":
		x.lasted(t, data)
	case "clock":
		x.changeClock(t, data)
	case "reset":
		var levels []mockbase.ResetLevel
		for level := range strings.FieldsSeq(data) {
			levels = append(levels, mockbase.ResetLevel(level))
		}
		if err := x.engine.Reset("prj_shop", "", levels); err != nil {
			t.Fatal(err)
		}
	case "contains":
		for line := range strings.Lines(data) {
			if text := strings.TrimSuffix(line, "\n"); !strings.Contains(x.body, text) {
				t.Errorf("the body lacks %q:\n%s", text, x.body)
			}
		}
	case "lacks":
		for line := range strings.Lines(data) {
			if text := strings.TrimSuffix(line, "\n"); strings.Contains(x.body, text) {
				t.Errorf("the body holds %q:\n%s", text, x.body)
			}
		}
	case "json":
		holdsJSON(t, data, []byte(x.body))
	case "exchange":
		// Exchanges have no JSON form of their own; the names of their fields serve here.
		var exchange any = x.recorded.last(t, x.sent)
		last, err := json.Marshal(exchange)
		if err != nil {
			t.Fatal(err)
		}
		holdsJSON(t, data, last)
	case "later":
		x.later(t, data)
	default:
		file, ok := strings.CutPrefix(name, "file ")
		if !ok {
			t.Fatalf("unknown file %q", name)
		}
		x.file(t, file, data)
	}
}

func (x *exchangeCase) option(t *testing.T, line string) {
	t.Helper()
	name, value, _ := strings.Cut(line, " ")
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil && value != "" {
		t.Fatal(err)
	}
	switch name {
	case "shared-origin":
		x.options.SharedOrigin = true
	case "sandbox-project":
		x.options.Sandbox = engine.SandboxProject
	case "shield":
		x.options.Shield = &countingShield{left: int(n)}
	case "loopback":
		x.options.Upstreams.Loopback = true
	case "max-sessions":
		x.options.MaxSessions = int(n)
	case "max-target":
		x.options.MaxTarget = n
	case "max-body":
		x.options.MaxBody = n
	default:
		t.Fatalf("unknown option %q", name)
	}
}

func (x *exchangeCase) start(t *testing.T, definition string) {
	t.Helper()
	if x.definition = definition; x.unpublished {
		return
	}
	x.options.Journal = &x.recorded
	e := newEngine(t, x.options)
	publishDefinition(t, e, definition)
	x.engine, x.address = e, serveEngine(t, e)
}

func (x *exchangeCase) refused(t *testing.T, data string) {
	t.Helper()
	var got strings.Builder
	for _, f := range faultsOf(t, newEngine(t, x.options), x.definition) {
		fmt.Fprintf(&got, "%s %s\n", f.Code, f.Pointer)
	}
	if diff := cmp.Diff(data, got.String()); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// wire turns the text of a request into what goes over the wire.
func wire(text string) []byte {
	head, body, _ := strings.Cut(text, "\n\n")
	head = strings.ReplaceAll(strings.TrimSuffix(head, "\n"), "{base}", "/m/shop")
	body = strings.TrimSuffix(body, "\n")
	head = strings.Replace(head, "Content-Length: auto", "Content-Length: "+strconv.Itoa(len(body)), 1)
	if !strings.Contains(strings.ToLower(head), "\nhost:") {
		line, rest, _ := strings.Cut(head, "\n")
		head = strings.TrimSuffix(line+"\nHost: mock.test\n"+rest, "\n")
	}
	if strings.Contains(head, "Transfer-Encoding: chunked") {
		body = strings.ReplaceAll(body+"\n", "\n", "\r\n")
	}
	return []byte(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body)
}

func (x *exchangeCase) send(t *testing.T, text string) {
	t.Helper()
	x.method, _, _ = strings.Cut(text, " ")
	request := wire(text)
	if strings.Contains(text, "{base}") {
		// Only what is asked of the project is recorded.
		x.sent++
		foretold := x.foretell(t, request)
		defer func() { x.agrees(t, foretold) }()
	}
	began := time.Now()
	defer func() { x.took = time.Since(began) }()
	for range 2 {
		if x.conn == nil {
			x.dial(t)
		}
		if _, err := x.conn.Write(request); err == nil && x.read() == nil {
			return
		}
		// The server has closed the connection after the last answer.
		x.conn.Close()
		x.conn = nil
	}
	t.Fatalf("no answer to %q", request)
}

func (x *exchangeCase) dial(t *testing.T) {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", x.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	x.conn, x.reader = conn, bufio.NewReader(conn)
}

// read reads one answer.
func (x *exchangeCase) read() error {
	x.status, x.header, x.body, x.hints, x.trailers = "", nil, "", nil, nil
	for {
		line, err := x.reader.ReadString('\n')
		if err != nil {
			return err
		}
		line = strings.TrimSuffix(line, "\r\n")
		switch {
		case line == "" && strings.HasPrefix(x.status, "HTTP/1.1 1"):
			x.status, x.header, x.hints = "", nil, x.header
		case line == "":
			return x.readBody()
		case x.status == "":
			x.status = line
		default:
			x.header = append(x.header, line)
		}
	}
}

func (x *exchangeCase) readBody() error {
	var body []byte
	var err error
	code := strings.Fields(x.status)[1]
	length := x.headerValue("Content-Length")
	switch {
	case x.method == http.MethodHead || code == "204" || code == "304":
	case x.headerValue("Transfer-Encoding") == "chunked":
		if body, err = io.ReadAll(httputil.NewChunkedReader(x.reader)); err == nil {
			err = x.readTrailers()
		}
	case length != "":
		n, convErr := strconv.Atoi(length)
		if convErr != nil {
			return convErr
		}
		body = make([]byte, n)
		_, err = io.ReadFull(x.reader, body)
	default:
		body, err = io.ReadAll(x.reader)
	}
	x.body = string(body)
	return err
}

// readTrailers reads what follows the last chunk.
func (x *exchangeCase) readTrailers() error {
	for {
		line, err := x.reader.ReadString('\n')
		if line = strings.TrimSuffix(line, "\r\n"); err != nil || line == "" {
			return err
		}
		x.trailers = append(x.trailers, line)
	}
}

func (x *exchangeCase) headerValue(name string) string {
	for _, line := range x.header {
		if n, value, _ := strings.Cut(line, ": "); strings.EqualFold(n, name) {
			return value
		}
	}
	return ""
}

func (x *exchangeCase) expect(t *testing.T, data string) {
	t.Helper()
	head, body, hasBody := strings.Cut(data, "\n\n")
	lines := strings.Split(strings.TrimSuffix(head, "\n"), "\n")
	if x.status != lines[0] && !strings.HasPrefix(x.status, "HTTP/1.1 "+lines[0]+" ") {
		t.Errorf("status %q, want %q\n%s\n%s", x.status, lines[0], strings.Join(x.header, "\n"), x.body)
	}
	for _, line := range lines[1:] {
		x.expectHeader(t, line)
	}
	if hasBody && x.body != strings.TrimSuffix(body, "\n") {
		t.Errorf("body %q, want %q", x.body, strings.TrimSuffix(body, "\n"))
	}
}

func (x *exchangeCase) expectHeader(t *testing.T, line string) {
	t.Helper()
	var matches func(have string) bool
	unwanted := false
	switch {
	case strings.HasPrefix(line, "! "):
		unwanted = true
		matches = func(have string) bool {
			name, _, _ := strings.Cut(have, ":")
			return strings.EqualFold(name, line[2:])
		}
	case strings.HasPrefix(line, "~ "):
		matches = regexp.MustCompile(line[2:]).MatchString
	default:
		matches = func(have string) bool { return have == line }
	}
	if slices.ContainsFunc(x.header, matches) == unwanted {
		t.Errorf("header line %q: unwanted or missing in\n%s", line, strings.Join(x.header, "\n"))
	}
}

// holdsJSON tells whether got holds at least what want says.
func holdsJSON(t *testing.T, want string, got []byte) {
	t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	if at := lacking(w, g, "#"); at != "" {
		var indented bytes.Buffer
		_ = json.Indent(&indented, got, "", " ")
		t.Errorf("at %s, want %s in\n%s", at, want, indented.Bytes())
	}
}

// lacking returns the place of something that want has and got has not.
func lacking(want, got any, at string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return at
		}
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if _, ok := g[name]; !ok {
				return at + "/" + name
			}
			if place := lacking(w[name], g[name], at+"/"+name); place != "" {
				return place
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return at
		}
		for i := range w {
			if place := lacking(w[i], g[i], at+"/"+strconv.Itoa(i)); place != "" {
				return place
			}
		}
		return ""
	default:
		if !cmp.Equal(want, got) {
			return at
		}
		return ""
	}
}

func newEngine(tb testing.TB, o engine.Options) *engine.Engine {
	tb.Helper()
	o.Describe = func(d *mockbase.Document) (engine.Description, error) { return openapi.Compile(d) }
	if o.Limits == nil {
		o.Limits = newKeeper(tb, simlimit.Options{Clock: o.Clock})
	}
	e, err := engine.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { e.Close() })
	return e
}

// faultsOf returns what is wrong with a definition, by the decoder and the engine.
func faultsOf(tb testing.TB, e *engine.Engine, definition string) []mockbase.FieldError {
	tb.Helper()
	d, err := mockbase.DecodeDefinition([]byte(definition), mockbase.FormatYAML)
	if invalid, ok := errors.AsType[*mockbase.Error](err); ok {
		return invalid.Fields
	}
	if err != nil {
		tb.Fatal(err)
	}
	return checkDefinition(e, d)
}

func checkDefinition(e *engine.Engine, d *mockbase.Definition) []mockbase.FieldError {
	fields := e.CheckConfig(&d.Config)
	for i, m := range d.Mocks {
		for _, f := range e.CheckMock(&d.Config, m) {
			f.Pointer = fmt.Sprintf("#/mocks/%d%s", i, f.Pointer[1:])
			fields = append(fields, f)
		}
	}
	return fields
}

// publishDefinition publishes a definition as the project shop.
func publishDefinition(tb testing.TB, e *engine.Engine, definition string) {
	tb.Helper()
	d, err := mockbase.DecodeDefinition([]byte(definition), mockbase.FormatYAML)
	if err != nil {
		tb.Fatal(err)
	}
	if faults := checkDefinition(e, d); len(faults) > 0 {
		tb.Fatal(faults)
	}
	for i, m := range d.Mocks {
		m.ID, m.Version = fmt.Sprintf("mck_%d", i), 1
	}
	s := &mockbase.Snapshot{
		Project: &mockbase.Project{ID: "prj_shop", Slug: "shop", Access: mockbase.AccessPublic, Config: d.Config, Revision: 1},
		Mocks:   d.Mocks,
	}
	if err := e.Publish(s); err != nil {
		tb.Fatal(err)
	}
}

// serveEngine serves over a real socket and returns its address.
func serveEngine(tb testing.TB, h http.Handler) string {
	tb.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, DisableGeneralOptionsHandler: true,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	tb.Cleanup(func() {
		server.Close()
		<-done
	})
	return listener.Addr().String()
}
